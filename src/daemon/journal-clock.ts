import type { Crew } from "../journal/crew.ts";
import { type Clock, sleepOn } from "../std/clock.ts";
import { isShared } from "../sync/duties.ts";

/**
 * The clock that all daemons of a crew go by. Between two measurements of how far the journal's is
 * ahead it follows the host's monotonic clock, so that setting the host's clock is not seen at all.
 */
export function journalClock(host: Clock, crew: Crew): Clock {
  if (!isShared(crew)) return host;
  let offsetMs = Number.NaN;
  /** The journal's time minus the monotonic one. */
  let aheadMs = 0;
  const clock: Clock = {
    now() {
      const measured = crew.clockOffsetMs;
      if (measured !== offsetMs) {
        offsetMs = measured;
        aheadMs = host.now() + measured - host.monotonic();
      }
      return Math.round(host.monotonic() + aheadMs);
    },
    monotonic: () => host.monotonic(),
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    alarm: (ms, ring) => host.alarm(ms, ring),
  };
  return clock;
}
