/** Where the documents are, for those who see that nothing is wrong. */
import { counted, numberText } from "../std/wording.ts";
import { MOVING, sumOf } from "./finding.ts";
import type { StatusReport } from "./status.ts";

/** `busy`: documents are on their way; `good`: all are archived; `quiet`: there are none. */
export type Summary = {
  readonly tone: "busy" | "good" | "quiet";
  readonly title: string;
  readonly detail: string;
};

/** Sums up a report, whatever is wrong. */
export function summaryOf({ documents, running }: StatusReport): Summary {
  const { converted } = documents;
  const moving = sumOf(documents, MOVING);
  const archived = `${numberText(converted)} converted and confirmed by the archive.`;
  if (moving > 0)
    return { tone: "busy", title: `${counted(moving, "document")} on the way`, detail: archived };
  const stopped = sumOf(documents, ["held", "failed"]);
  if (converted + stopped === 0)
    return {
      tone: "quiet",
      title: "No documents",
      detail: "scanferry has not found any files to send in the sources.",
    };
  if (stopped > 0) return { tone: "quiet", title: "Nothing is on the way", detail: archived };
  const [all, are] = converted === 1 ? ["The only document", "is"] : ["All documents", "are"];
  if (running) return { tone: "good", title: `${all} ${are} in the archive`, detail: archived };
  // The sources may have more by now.
  const title = `${all} that scanferry has seen ${are} in the archive`;
  const detail = `${archived} scanferry is not running and does not see new files.`;
  return { tone: "good", title, detail };
}
