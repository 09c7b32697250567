import type { Cluster } from "../journal/cluster.ts";
import { isAbortOf } from "../std/abort.ts";
import { type Clock, type HostClock, untilIn } from "../std/clock.ts";
import type { RpcChannel } from "./rpc-channel.ts";
import type { ReaderCalls } from "./protocol.ts";

/** How often in a lease a reader is renewed: sooner than leases are renewed. */
const OUTBOX_ENTRIES = 12;

/** Tells reader processes until when they may send; nothing where that has no end. */
export class SendTime {
  readonly #cluster: Pick<Cluster, "leaseMs" | "sendLeftMs"> | undefined;
  readonly #host: HostClock | undefined;

  /** `host`: the host's own clocks unless a test brings others. */
  constructor(cluster: Pick<Cluster, "leaseMs" | "sendLeftMs"> | undefined, host?: HostClock) {
    this.#cluster = cluster?.leaseMs === Number.POSITIVE_INFINITY ? undefined : cluster;
    this.#host = host;
  }

  tell(line: RpcChannel<ReaderCalls>): void {
    const cluster = this.#cluster;
    if (!cluster) return;
    const until = untilIn(() => cluster.sendLeftMs, this.#host);
    line.call("mayHandOver", until).catch(() => {}); // a process that is gone sends nothing
  }

  /** Tells it again and again, as long as it is up and `signal` does not abort. */
  async keepOutboxEntry(
    { line, isUp }: { readonly line: RpcChannel<ReaderCalls>; readonly isUp: () => boolean },
    clock: Clock,
    signal: AbortSignal,
  ): Promise<void> {
    if (!this.#cluster) return;
    try {
      while (isUp()) {
        this.tell(line);
        await clock.sleep(this.#cluster.leaseMs / OUTBOX_ENTRIES, signal);
      }
    } catch (error) {
      if (!isAbortOf(signal, error)) throw error;
    }
  }
}
