/** Findings about documents: failed, held, never converted, unfinished; one for each state and code. */
import { ANYWAY_CODES, GATE_CODES } from "../domain/code-sets.ts";
import { failureOf } from "../domain/failure.ts";
import { counted } from "../std/wording.ts";
import { type Finding, type FindingAction, finding, sentence, type Situation } from "./finding.ts";
import type { ProblemGroup } from "./problems.ts";
import type { StatusReport } from "./status.ts";

/** So many archive folders are named. */
export const FOLDERS_MAX = 10;

const KINDS = {
  failed: "failed",
  held: "held",
  uploaded: "stuck",
  settling: "unfinished",
} as const;

const SEVERITIES = {
  failed: "error",
  held: "warning",
  uploaded: "warning",
  settling: "info",
} as const;

/** Actions other than to retry. */
const ACTIONS: Readonly<Record<string, readonly FindingAction[]>> = {
  ...Object.fromEntries(ANYWAY_CODES.map((code) => [code, ["retry", "sendAnyway"] as const])),
  FILE_UNFINISHED: ["sendAnyway"],
  FIRST_RUN: ["adopt", "sendAsNew"],
  DOUBT_FOLDER_GONE: ["sendAgain"],
  DOUBT_ELSEWHERE: ["sendAgain"],
  REPLIES_LOST: ["sendAgain"],
  REPLY_MISMATCHED: ["sendAgain"],
  DOCUMENT_ID_TAKEN: ["sendAgain"],
};

/** One finding a problem. */
export function documentFindings({
  report,
  problems,
}: Pick<Situation, "report" | "problems">): Finding[] {
  return problems
    .filter(({ state, code }) => state !== "held" || !isElsewhere(code, report))
    .map((problem) => findingOf(problem, report));
}

function findingOf(problem: ProblemGroup, report: StatusReport): Finding {
  const { state, code, documents, first, message, paths = [first.path] } = problem;
  const kind = KINDS[state];
  const { hint, person } = failureOf(code);
  return finding(kind, code === "FILE_YOUNG" ? "info" : SEVERITIES[state], {
    id: state === "uploaded" ? kind : `${kind}:${code}`,
    title: titleOf(problem),
    detail: detailOf(problem, report),
    fix: state === "failed" ? `${hint} See \`scanferry list --state failed\`.` : hint,
    since: first.since,
    nextAttempt: state === "failed" || person !== undefined ? null : first.nextAttemptAt,
    count: documents,
    documents: { state, code, first: first.id, message, paths },
    actions: state === "uploaded" ? [] : (ACTIONS[code] ?? (state === "settling" ? [] : ["retry"])),
  });
}

function titleOf({ state, code, documents }: ProblemGroup): string {
  const many = counted(documents, "document");
  const are = documents === 1 ? "is" : "are";
  if (state === "failed") return `${many} failed: ${whyFailed(code, documents)} (${code})`;
  if (state === "held") return `${many} ${are} held: ${code}`;
  if (state === "uploaded") return `The archive has not converted ${many}`;
  return `${counted(documents, "file")} ${are} not finished yet`;
}

function whyFailed(code: string, documents: number): string {
  if (code === "DOC_NOT_EXIST") return "no longer in the archive";
  return `the archive rejected ${documents === 1 ? "it" : "them"}`;
}

function detailOf(
  { code, documents, message, first, paths }: ProblemGroup,
  { foldersToCreate }: StatusReport,
): string {
  const folders = foldersToCreate.filter((folder) => folder.code === code);
  if (folders.length > 0) {
    const named = folders.slice(0, FOLDERS_MAX);
    const list = named.map(({ path, documents: some }) => `${path} (${counted(some, "document")})`);
    const more = folders.length - named.length;
    return sentence(`${list.join(", ")}${more > 0 ? ` and ${counted(more, "other folder")}` : ""}`);
  }
  if (paths && paths.length > 0) {
    const more = documents - paths.length;
    return sentence(`${[...paths, ...(more > 0 ? [`${more} more`] : [])].join(", ")}: ${message}`);
  }
  const others =
    documents === 1 ? "" : ` The same code for ${counted(documents - 1, "other document")}.`;
  return `${sentence(`${first.path}: ${message}`)}${others}`;
}

/** The gate or the source has a finding of its own. */
function isElsewhere(code: string, { archives, mirrors }: StatusReport): boolean {
  if (GATE_CODES.includes(code)) return archives.some(({ gate }) => gate !== null);
  return code === "SOURCE_OFFLINE" && mirrors.some(({ offline }) => offline !== null);
}
