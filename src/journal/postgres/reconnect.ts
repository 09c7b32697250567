/**
 * Patience while the database is away: whatever fails for that reason is tried again, less and less
 * often, until it succeeds or the session ends. Tells once that it is away, and once that it is back.
 */
import type { Clock } from "../../std/clock.ts";
import type { ClusterChange } from "../cluster.ts";
import { isAway, whyOf } from "./postgres-fault.ts";

/** Between two tries, milliseconds: from the one, doubling, to the other. */
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 5_000;

/** A command, for which a person waits, waits for so long, milliseconds. */
const COMMAND_MS = 20_000;

export class Absence {
  readonly #clock: Clock;
  readonly #isCommand: boolean;
  readonly #tell: (change: ClusterChange) => void;
  /** What cannot be done at the moment: reading may go on while writing does not. */
  readonly #away = new Set<string>();

  constructor(clock: Clock, isCommand: boolean, tell: (change: ClusterChange) => void) {
    this.#clock = clock;
    this.#isCommand = isCommand;
    this.#tell = tell;
  }

  get isAway(): boolean {
    return this.#away.size > 0;
  }

  /**
   * Repeats `attempt` while the database is away; rejects with anything else, and with the last
   * reason once `ending` aborts, or a command is patient no longer. A first failure is not told: to replace a connection may be all
   * it takes.
   */
  async persist<T>(what: string, ending: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    const since = this.#clock.monotonic();
    for (let tries = 0; ; tries++) {
      try {
        const value = await attempt();
        this.#back(what);
        return value;
      } catch (error) {
        if (!isAway(error)) this.#back(what);
        const isOver = this.#isCommand && this.#clock.monotonic() - since >= COMMAND_MS;
        if (!isAway(error) || ending.aborted || isOver) throw error;
        if (tries > 0) {
          this.leave(what, whyOf(error));
          const waitMs = Math.min(RETRY_MS_MIN * 2 ** (tries - 1), RETRY_MS_MAX);
          // Woken at the end for a last try.
          await this.#clock.sleep(waitMs, ending).catch(() => undefined);
        }
      }
    }
  }

  /** It cannot be done; told as `persist` tells it, until `persist` next succeeds at the same. */
  leave(what: string, why: string): void {
    const first = this.#away.size === 0;
    this.#away.add(what);
    if (first) this.#tell({ type: "away", why });
  }

  #back(what: string): void {
    if (this.#away.delete(what) && this.#away.size === 0) this.#tell({ type: "back" });
  }
}
