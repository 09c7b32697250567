import type { State } from "../domain/document.ts";
import type { Finding, FindingKind } from "./finding.ts";
import { MOVING } from "./finding.ts";
import type { Standing } from "./standing.ts";

/** What of a document decides which findings are about it. */
export type Waiter = { readonly mirror: string; readonly state: State };

/** What keeps documents in these states that are not the reason themselves. */
const KEEPS: { readonly [K in FindingKind]?: readonly State[] } = {
  stalled: ["settling", "pending"],
  gate: ["pending"],
  paused: ["pending"],
  waits: ["pending"],
  outage: MOVING.filter((state) => state !== "settling"),
  source: ["settling", "pending"],
  formerMirror: MOVING,
  notRunning: MOVING,
};

/**
 * Why nothing goes on with a document though nothing is wrong with itself: the first finding that keeps it. Null where
 * none does. `standing` is asked only where one can.
 */
export async function whyWaits(
  standing: () => Promise<Pick<Standing, "report" | "findings">>,
  { mirror, state }: Waiter,
): Promise<Finding | null> {
  if (!MOVING.includes(state)) return null;
  const { report, findings } = await standing();
  const archive = report.mirrors.find(({ name }) => name === mirror)?.archive;
  const isAbout = (finding: Finding) =>
    KEEPS[finding.kind]?.includes(state) === true &&
    (finding.mirror === null || finding.mirror === mirror) &&
    (finding.archive === null || finding.archive === archive);
  return findings.find(isAbout) ?? null;
}
