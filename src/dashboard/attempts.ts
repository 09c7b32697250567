/** Wrong tokens: counted for each network, said in the log, and slowed where they are many. */
import type { Clock } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import { networkOf } from "../std/web-caller.ts";

/** More than a person mistypes. */
const FREE_PER_MINUTE = 10;
const MINUTE_MS = 60_000;
/** What every further token of that network waits for. */
const DELAY_MS = 1_000;
/** Networks that are remembered; of more than these the oldest is forgotten. */
const NETWORKS_MAX = 1_000;

type Failures = { count: number; readonly since: number };

export class Attempts {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Before a token from this address is looked at. Cookies and what needs no token do not come here. */
  async turn(address: string): Promise<void> {
    const { count = 0 } = this.#recent(networkOf(address)) ?? {};
    if (count >= FREE_PER_MINUTE) await this.#clock.sleep(DELAY_MS, new AbortController().signal);
  }

  /** The token was wrong. The first of a minute and the one from which on it is slow are logged. */
  failed(address: string): void {
    const network = networkOf(address);
    const failures = this.#recent(network) ?? { count: 0, since: this.#clock.monotonic() };
    failures.count += 1;
    this.#failures.set(network, failures);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > NETWORKS_MAX && oldest !== undefined) this.#failures.delete(oldest);
    const { count } = failures;
    const wrong = { code: "TOKEN_WRONG", from: address };
    if (count === 1) this.#log.warn(wrong, "the page got a wrong token");
    if (count === FREE_PER_MINUTE)
      this.#log.warn(
        { ...wrong, times: count },
        "the page got many wrong tokens within a minute: answers to this network are slowed down",
      );
  }

  #recent(network: string): Failures | undefined {
    const failures = this.#failures.get(network);
    if (failures === undefined) return undefined;
    if (this.#clock.monotonic() - failures.since < MINUTE_MS) return failures;
    this.#failures.delete(network);
    return undefined;
  }
}
