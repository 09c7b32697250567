/** What readers tell and ask the daemon. */
import type { DaemonCalls } from "../reader/protocol.ts";
import type { SyncContext } from "./context.ts";
import type { Intake } from "./intake.ts";
import type { ScanScheduler } from "./scan-scheduler.ts";

/** Of what they find only what this daemon leads is taken in. */
export function readerCalls(
  { log, uploads, ownership }: SyncContext<unknown>,
  {
    intake,
    scanSchedulers,
    allowance,
    told,
  }: Pick<DaemonCalls, "allowance"> & {
    readonly intake: Intake;
    readonly scanSchedulers: ReadonlyMap<number, ScanScheduler>;
    readonly told: DaemonCalls["status"];
  },
): DaemonCalls {
  return {
    listing: async (mirrorId, listing) =>
      ownership.owns(mirrorId) && (await intake.listing(mirrorId, listing)),
    hint: async (mirrorId, files) => {
      if (ownership.owns(mirrorId)) await intake.hint(mirrorId, files);
    },
    vanished: async (mirrorId, dirs) => {
      if (ownership.owns(mirrorId)) await intake.vanished(mirrorId, dirs);
    },
    allowance,
    sent: async (id, bytes) => uploads?.sent(id, bytes),
    doubt: async (mirrorId, why, isProblem) => {
      const scanScheduler = scanSchedulers.get(mirrorId);
      // Fixed by the scan; what goes on without events is a person's to fix.
      const message = `events may be missing: ${why}`;
      log[isProblem ? "warn" : "info"]({ mirror: scanScheduler?.mirror.row.name }, message);
      scanScheduler?.request(why);
    },
    status: told,
  };
}
