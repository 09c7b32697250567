/** Where things stand: the report, and what is wrong. Anyone who shows it reads it here. */
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
import type { Finding, Situation } from "./finding.ts";
import { findingsOf } from "./findings.ts";
import { hostFaultsOf } from "./host-faults.ts";
import { type ProblemGroup, problemsOf } from "./problems.ts";
import type { StatusReport } from "./status.ts";

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
