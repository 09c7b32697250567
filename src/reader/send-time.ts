import type { Crew } from "../journal/crew.ts";
import { isAbortOf } from "../std/abort.ts";
import type { Clock } from "../std/clock.ts";
import { type HostClock, untilIn } from "../std/time-left.ts";
import type { Line } from "./line.ts";
import type { ReaderCalls } from "./protocol.ts";

/** How often in a lease a reader is told: sooner than leases are renewed. */
const TELLINGS = 12;

/** Tells reader processes until when they may send; nothing where that has no end. */
export class SendTime {
  readonly #crew: Pick<Crew, "leaseMs" | "sendLeftMs"> | undefined;
  readonly #host: HostClock | undefined;

  /** `host`: the host's own clocks unless a test brings others. */
  constructor(crew: Pick<Crew, "leaseMs" | "sendLeftMs"> | undefined, host?: HostClock) {
    this.#crew = crew?.leaseMs === Number.POSITIVE_INFINITY ? undefined : crew;
    this.#host = host;
  }

  tell(line: Line<ReaderCalls>): void {
    const crew = this.#crew;
    if (!crew) return;
    const until = untilIn(() => crew.sendLeftMs, this.#host);
    line.call("mayHandOver", until).catch(() => {}); // a process that is gone sends nothing
  }

  /** Tells it again and again, as long as it is up and `signal` does not abort. */
  async keepTelling(
    { line, isUp }: { readonly line: Line<ReaderCalls>; readonly isUp: () => boolean },
    clock: Clock,
    signal: AbortSignal,
  ): Promise<void> {
    if (!this.#crew) return;
    try {
      while (isUp()) {
        this.tell(line);
        await clock.sleep(this.#crew.leaseMs / TELLINGS, signal);
      }
    } catch (error) {
      if (!isAbortOf(signal, error)) throw error;
    }
  }
}
