import type { Cluster } from "../journal/cluster.ts";
import { type Clock, sleepOn } from "../std/clock.ts";
import { isShared } from "../sync/ownership.ts";

/**
 * The clock that all daemons of a cluster go by. Between two measurements of how far the journal's is
 * ahead it follows the host's monotonic clock, so that setting the host's clock is not seen at all.
 */
export function journalClock(host: Clock, cluster: Cluster): Clock {
  if (!isShared(cluster)) return host;
  let offsetMs = Number.NaN;
  /** The journal's time minus the monotonic one. */
  let aheadMs = 0;
  const clock: Clock = {
    now() {
      const measured = cluster.clockOffsetMs;
      if (measured !== offsetMs) {
        offsetMs = measured;
        aheadMs = host.now() + measured - host.monotonic();
      }
      return Math.round(host.monotonic() + aheadMs);
    },
    monotonic: () => host.monotonic(),
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    alarm: (ms, notify) => host.alarm(ms, notify),
  };
  return clock;
}
