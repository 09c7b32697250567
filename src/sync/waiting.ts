/** Why nothing new is sent, apart from a person's pause and the account's gate. */
import type { Config } from "../config/config.ts";
import { opensAt } from "../domain/hours.ts";
import type { Journal, PaceRow } from "../journal/journal.ts";

/**
 * - `hours`: outside of `upload.hours`.
 * - `asked`: the archive asked for a pause (Retry-After).
 * - `conversion`: `conversion.maxOutstanding` documents are not CONVERTED yet.
 * - `allowance`: all that is ready needs more pages than are left (`quota.monthlyPages`).
 */
export type WaitReason = {
  readonly why: "hours" | "asked" | "conversion" | "allowance";
  readonly message: string;
  /** Epoch ms; null: until something else happens. */
  readonly until: number | null;
};

/** The part of the configuration that says when to wait. */
export type WaitingConfig = Pick<Config, "upload" | "conversion">;

/** What sending waits for at `now`; null when nothing keeps it. */
export async function waitingOf(
  journal: Journal,
  config: WaitingConfig,
  now: number,
): Promise<WaitReason | null> {
  return (
    outsideHours(config, now) ??
    asked(await journal.pace(), now) ??
    atCeiling(config, await roomOf(journal, config, now))
  );
}

/** Null within the hours. */
export function outsideHours({ upload }: WaitingConfig, now: number): WaitReason | null {
  const until = opensAt(upload.hours, now);
  const message = "outside of the hours for sending (`upload.hours`)";
  return until === null ? null : { why: "hours", message, until };
}

/** Null when the archive asked for no pause, or it is over; a clock that was set back lengthens none. */
export function asked({ pausedAt, pausedUntil, problem }: PaceRow, now: number): WaitReason | null {
  if (pausedAt === null || pausedUntil === null) return null;
  const leftMs = Math.min(pausedUntil - now, pausedUntil - pausedAt);
  if (leftMs <= 0) return null;
  const said = problem === null ? "" : `: ${problem.message}`;
  return { why: "asked", message: `the archive asked for a pause${said}`, until: now + leftMs };
}

/** How many more documents may be sent before the ceiling; any number without one. */
export async function roomOf(
  journal: Journal,
  { conversion: { outstandingMax } }: WaitingConfig,
  now: number,
): Promise<number> {
  if (outstandingMax === undefined) return Number.POSITIVE_INFINITY;
  const folders = await journal.outstanding(now);
  return outstandingMax - folders.reduce((sum, { documents }) => sum + documents, 0);
}

function atCeiling({ conversion }: WaitingConfig, room: number): WaitReason | null {
  if (room > 0) return null;
  const message = `${conversion.outstandingMax} documents or more are not CONVERTED yet (\`conversion.maxOutstanding\`)`;
  return { why: "conversion", message, until: null };
}
