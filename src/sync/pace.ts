/**
 * The pace of sending: how many uploads at a time, and whether a new one may begin at all. What the
 * archive asked for is journaled, so that a restart does not fall upon it.
 */
import { type Concurrency, accepted, concurrencyOf, pressed } from "../domain/concurrency.ts";
import type { Problem } from "../domain/document.ts";
import type { Outcome, RequestFailure } from "../domain/outcome.ts";
import type { ArchiveJournal, PaceRow, Sharing, WorkQueue } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import { numberText } from "../std/wording.ts";
import type { Config } from "../config/config.ts";
import { opensAt } from "../domain/calendar.ts";
import { isShared } from "./ownership.ts";
import { type PagesRead, readSoFar } from "./reading-note.ts";

type Parts = {
  readonly journal: ArchiveJournal & Sharing;
  readonly config: WaitingConfig;
  readonly clock: Clock;
  readonly log: Log;
};

/** How long the archive is left alone at most, whatever it asks for. */
const PAUSE_MS_MAX = 86_400_000;

/** Clocks that are read one after the other differ by less. */
const PAUSE_SLACK_MS = 50;

export class Pace {
  readonly #parts: Parts;
  #concurrency: Concurrency;
  #row: PaceRow;
  #written: PaceRow;
  /** Until when the archive asked to be left alone, by the monotonic clock: the wall's may be set. */
  #askedUntil: number;
  /** What was last found out about the hours, good until then. */
  #hours: { readonly from: number; readonly to: number; readonly waiting: WaitReason | null };

  private constructor(parts: Parts, row: PaceRow) {
    this.#parts = parts;
    this.#row = row;
    this.#written = row;
    const { concurrency } = parts.config.upload;
    this.#concurrency = concurrencyOf(Math.min(row.limit ?? concurrency, concurrency));
    this.#hours = { from: 0, to: 0, waiting: null };
    const now = parts.clock.now();
    this.#askedUntil = parts.clock.monotonic() + ((asked(row, now)?.until ?? now) - now);
  }

  /** Takes up a pause that the archive has asked another daemon for. */
  async reread(): Promise<void> {
    const { journal, clock } = this.#parts;
    const row = await journal.pace();
    const now = clock.now();
    const leftMs = (asked(row, now)?.until ?? now) - now;
    if (leftMs <= this.pauseMs + PAUSE_SLACK_MS) return;
    const { pausedAt, pausedUntil, problem } = row;
    this.#askedUntil = clock.monotonic() + leftMs;
    this.#row = { ...this.#row, pausedAt, pausedUntil, problem };
  }

  /** Reads what the last run journaled. */
  static async open(parts: Parts): Promise<Pace> {
    return new Pace(parts, await parts.journal.pace());
  }

  /** Uploads at the same time, just now. */
  get limit(): number {
    return this.#concurrency.limit;
  }

  /** Milliseconds for which the archive asked to be left alone; 0 when it did not. */
  get pauseMs(): number {
    return Math.max(0, this.#askedUntil - this.#parts.clock.monotonic());
  }

  /** Milliseconds until a new upload may begin, by the hours and by what the archive asked for. */
  get waitMs(): number {
    const now = this.#parts.clock.now();
    return Math.max(this.pauseMs, (this.#hoursAt(now)?.until ?? now) - now);
  }

  /** How many more documents may be sent before `conversion.maxOutstanding`. */
  room(underWay: number): Promise<number> {
    const { journal, config, clock } = this.#parts;
    return roomOf(journal, config, clock.now()).then((room) => room - underWay);
  }

  /** Learns what came of a request that was begun at `begunAt` (monotonic ms) of the archive's load. */
  async learn(outcome: Outcome, begunAt: number): Promise<void> {
    if (outcome.kind === "accepted") await this.#accepted(begunAt);
    if ("pressed" in outcome && outcome.pressed) await this.#pressed(outcome, begunAt);
  }

  async #pressed({ retryAfterMs, problem }: RequestFailure, begunAt: number): Promise<void> {
    const { clock, log } = this.#parts;
    const was = this.limit;
    this.#concurrency = pressed(this.#concurrency, begunAt, clock.monotonic());
    if (this.limit < was) {
      log.warn(
        { code: problem.code, concurrency: this.limit },
        `fewer uploads at a time: ${problem.message}`,
      );
    }
    if (retryAfterMs) this.#pause(Math.min(retryAfterMs, PAUSE_MS_MAX), problem);
    await this.#journaled();
  }

  async #accepted(begunAt: number): Promise<void> {
    const { concurrency } = this.#parts.config.upload;
    this.#concurrency = accepted(this.#concurrency, begunAt, concurrency);
    await this.#journaled();
  }

  #pause(ms: number, problem: Problem): void {
    const { clock, log } = this.#parts;
    if (ms <= this.pauseMs) return;
    const now = clock.now();
    this.#askedUntil = clock.monotonic() + ms;
    this.#row = { ...this.#row, pausedAt: now, pausedUntil: now + ms, problem };
    log.warn(
      { code: problem.code, waitMs: ms },
      `the archive asked for a pause: ${problem.message}`,
    );
  }

  /** Writes what has changed; null stands for as many as the configuration says. */
  async #journaled(): Promise<void> {
    const { journal, config } = this.#parts;
    const limit = this.limit < config.upload.concurrency ? this.limit : null;
    if (this.#row.limit !== limit) this.#row = { ...this.#row, limit };
    if (this.#row === this.#written) return;
    // What another daemon was asked for must not be lost below what this one writes.
    if (isShared(journal.cluster)) await this.reread();
    this.#written = this.#row;
    await journal.setPace(this.#row);
  }

  /** Looked up once a window: that takes a millisecond, and a sender asks often. */
  #hoursAt(now: number): WaitReason | null {
    if (now < this.#hours.from || now >= this.#hours.to) {
      const waiting = outsideHours(this.#parts.config, now);
      const minute = 60_000 - (now % 60_000);
      this.#hours = { from: now, to: waiting?.until ?? now + minute, waiting };
    }
    return this.#hours.waiting;
  }
}

/**
 * - `hours`: outside of `upload.hours`.
 * - `asked`: the archive asked for a pause (Retry-After).
 * - `conversion`: `conversion.maxOutstanding` documents are not CONVERTED yet.
 * - `allowance`: all that is ready needs more pages than are left (`quota.monthlyPages`).
 * - `reading`: the list of all documents of a large archive is read first.
 */
export type WaitReason = {
  readonly why: "hours" | "asked" | "conversion" | "allowance" | "reading";
  readonly message: string;
  /** Epoch ms; null: until something else happens. */
  readonly until: number | null;
};

/** The part of the configuration that says when to wait. */
export type WaitingConfig = Pick<Config, "upload" | "conversion">;

/** What sending waits for at `now`; null when nothing keeps it. */
export async function waitingOf(
  journal: ArchiveJournal,
  config: WaitingConfig,
  now: number,
): Promise<WaitReason | null> {
  return (
    outsideHours(config, now) ??
    asked(await journal.pace(), now) ??
    atCeiling(config, await roomOf(journal, config, now)) ??
    reading(await readSoFar(journal, now))
  );
}

function reading(read: PagesRead | null): WaitReason | null {
  if (read === null) return null;
  const { page, of } = read;
  const message = `the list of all documents in the archive is read first (page ${numberText(page)} of ${numberText(of)})`;
  return { why: "reading", message, until: null };
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
  journal: WorkQueue,
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
