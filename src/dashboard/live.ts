import { PassThrough, type Readable } from "node:stream";
import { isAbortOf, Stopping } from "../std/abort.ts";
import { Wakeup } from "../std/wakeup.ts";
import type { Clock } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { Refusal } from "./refusal.ts";

/** Pages that are kept up to date at a time. */
const PAGES_MAX = 20;
/** At most one push in this time, however much is journaled. */
const PUSH_GAP_MS = 500;
/** A push comes at least this often: a line that died is noticed, and health is shown. */
const PUSH_EVERY_MS = 15_000;
/** A question to a journal that is just going away is answered when it is back: nobody waits for that. */
const ANSWER_MS_MAX = 10_000;
/** How long a browser waits before it connects again. */
const RECONNECT_MS = 3_000;

/**
 * Keeps open pages up to date by server-sent events. Each push is the whole snapshot, so that a
 * push that is missed costs nothing; a page that does not keep up is cut off and comes back.
 */
export class Live {
  readonly #snapshot: () => Promise<object>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #pages = new Set<PassThrough>();
  readonly #wakeup = new Wakeup();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  /** `snapshot` is asked again for every push. */
  constructor(snapshot: () => Promise<object>, clock: Clock, log: Log) {
    this.#snapshot = snapshot;
    this.#clock = clock;
    this.#log = log;
    this.#running = this.#run(this.#stop.signal);
  }

  /** The stream of one page, beginning with a snapshot. Throws a `Refusal` when it is one too many. */
  join(): Readable {
    if (this.#pages.size >= PAGES_MAX)
      throw new Refusal(
        503,
        "TOO_MANY_PAGES",
        `${PAGES_MAX} pages are kept up to date already`,
        "Close some of them; the page asks for the status automatically meanwhile.",
      );
    const page = new PassThrough();
    this.#pages.add(page);
    page.on("close", () => this.#pages.delete(page));
    // The line to a browser breaks whenever it likes; the stream closes, and that is all.
    page.on("error", () => undefined);
    page.write(`retry: ${RECONNECT_MS}\n\n`);
    this.notify();
    return page;
  }

  /** Something changed: push soon. */
  notify(): void {
    this.#wakeup.notify();
  }

  /** Ends every stream. */
  async close(): Promise<void> {
    this.#stop.abort(new Stopping());
    await this.#running;
    for (const page of this.#pages) page.destroy();
  }

  async #run(stopping: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await this.#wakeup.wait(PUSH_EVERY_MS, this.#clock, stopping);
        if (this.#pages.size > 0) await this.#push(stopping);
        await this.#clock.sleep(PUSH_GAP_MS, stopping);
      }
    } catch (error) {
      if (!isAbortOf(stopping, error)) throw error;
    }
  }

  async #push(stopping: AbortSignal): Promise<void> {
    const event = await this.#event(stopping);
    for (const page of this.#pages) {
      if (page.writableNeedDrain) page.destroy();
      else page.write(event);
    }
  }

  async #event(stopping: AbortSignal): Promise<string> {
    const answered = new AbortController();
    const tooLong = this.#clock
      .sleep(ANSWER_MS_MAX, AbortSignal.any([stopping, answered.signal]))
      .then(() => Promise.reject(new Error(`no answer within ${ANSWER_MS_MAX / 1_000} s`)));
    try {
      const snapshot = await Promise.race([this.#snapshot(), tooLong]);
      return `event: status\ndata: ${JSON.stringify(snapshot)}\n\n`;
    } catch (error) {
      stopping.throwIfAborted();
      // That the journal is away is logged on its own.
      if (!(error instanceof Refusal))
        this.#log.warn({ error: messageOf(error) }, "cannot update the page");
      return `event: problem\ndata: ${JSON.stringify({ message: messageOf(error) })}\n\n`;
    } finally {
      answered.abort();
    }
  }
}
