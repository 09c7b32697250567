import { PassThrough, type Readable } from "node:stream";
import { isAbortOf, Stopping } from "../std/abort.ts";
import { Wakeup } from "../std/wakeup.ts";
import type { Clock } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import type { DashboardOptions } from "./options.ts";
import { Refusal } from "./refusal.ts";

/** Pages that are kept up to date at a time. */
const PAGES_MAX = 20;
/** At most one push in this time, however much is journaled. */
const PUSH_GAP_MS = 500;
/** A push comes at least this often: a line that died is noticed, and health is shown. */
const PUSH_EVERY_MS = 15_000;
/** A question to a journal that is just going away is answered when it is back: nobody waits for that. */
const ANSWER_MS_MAX = 10_000;
/** So often a page gets a sign of life: it notices within 5 s that the daemon does not answer. */
const ALIVE_EVERY_MS = 2_000;
/** How far uploads are is pushed four times a second at most. */
const MOVED_GAP_MS = 250;
/** How long a browser waits before it connects again. */
const RECONNECT_MS = 3_000;

/**
 * Keeps open pages up to date by server-sent events. Each push is the whole snapshot, so that a
 * push that is missed costs nothing; a page that does not keep up is cut off and comes back.
 */
export class Live {
  readonly #snapshot: () => Promise<object>;
  readonly #uploads: DashboardOptions["uploads"];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #pages = new Set<PassThrough>();
  readonly #wakeup = new Wakeup();
  /** An upload moved. */
  readonly #moved = new Wakeup();
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;

  /** `snapshot` is asked again for every push. */
  constructor(
    snapshot: () => Promise<object>,
    uploads: DashboardOptions["uploads"],
    clock: Clock,
    log: Log,
  ) {
    this.#snapshot = snapshot;
    this.#uploads = uploads;
    this.#clock = clock;
    this.#log = log;
    const ignore = uploads?.changed.add(() => this.#moved.notify());
    const loops = [
      this.#untilStop((stopping) => this.#run(stopping)),
      this.#untilStop((stopping) => this.#beat(stopping)),
      this.#untilStop((stopping) => this.#watch(stopping)),
    ];
    this.#running = Promise.all(loops).finally(ignore);
  }

  /** The stream of one page, which gets a snapshot soon. Throws a `Refusal` when it is one too many. */
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

  async #untilStop(step: (stopping: AbortSignal) => Promise<void>): Promise<void> {
    const stopping = this.#stop.signal;
    try {
      for (;;) await step(stopping);
    } catch (error) {
      if (!isAbortOf(stopping, error)) throw error;
    }
  }

  async #run(stopping: AbortSignal): Promise<void> {
    await this.#wakeup.wait(PUSH_EVERY_MS, this.#clock, stopping);
    if (this.#pages.size > 0) this.#write(await this.#event(stopping));
    await this.#clock.sleep(PUSH_GAP_MS, stopping);
  }

  /** Next to the pushes: a journal that takes long to answer is no daemon that is gone. */
  async #beat(stopping: AbortSignal): Promise<void> {
    await this.#clock.sleep(ALIVE_EVERY_MS, stopping);
    this.#write(eventOf("alive", {}));
  }

  /** How far uploads are, of which the journal knows nothing. */
  async #watch(stopping: AbortSignal): Promise<void> {
    await this.#moved.wait(PUSH_EVERY_MS, this.#clock, stopping);
    if (this.#uploads && this.#pages.size > 0)
      this.#write(eventOf("uploads", this.#uploads.read()));
    await this.#clock.sleep(MOVED_GAP_MS, stopping);
  }

  #write(event: string): void {
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
      return eventOf("status", snapshot);
    } catch (error) {
      stopping.throwIfAborted();
      // That the journal is away is logged on its own.
      if (!(error instanceof Refusal))
        this.#log.warn({ error: messageOf(error) }, "cannot update the page");
      return eventOf("problem", { message: messageOf(error) });
    } finally {
      answered.abort();
    }
  }
}

function eventOf(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
