import { printable } from "../std/printable.ts";
import { clause, counted, relativeText, timeText } from "../std/wording.ts";
import type { AllowanceReport, PageReport } from "../report/page-report.ts";

/** Pages for people: what is used, what waits, what is left and for how long; the worst first. */
export function pageLines(report: PageReport, now: number): string[] {
  const { allowance, month, today, perDay, waiting } = report;
  if (allowance === null && month === 0 && waiting.documents === 0) return [];
  const parts = [
    waiting.pages === 0 ? "" : counted(waiting.pages, "page"),
    waiting.unknown === 0 ? "" : `${counted(waiting.unknown, "document")} not counted`,
  ].filter((part) => part !== "");
  const waits = parts.length === 0 ? "" : `; ${parts.join(" and ")} waiting`;
  const rate = perDay === 0 ? "" : `, lately ${perDay} a day`;
  const sent = `pages: ${today} today, ${month} this month${rate}${waits}`;
  return ["", ...(allowance ? allowanceLines(allowance, report, now) : []), sent];
}

function allowanceLines(
  { pages, used, left, runsOutAt, reserve, keeps, problem, level }: AllowanceReport,
  { to, waiting }: PageReport,
  now: number,
): string[] {
  const percent = Math.floor((100 * used) / pages);
  const renewed = `renewed ${timeText(to)}`;
  const lasts =
    runsOutAt === null
      ? `enough until it is ${renewed}`
      : level === "usedUp"
        ? renewed
        : `used up ${relativeText(runsOutAt, now)} at this rate, ${renewed}`;
  const lines = [`allowance: ${used} of ${counted(pages, "page")} used (${percent} %), ${lasts}`];
  if (waiting.pages > left && left > 0)
    lines.push("  waiting documents need more pages than are left");
  if (reserve)
    lines.push(`  ${reserve.left} of ${reserve.pages} reserved for ${reserve.mirrors.join(", ")}`);
  if (keeps.documents > 0) {
    const kept = counted(keeps.documents, "document");
    lines.push(
      `  ${kept} of ${keeps.mirrors.join(", ")} ${keeps.documents === 1 ? "waits" : "wait"} for that`,
    );
  }
  if (problem) lines.push(`  ${clause(problem.hint)}`);
  return lines.map(printable);
}
