import type { Completeness } from "../formats/completeness.ts";
import { type Gap, skippedSince } from "./clock-gaps.ts";
import type { Seen, Trouble } from "./document.ts";

/** How long a file has been as it is, and how long it must be. Milliseconds. */
export type Quiet = {
  readonly now: number;
  /** When it was last seen to change. */
  readonly changedAt: number;
  readonly settleMs: number;
  readonly incompleteMs: number;
  /** How old its modification must be; absent: 0. */
  readonly minAgeMs?: number;
  /** What our clock skipped while we ran: what was before lies less far back than it seems. */
  readonly skipped?: readonly Gap[];
};

/** How large a file may be to be sent. */
export type SizeBounds = { readonly minBytes: number; readonly maxBytes: number };

/** Why a file of this size is not sent; undefined when it may be. An empty one tells of itself. */
export function unfitSize(
  { sizeBytes }: Seen,
  { minBytes, maxBytes }: SizeBounds,
): Trouble | undefined {
  const found = `the file has ${sizeBytes} bytes`;
  if (sizeBytes > maxBytes) {
    return { code: "FILE_TOO_LARGE", message: `${found}, ${maxBytes} are allowed` };
  }
  if (sizeBytes >= minBytes || sizeBytes === 0) return undefined;
  return { code: "FILE_TOO_SMALL", message: `${found}, ${minBytes} are asked for` };
}

/** Whether a file may go now, or not before `dueAt` (epoch ms); an empty one never does. */
export type Ripeness =
  | { readonly kind: "ripe"; readonly remark: string | null }
  | { readonly kind: "wait"; readonly dueAt: number; readonly trouble: Trouble }
  | { readonly kind: "empty"; readonly trouble: Trouble };

/**
 * Whether a file that has been quiet for `settle` may be sent. One that looks unfinished by its
 * own format must have been quiet for `incomplete`, by its mtime, so that an old broken file goes
 * at once; it is then sent with a remark, because some files are broken for good. So must one whose format
 * says nothing and whose mtime is a copy program's word for what it has not finished.
 */
export function ripeness(seen: Seen, completeness: Completeness, quiet: Quiet): Ripeness {
  // An mtime that says nothing leaves what was observed.
  const isStandIn = standsIn(seen.modifiedAt);
  const isSaid = seen.modifiedAt <= quiet.now && !isStandIn;
  const said = isSaid ? Math.min(quiet.changedAt, seen.modifiedAt) : quiet.changedAt;
  // Set back since, the clock is before that moment.
  const since = Math.min(said, quiet.now);
  const quietMs = Math.max(0, quiet.now - since - skippedSince(since, quiet.skipped ?? []));
  const youngMs = (quiet.minAgeMs ?? 0) - quietMs;
  if (youngMs > 0) {
    const trouble = { code: "FILE_YOUNG", message: "is not as old as `minAge` asks" };
    return { kind: "wait", dueAt: quiet.now + youngMs, trouble };
  }
  if (completeness === "complete" || (completeness === "unknown" && !isStandIn))
    return { kind: "ripe", remark: null };
  const looks = completeness === "unfinished" ? BY_FORMAT : BY_TIME;
  const leftMs = quiet.incompleteMs - quietMs;
  if (leftMs > 0) {
    const trouble = { code: "FILE_UNFINISHED", message: looks };
    return {
      kind: "wait",
      dueAt: quiet.now + Math.min(leftMs, Math.max(quiet.settleMs, 1_000) * 20),
      trouble,
    };
  }
  if (seen.sizeBytes === 0) {
    return { kind: "empty", trouble: { code: "FILE_EMPTY", message: "the file has no content" } };
  }
  return { kind: "ripe", remark: `${looks}, but has been quiet for long` };
}

const BY_FORMAT = "looks unfinished by its format";
const BY_TIME = "looks unfinished by its time, which copy programs leave behind";

/** The days around the first of 1980, wherever its midnight is. */
const STAND_IN = { from: Date.UTC(1979, 11, 30), to: Date.UTC(1980, 0, 4) } as const;

/** What copy programs leave on a file that they have not finished: rsync 1970, robocopy 1980. */
function standsIn(modifiedAt: number): boolean {
  return modifiedAt <= 0 || (modifiedAt >= STAND_IN.from && modifiedAt < STAND_IN.to);
}
