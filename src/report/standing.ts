import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import type {
  ArchiveState,
  DocumentReader,
  Registry,
  Reports,
  Sharing,
} from "../journal/journal.ts";
import { type Finding, hostFaultsOf, MOVING, type Situation, sumOf } from "./finding.ts";
import { findingsOf } from "./findings.ts";
import { type ProblemGroup, problemsOf } from "./problems.ts";
import type { StatusReport } from "./status.ts";
import { counted, numberText } from "../std/wording.ts";

/** Where things stand: the report, and what is wrong. Anyone who shows it reads it here. */

export type Standing = {
  readonly report: StatusReport;
  readonly problems: readonly ProblemGroup[];
  /** What is wrong and what waits, the most important first. */
  readonly findings: readonly Finding[];
};

/** Reads from the journal why documents of the report's mirrors stand still; `known`: what no journal has. */
export async function standingOf(
  journal: ArchiveState & DocumentReader & Registry & Reports & Sharing,
  report: StatusReport,
  known: Omit<Situation, "report" | "problems"> = {},
): Promise<Standing> {
  const problems = await problemsOf(journal, report);
  const hostFaults = known.hostFaults ?? (await hostFaultsOf(journal, report.running));
  const findings = findingsOf({ ...known, report, problems, hostFaults });
  return { report, problems, findings };
}

/** Where the configuration says nothing; as `notify.diskBelow`. */
const FREE_BYTES_MIN = 500_000_000;

/** The journal's disk, where it has too little room. It is a local one: asking it blocks nobody. */
export async function lowDiskOf({
  journal: path,
  notify,
}: Pick<Config, "journal" | "notify">): Promise<Situation["lowDisk"]> {
  if (typeof path !== "string") return undefined;
  try {
    const { bavail, bsize } = await statfs(dirname(path));
    const freeBytes = bavail * bsize;
    return freeBytes < (notify?.diskBytesMin ?? FREE_BYTES_MIN) ? { freeBytes, path } : undefined;
  } catch {
    return undefined;
  }
}

/** `busy`: documents are on their way; `good`: all are archived; `quiet`: there are none. */
type Summary = {
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
