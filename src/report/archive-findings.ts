/** Findings about the archives: a closed gate, an outage, what sending waits for, the page allowance. */
import type { State } from "../domain/document.ts";
import { type Finding, finding, sentence, sumOf, WAITING, waitSentence } from "./finding.ts";
import type { ArchiveStatusReport, StatusReport } from "./status.ts";

/** Of each archive. */
export function archiveFindings(report: StatusReport): Finding[] {
  return report.archives.flatMap((archive) => [
    ...gate(archive, report),
    ...outage(archive, report),
    ...waits(archive, report),
    ...allowance(archive, report),
  ]);
}

const GATE_REASONS: Readonly<Record<string, string>> = {
  QUOTA_LIMIT: "the page allowance is used up",
  CREDENTIALS_REFUSED: "the archive rejects the credentials",
  ARCHIVE_CHANGED: "this is not the archive that documents were sent to before",
  SAME_CODE_REPEATS: "the archive rejects every document",
};

function gate({ name, gate: closed }: ArchiveStatusReport, report: StatusReport): Finding[] {
  if (!closed) return [];
  const { code, message, hint, closedAt, nextProbeAt } = closed;
  const count = waitingFor(name, report, [...WAITING, "held"]);
  const to = isOneOfMany(report) ? ` to ${name}` : "";
  return [
    finding("gate", "error", {
      id: `gate:${name}:${code}`,
      title: `Sending${to} has stopped: ${GATE_REASONS[code] ?? `the archive answers ${code}`}`,
      detail: `${sentence(withCode(message, code))} ${waitSentence(count)}`,
      fix: hint,
      since: closedAt,
      nextAttempt: nextProbeAt,
      count,
      archive: name,
    }),
  ];
}

function outage({ name, outage: out }: ArchiveStatusReport, report: StatusReport): Finding[] {
  if (!out) return [];
  const { code, message, hint, since, nextAttemptAt } = out;
  const count = waitingFor(name, report, WAITING);
  return [
    finding("outage", "error", {
      id: `archive:${name}`,
      title: `Cannot reach the archive${isOneOfMany(report) ? ` ${name}` : ""}`,
      detail: `${sentence(withCode(message, code))} ${waitSentence(count)}`,
      fix: hint,
      since,
      nextAttempt: nextAttemptAt,
      count,
      archive: name,
    }),
  ];
}

function waits({ name, sending }: ArchiveStatusReport, report: StatusReport): Finding[] {
  const count = waitingFor(name, report, ["pending"]);
  if (!sending.waits || count === 0) return [];
  const { why, message, until } = sending.waits;
  return [
    finding("waits", why === "hours" || why === "reading" ? "info" : "warning", {
      id: `waits:${name}:${why}`,
      title: `Sending${isOneOfMany(report) ? ` to ${name}` : ""} waits`,
      detail: `${sentence(message)} ${waitSentence(count)}`,
      nextAttempt: until,
      count,
      archive: name,
    }),
  ];
}

/** Little is left, or nothing is. */
function allowance({ name, allowance: own }: ArchiveStatusReport, report: StatusReport): Finding[] {
  if (!own?.problem) return [];
  const { pages, used, keeps, problem, level } = own;
  const percent = Math.floor((100 * used) / Math.max(pages, 1));
  const of = isOneOfMany(report) ? ` of ${name}` : "";
  return [
    finding("allowance", level === "usedUp" ? "error" : "warning", {
      title: `${percent} % of this month's page allowance${of} is used`,
      detail: `${sentence(problem.message)}${keeps.documents === 0 ? "" : ` ${waitSentence(keeps.documents)}`}`,
      fix: problem.hint,
      count: keeps.documents,
      archive: name,
    }),
  ];
}

function isOneOfMany({ archives }: StatusReport): boolean {
  return archives.length > 1;
}

function waitingFor(
  archive: string,
  { mirrors, documents, archives }: StatusReport,
  states: readonly State[],
): number {
  if (archives.length === 1) return sumOf(documents, states);
  return mirrors
    .filter((mirror) => mirror.archive === archive)
    .reduce((sum, mirror) => sum + sumOf(mirror.documents, states), 0);
}

function withCode(message: string, code: string): string {
  return message.includes(code) ? message : `${message} (${code})`;
}
