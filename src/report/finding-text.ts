/** A finding as text: for a screen, a line of output, the service manager, `/healthz`. */
import { relativeText, timeText } from "../std/wording.ts";
import type { Finding, FindingKind } from "./finding.ts";

/** The title, and since when. */
export function titleLine({ title, since }: Finding): string {
  if (since === null) return title;
  return title.includes(":")
    ? `${title} (since ${timeText(since)})`
    : `${title} since ${timeText(since)}`;
}

/** Paragraphs below the title: what it means, what to do, when scanferry tries again. */
export function paragraphs(finding: Finding, now: number): string[] {
  return [finding.detail, finding.fix, nextText(finding, now)].filter((text) => text !== "");
}

/** All but what to do, on one line. */
export function withoutFix(finding: Finding, now: number): string {
  return oneLine({ ...finding, fix: "" }, now);
}

/** What scanferry does at the next time; it does not send everywhere. */
const NEXT: { readonly [K in FindingKind]?: string } = {
  unfinished: "Next check",
  waits: "Sending may begin",
};

function nextText({ nextAttempt, kind }: Finding, now: number): string {
  if (nextAttempt === null) return "";
  const what = NEXT[kind] ?? "Next attempt";
  if (nextAttempt <= now) return `${what}: now.`;
  return `${what}: ${relativeText(nextAttempt, now)} (${timeText(nextAttempt)}).`;
}

/** All of it on one line. */
export function oneLine(finding: Finding, now: number): string {
  return [`${titleLine(finding)}.`, ...paragraphs(finding, now)].join(" ");
}

/** So many titles stand in one line. */
const TITLES_MAX = 5;

/** The titles of findings, the first of them where there are many. */
export function titles(findings: readonly Finding[]): string[] {
  const more = findings.length - TITLES_MAX;
  const first = findings.slice(0, TITLES_MAX).map(({ title }) => title);
  return more > 0 ? [...first, `${more} more`] : first;
}
