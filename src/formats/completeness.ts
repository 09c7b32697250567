import { type ContentGap, wordsOf, type ZeroRuns } from "./gaps.ts";
import type { RandomAccess } from "./random-access.ts";

/** `unfinished`: its own format says that something is missing; `unknown`: its format cannot say. */
export type Completeness = "complete" | "unfinished" | "unknown";

/** What was found of a file; of an unfinished one also what is missing, in words that are shown to people. */
export type Judgement =
  | { readonly completeness: "complete" | "unknown" }
  | { readonly completeness: "unfinished"; readonly why: string };

/** A file whose format is known. */
export type Judged = {
  readonly file: RandomAccess;
  /** Its first 4 KiB, or the whole of a smaller one. */
  readonly head: Buffer;
} & ZeroRuns;

export const COMPLETE: Judgement = { completeness: "complete" };
export const UNKNOWN: Judgement = { completeness: "unknown" };

export function unfinished(why: string): Judgement {
  return { completeness: "unfinished", why };
}

/** More zeros at the end than padding makes. */
const ZERO_BYTES = 4096;

/** Unfinished where the file ends in zeros: copy programs set all space aside first, which reads so until the data come. */
export async function judgeEnd(file: RandomAccess): Promise<Judgement> {
  const from = Math.max(0, file.size - ZERO_BYTES);
  const tail = await file.read(from, file.size - from);
  return isZeros(tail)
    ? unfinished("it ends in zeros: space set aside, but not written yet")
    : UNKNOWN;
}

/** What is of no known format may be meant to begin or to end so, but not to be nothing else. */
export function isZeros(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

/** What is said of a file with this gap where its format has none. */
export function notWritten(gap: ContentGap): Judgement {
  return unfinished(wordsOf(gap));
}
