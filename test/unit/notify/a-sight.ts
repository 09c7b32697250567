import type { Sight } from "../../../src/notify/alerts.ts";
import type { Situation } from "../../../src/report/finding.ts";
import { findingsOf } from "../../../src/report/findings.ts";
import { archiveWith, aSituation, gateFor, some } from "../report/situations.ts";

/** What the daemon sees of a situation; all is well unless it says otherwise. */
export function aSight(situation: Situation = aSituation(), unlooked: string[] = []): Sight {
  const { report, problems } = situation;
  return { report, problems, findings: findingsOf(situation), unlooked };
}

/** The gate of an archive is closed for this code. */
export function closedFor(code: string, name = "main"): Situation {
  return aSituation({
    ...some({ held: 7 }),
    archives: [archiveWith({ gate: gateFor(code) }, name)],
  });
}
