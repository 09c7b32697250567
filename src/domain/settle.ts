import type { Completeness } from "../formats/completeness.ts";
import { type ClockGap, skippedSince } from "./clock-gaps.ts";
import { ANYWAY_CODES } from "./code-sets.ts";
import type { Document, Seen, Problem } from "./document.ts";

/** How long a file has been as it is, and how long it must be. Milliseconds. */
export type Quiet = {
  readonly now: number;
  /** When it was last seen to change. */
  readonly changedAt: number;
  readonly settleMs: number;
  readonly incompleteMs: number;
  /** What becomes of a file that is unfinished by its format when `incomplete` is over. */
  readonly stillIncomplete: "hold" | "upload";
  /** A person asked that it be sent as it is. */
  readonly anyway?: boolean;
  /** How old its modification must be; absent: 0. */
  readonly minAgeMs?: number;
  /** What our clock skipped while we ran: what was before lies less far back than it seems. */
  readonly skipped?: readonly ClockGap[];
};

/** A file that grows is waited for no longer than this many times `settle`. */
const GROWTH_MAX = 3;

/**
 * How long a file has to be quiet, milliseconds: `settle` where it came whole. One that was seen to grow may be written with
 * pauses, which are no longer than the time in which it grew: it has to be quiet for as much longer, within bounds.
 */
export function quietMsOf(
  { firstSeenAt, changedAt }: Pick<Document, "firstSeenAt" | "changedAt">,
  settleMs: number,
): number {
  const grewMs = Math.max(0, changedAt - firstSeenAt);
  return settleMs + Math.min(grewMs, (GROWTH_MAX - 1) * settleMs);
}

/** How large a file may be to be sent. */
export type SizeBounds = { readonly minBytes: number; readonly maxBytes: number };

/** Why a file of this size is not sent; undefined when it may be. An empty one has its own reason. */
export function unfitSize(
  { sizeBytes }: Seen,
  { minBytes, maxBytes }: SizeBounds,
): Problem | undefined {
  const found = `the file has ${sizeBytes} bytes`;
  if (sizeBytes > maxBytes) {
    return { code: "FILE_TOO_LARGE", message: `${found}, ${maxBytes} are allowed` };
  }
  if (sizeBytes >= minBytes || sizeBytes === 0) return undefined;
  return { code: "FILE_TOO_SMALL", message: `${found}, ${minBytes} are asked for` };
}

/** Whether a file may go now, or not before `dueAt` (epoch ms); or waits for a person. */
export type Ripeness =
  | { readonly kind: "ripe"; readonly remark: string | null }
  | { readonly kind: "wait"; readonly dueAt: number; readonly problem: Problem }
  | { readonly kind: "held"; readonly problem: Problem };

/**
 * The remark of a file that is sent although it is unfinished by its format, as a person asked. Its row has
 * it from the moment in which that was asked: it is the permission, and is gone with the content it was for.
 */
export const ANYWAY = "sent although it is unfinished by its format, as was asked for";

/** A person asked that this content be sent as it is. */
export function isAskedFor({ remark }: Pick<Document, "remark">): boolean {
  return remark === ANYWAY;
}

/** Codes of what is not sent because it looks unfinished: it may become whole, or is held for a person. */
export const UNFINISHED_CODES: readonly string[] = ["FILE_UNFINISHED", ...ANYWAY_CODES];

/**
 * Whether a file that has been quiet for `settle` may be sent. One that is unfinished by its own format has
 * until it was quiet for `incomplete`, by its mtime, to become whole; then it is held, or, where that was
 * asked for, sent with a remark. One whose format says nothing and whose mtime is a copy program's word for
 * what it has not finished waits as long and is then sent with a remark: devices without a clock date so, too.
 */
export function ripeness(
  seen: Seen,
  completeness: Completeness,
  quiet: Quiet,
  why?: string,
): Ripeness {
  // An mtime that says nothing leaves what was observed.
  const isStandIn = standsIn(seen.modifiedAt);
  const isSaid = seen.modifiedAt <= quiet.now && !isStandIn;
  const said = isSaid ? Math.min(quiet.changedAt, seen.modifiedAt) : quiet.changedAt;
  // Set back since, the clock is before that moment.
  const since = Math.min(said, quiet.now);
  const quietMs = Math.max(0, quiet.now - since - skippedSince(since, quiet.skipped ?? []));
  const youngMs = (quiet.minAgeMs ?? 0) - quietMs;
  if (youngMs > 0) {
    const problem = { code: "FILE_YOUNG", message: "is not as old as `minAge` asks" };
    return { kind: "wait", dueAt: quiet.now + youngMs, problem };
  }
  if (completeness === "complete" || (completeness === "unknown" && !isStandIn))
    return { kind: "ripe", remark: null };
  const isEmpty = seen.sizeBytes === 0;
  if (quiet.anyway && !isEmpty) return { kind: "ripe", remark: ANYWAY };
  const byFormat = why === undefined ? BY_FORMAT : `looks unfinished: ${why}`;
  const looks = completeness === "unfinished" ? byFormat : BY_TIME;
  const leftMs = quiet.incompleteMs - quietMs;
  if (leftMs > 0) {
    const problem = { code: "FILE_UNFINISHED", message: looks };
    return {
      kind: "wait",
      dueAt: quiet.now + Math.min(leftMs, Math.max(quiet.settleMs, 1_000) * 20),
      problem,
    };
  }
  if (isEmpty) {
    return { kind: "held", problem: { code: "FILE_EMPTY", message: "the file has no content" } };
  }
  if (completeness === "unfinished" && quiet.stillIncomplete === "hold") {
    const message = `${looks}, and has not changed for longer than \`incomplete\``;
    return { kind: "held", problem: { code: "FILE_INCOMPLETE", message } };
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
