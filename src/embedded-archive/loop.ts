import { setImmediate } from "node:timers/promises";
import type { Clock } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import { Wakeup } from "../std/wakeup.ts";

/** The wall clock may be set: no rest is longer than this. */
const REST_MS_MAX = 60_000;

export type LoopParts = {
  readonly clock: Clock;
  readonly log: (event: Record<string, unknown>) => void;
};

/** Takes one step after another until it is stopped. */
export abstract class Loop<Parts extends LoopParts> {
  protected readonly parts: Parts;
  /** The rest after a step that failed. */
  protected abstract readonly retryMs: number;
  readonly #wakeup = new Wakeup();
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Resolves with how long to rest before the next one, in milliseconds. */
  protected abstract step(): number | Promise<number>;

  /** Aborted once no more step is to begin. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Goes on with what the last run left; call it once. */
  start(): void {
    this.#running = this.#run();
  }

  /** Ends a rest: there may be something to do, or something due earlier than what is waited for. */
  poke(): void {
    this.#wakeup.notify();
  }

  /** Resolves once the step under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the embedded archive is closing"));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.parts;
    while (!this.stopping.aborted) {
      const restMs = Math.min(await this.#step(), REST_MS_MAX);
      if (restMs <= 0) await setImmediate();
      // Rejects when it is stopped.
      else await this.#wakeup.wait(restMs, clock, this.stopping).catch(() => undefined);
    }
  }

  async #step(): Promise<number> {
    try {
      return await this.step();
    } catch (error) {
      this.parts.log({ event: "fault", why: messageOf(error) });
      return this.retryMs;
    }
  }
}
