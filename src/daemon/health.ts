import type { Health } from "../dashboard/dashboard.ts";
import type { StatusReport } from "../sync/status.ts";

/** A document that is ready and is not taken up for this long means that work has stopped. */
const STALLED_MS = 15 * 60_000;

/**
 * Healthy means that work is moving, not that the process is up: the oldest document that is ready
 * is taken up in time, others are (`movedAt`: when an attempt last ended), or there is a reason that
 * sending waits for.
 */
export function healthOf(
  status: StatusReport,
  oldestReadyAt: number | null,
  movedAt: number,
  now: number,
): Health {
  if (status.paused) return { healthy: true, ready: true, why: "paused" };
  if (status.gate) return { healthy: true, ready: true, why: `waiting: ${status.gate.code}` };
  const { waits } = status.sending;
  if (waits) return { healthy: true, ready: true, why: `waiting: ${waits.why}` };
  const waitedMs = oldestReadyAt === null ? 0 : now - Math.max(oldestReadyAt, movedAt);
  if (waitedMs > STALLED_MS) {
    const minutes = Math.floor(waitedMs / 60_000);
    return {
      healthy: false,
      ready: true,
      why: `documents are ready, and none was sent for ${minutes} minutes`,
    };
  }
  return { healthy: true, ready: true, why: "ok" };
}
