import { setImmediate } from "node:timers/promises";
import type { Clock } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import { Wakeup } from "../std/wakeup.ts";

/** The wall clock may be set: no rest is longer than this. */
const REST_MS_MAX = 60_000;

export type LoopParts = {
  readonly clock: Clock;
  readonly log: (event: Record<string, unknown>) => void;
  /** Aborted once no more step is to begin. */
  readonly closing: AbortSignal;
};

/** Takes one step after another until the archive closes. */
export abstract class Loop<Parts extends LoopParts> {
  protected readonly parts: Parts;
  /** The rest after a step that failed. */
  protected abstract readonly retryMs: number;
  readonly #wakeup = new Wakeup();
  /** Resolves once the step that was under way when the archive closed has ended. */
  ended: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Resolves with how long to rest before the next one, in milliseconds. */
  protected abstract step(): Promise<number>;

  /** Goes on with what the last run left; call it once. */
  start(): void {
    this.ended = this.#run();
  }

  /** Ends a rest: there may be something to do, or something due earlier than what is waited for. */
  poke(): void {
    this.#wakeup.notify();
  }

  async #run(): Promise<void> {
    const { clock, log, closing } = this.parts;
    while (!closing.aborted) {
      const restMs = await this.step().catch((error: unknown) => {
        log({ event: "fault", why: messageOf(error) });
        return this.retryMs;
      });
      if (restMs <= 0) await setImmediate();
      // Rejects when the archive closes.
      else await this.#wakeup.wait(Math.min(restMs, REST_MS_MAX), clock, closing).catch(() => {});
    }
  }
}
