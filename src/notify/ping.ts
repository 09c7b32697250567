import type { PingConfig } from "../config/notify-section.ts";
import { messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";

/**
 * A dead man's switch: a service elsewhere expects the call, and raises the alarm when it does not
 * come. One call at a time; what fails is logged once, until it works again.
 */
export class Ping {
  readonly #config: PingConfig;
  readonly #timeoutMs: number;
  readonly #log: Log;
  #isUnderWay = false;
  #hasFailed = false;

  constructor(config: PingConfig, timeoutMs: number, log: Log) {
    this.#config = config;
    this.#timeoutMs = timeoutMs;
    this.#log = log;
  }

  /** Calls, unless the last call is still under way. Never rejects. */
  async call(stopping: AbortSignal): Promise<void> {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    const { url, method, network = {} } = this.#config;
    try {
      const { call } = await import("./webhook-channel.ts");
      await call(
        url,
        { method },
        network,
        AbortSignal.any([stopping, AbortSignal.timeout(this.#timeoutMs)]),
      );
      if (this.#hasFailed) this.#log.info({}, "the ping works again");
      this.#hasFailed = false;
    } catch (error) {
      if (stopping.aborted) return;
      if (!this.#hasFailed) this.#log.warn({ reason: messageOf(error) }, "cannot send the ping");
      this.#hasFailed = true;
    } finally {
      this.#isUnderWay = false;
    }
  }
}
