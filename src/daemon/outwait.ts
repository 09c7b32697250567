/**
 * Waits until the journal can be had: its disk is full or read-only, or another program holds it.
 * Nothing is sent meanwhile, and everyone who asks gets the reason.
 */
import type { Config } from "../config/config.ts";
import { backoffMs } from "../domain/backoff.ts";
import { isPassing } from "../journal/journal-fault.ts";
import { isAbortOf } from "../std/abort.ts";
import { type Clock, systemRandom } from "../std/clock.ts";
import { withoutFix } from "../report/finding-text.ts";
import { journalFinding } from "../report/findings.ts";
import { codeOf, Fault, messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { DaemonJournal } from "./daemon-journal.ts";
import type { Notifier } from "./notifier.ts";

const RETRY = { initialMs: 1_000, maxMs: 30_000 };

/** What is waited with; `signal` ends the wait, and the patience of what was opened. */
type Wait = { readonly config: Config; readonly log: Log; readonly signal: AbortSignal };

/** True where a journal cannot be used for now: it is waited for here, or in PostgreSQL by its session. */
export function isUnusable(error: unknown): boolean {
  return isPassing(error) || codeOf(error) === "JOURNAL_UNREACHABLE";
}

export class Outwait {
  readonly #clock: Clock;
  readonly #notifier: Notifier;
  #fault: Fault | undefined;

  constructor(clock: Clock, notifier: Notifier) {
    this.#clock = clock;
    this.#notifier = notifier;
  }

  /** What is waited for just now. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** One line of it, for the service manager. */
  get line(): string | undefined {
    if (!this.#fault) return undefined;
    return journalFinding(this.#fault)
      .map((finding) => withoutFix(finding, this.#clock.now()))
      .join("");
  }

  /**
   * The journal, opened, once it can be; undefined when `signal` aborted. `first` is what it was met
   * with. Rejects with what does not pass.
   */
  async wait(first: Fault, wait: Wait): Promise<DaemonJournal | undefined> {
    const clock = this.#clock;
    const { log, signal } = wait;
    try {
      this.#turnTo(first, log);
      await using _page = await pageOf(wait, clock, () => this.#fault ?? first);
      for (let tries = 1; ; tries++) {
        await clock.sleep(backoffMs(RETRY, tries, systemRandom), signal);
        const journal = await this.#opened(wait);
        if (journal) return journal;
      }
    } catch (error) {
      if (isAbortOf(signal, error)) return undefined;
      throw error;
    } finally {
      this.#fault = undefined;
    }
  }

  async #opened({ config, log, signal: patience }: Wait): Promise<DaemonJournal | undefined> {
    try {
      const journal = await DaemonJournal.open({ config, log, clock: this.#clock, patience });
      log.info({}, "the journal can be used again");
      return journal;
    } catch (error) {
      if (!isPassing(error)) throw error;
      this.#turnTo(error, log);
      return undefined;
    }
  }

  #turnTo(fault: Fault, log: Log): void {
    const isNews = fault.code !== this.#fault?.code;
    this.#fault = fault;
    if (!isNews) return;
    const { code, message: why, hint } = fault;
    log.warn({ code, why, hint }, "waiting for the journal");
    // It is up: no start that takes too long.
    void this.#notifier.tell("READY=1", `STATUS=${this.line}`);
  }
}

/** Answers in the page's place, where that can listen. */
async function pageOf(
  { config, log }: Wait,
  clock: Clock,
  fault: () => Fault,
): Promise<AsyncDisposable | undefined> {
  if (!config.web) return undefined;
  const { host, port, ...protection } = config.web;
  const { openWaitingPage } = await import("../dashboard/waiting-page.ts");
  try {
    return await openWaitingPage({ listen: { host, port }, ...protection, fault, log, clock });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    log.warn({ reason: messageOf(error) }, "the page cannot listen");
    return undefined;
  }
}
