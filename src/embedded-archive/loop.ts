import { setImmediate } from "node:timers/promises";
import type { Clock } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import { Wakeup } from "../std/wakeup.ts";

/** The wall clock may be set: no rest is longer than this. */
const REST_MS_MAX = 60_000;

export type LoopParts = {
  /** Resolves with how long to rest before the next one, in milliseconds. */
  step: () => number | Promise<number>;
  /** The rest after a step that failed. */
  retryMs: number;
  clock: Clock;
  log: (event: Record<string, unknown>) => void;
};

/** Takes one step after another until it is stopped. */
export class Loop {
  readonly #parts: LoopParts;
  readonly #wakeup = new Wakeup();
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  /** Aborted once no more step is to begin. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Ends a rest: there may be something to do. */
  poke(): void {
    this.#wakeup.notify();
  }

  /** Resolves once the step under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the embedded archive is closing"));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    while (!this.stopping.aborted) {
      const restMs = Math.min(await this.#step(), REST_MS_MAX);
      if (restMs <= 0) await setImmediate();
      // Rejects when it is stopped.
      else await this.#wakeup.wait(restMs, clock, this.stopping).catch(() => undefined);
    }
  }

  async #step(): Promise<number> {
    const { step, retryMs, log } = this.#parts;
    try {
      return await step();
    } catch (error) {
      log({ event: "fault", why: messageOf(error) });
      return retryMs;
    }
  }
}
