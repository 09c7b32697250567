import { backoffMs } from "../domain/backoff.ts";
import type { Problem } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import type { SyncContext } from "./context.ts";

/** The archive cannot be reached: how often it was tried in a row, until when (monotonic ms), what was said. */
export type Outage = { readonly tries: number; readonly until: number; readonly problem: Problem };

/** A try that is due takes no longer to fail: two minutes, twice `archive.timeout` where that is more. */
const TRY_MS_MIN = 120_000;
const TRY_TIMEOUTS = 2;

/** Whether an outage is known to go on: where nothing has to be sent or asked, nothing is tried. */
export function isKnown(
  outage: Outage | undefined,
  { clock, config: { archive } }: Pick<SyncContext<unknown>, "clock" | "config">,
): boolean {
  // It answers, and is another.
  if (outage?.problem.code === "ARCHIVE_CHANGED") return false;
  const tryMs = Math.max(TRY_MS_MIN, TRY_TIMEOUTS * (archive?.timeoutMs ?? 0));
  return outage !== undefined && clock.monotonic() < outage.until + tryMs;
}

/** Replies lost in a row before sending slows down. */
const LOST_MAX = 5;

/** What says nothing about the archive, or the way there: the file's, our own, or a reader's that died with its uploads. */
const OURS: readonly string[] = ["FILE_STALLED", "LEASE_OVER", "REPLY_LOST"];

/** How soon it is tried again at the latest, and how loudly an outage is reported. */
type OutagePolicy = { readonly waitMsMax: number; readonly level: "warn" | "debug" };

/** What a loop knows of the way to the archive: one outage at a time, of which the first failure is reported. */
export class Outages {
  readonly #context: SyncContext<unknown>;
  readonly #policy: OutagePolicy;
  #current: Outage | undefined;
  #lostInARow = 0;

  constructor(
    context: SyncContext<unknown>,
    policy: OutagePolicy = { waitMsMax: Number.POSITIVE_INFINITY, level: "warn" },
  ) {
    this.#context = context;
    this.#policy = policy;
  }

  /** Until it is over nothing is tried, and then one document at a time. */
  get current(): Outage | undefined {
    return this.#current;
  }

  /** Milliseconds until the archive is tried again; 0 when it may be. */
  get waitMs(): number {
    return Math.max(0, (this.#current?.until ?? 0) - this.#context.clock.monotonic());
  }

  /** The archive answered, whatever it said. */
  answered(): void {
    this.#lostInARow = 0;
  }

  /** The archive takes documents, or says why not. */
  over(): void {
    this.#current = undefined;
  }

  /** A reply was lost. A proxy that answers for an archive which is away must not be fed everything. */
  lost(problem: Problem): void {
    if (OURS.includes(problem.code)) return;
    this.#lostInARow += 1;
    if (this.#lostInARow >= LOST_MAX) this.met(problem, 0);
  }

  /** It could not be reached; it is tried again after a backoff, and no sooner than `waitMsMin`. */
  met(problem: Problem, waitMsMin: number): void {
    if (OURS.includes(problem.code)) return;
    const { clock, config, random, log } = this.#context;
    const now = clock.monotonic();
    if (this.#current && now < this.#current.until) {
      const until = Math.max(this.#current.until, now + waitMsMin);
      this.#current = { ...this.#current, until };
      return;
    }
    const tries = (this.#current?.tries ?? 0) + 1;
    const { waitMsMax } = this.#policy;
    const level = tries === 1 ? this.#policy.level : "debug";
    const ownMs = Math.min(waitMsMax, backoffMs(config.upload.retry, tries, random));
    const waitMs = Math.max(ownMs, waitMsMin);
    this.#current = { tries, until: now + waitMs, problem };
    const hint = failureOf(problem.code).hint;
    log[level]({ code: problem.code, tries, waitMs }, `${problem.message}. ${hint}`);
  }
}
