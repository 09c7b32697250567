/** What readers tell and ask the daemon. */
import type { DaemonCalls } from "../reader/protocol.ts";
import type { SyncContext } from "./context.ts";
import { ALL_DUTIES } from "./duties.ts";
import type { Intake } from "./intake.ts";
import type { Survey } from "./survey.ts";

/** Of what they find only what this daemon leads is taken in. */
export function readerCalls(
  { log, duties = ALL_DUTIES }: SyncContext,
  {
    intake,
    surveys,
    allowance,
    told,
  }: Pick<DaemonCalls, "allowance"> & {
    readonly intake: Intake;
    readonly surveys: ReadonlyMap<number, Survey>;
    readonly told: DaemonCalls["status"];
  },
): DaemonCalls {
  return {
    listing: async (mirrorId, listing) =>
      duties.leads(mirrorId) && (await intake.listing(mirrorId, listing)),
    hint: async (mirrorId, files) => {
      if (duties.leads(mirrorId)) await intake.hint(mirrorId, files);
    },
    vanished: async (mirrorId, dirs) => {
      if (duties.leads(mirrorId)) await intake.vanished(mirrorId, dirs);
    },
    allowance,
    doubt: async (mirrorId, why, isTrouble) => {
      const survey = surveys.get(mirrorId);
      // Mended by the scan; what goes on without events is a person's to mend.
      const message = `events may be missing: ${why}`;
      log[isTrouble ? "warn" : "info"]({ mirror: survey?.mirror.row.name }, message);
      survey?.request(why);
    },
    status: told,
  };
}
