/** A finding as text: for a screen, a line of output, the service manager, `/healthz`. */
import { counted, relativeText, timeText } from "../std/wording.ts";
import type { State } from "../domain/document.ts";
import type { Links } from "../sync/scan-scheduler.ts";
import { printable } from "../std/printable.ts";
import { type Finding, type FindingKind, MOVING } from "./finding.ts";
import type { StatusReport } from "./status.ts";

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

/** When it is tried again, in local time; empty where that is not known. */
export function nextText({ nextAttempt, kind }: Finding, now: number): string {
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

/** One line for `systemctl status`: what is wrong, then the numbers. */
export function serviceLine({
  report: { documents },
  findings,
}: {
  readonly report: Pick<StatusReport, "documents">;
  readonly findings: readonly Finding[];
}): string {
  const numbers = (states: readonly State[]) =>
    states.filter((state) => documents[state] > 0).map((state) => `${documents[state]} ${state}`);
  const busy = numbers(MOVING).join(", ") || "idle";
  const stopped = numbers(["held", "failed"]);
  return [...titles(findings), busy, `${documents.converted} converted`, ...stopped].join("; ");
}

/** Why work does not move though the daemon is well; empty where nothing keeps it. For `/healthz`. */
export function healthReason(findings: readonly Finding[]): string {
  return titles(findings).join("; ");
}

/** What is notified once a finding is over. `isOneOfMany`: there are several archives. */
export function overText(finding: Finding, isOneOfMany: boolean): string {
  const { kind, archive, mirror, documents, title } = finding;
  const name = isOneOfMany && archive !== null ? ` ${archive}` : "";
  const texts: { readonly [K in FindingKind]?: string } = {
    stalled: "Documents move again",
    gate: `Sending${name === "" ? "" : ` to${name}`} continues: the archive accepts documents again`,
    outage: `The archive${name} answers again`,
    failed: `No document is failed any more: ${documents?.code}`,
    source: `The source of ${mirror} is online again`,
    unread: `All folders of ${mirror} can be read again`,
    unwatched: `All folders of ${mirror} are watched again`,
    held: `No document is held any more: ${documents?.code}`,
    stuck: "Every document that was stuck is converted",
    after: `Files of ${mirror} are moved or deleted again`,
    allowance: `The page allowance${name === "" ? "" : ` of${name}`} has room again`,
    disk: "The journal's disk has room again",
    page: "The page is available again",
    config: "The new configuration is in use",
  };
  return texts[kind] ?? `Over: ${title}`;
}

/** What to do about a link in a folder's place. */
export const LINK_HINT =
  "Links are never followed: mount the folder there (`mount --bind`), or give it a mirror of its own.";

/** A line for each link that stands where a folder of documents was. */
export function replacedLines(mirror: string, links: Links | null): string[] {
  return (links?.replaced ?? []).map((path) =>
    printable(`${mirror}: ${path} was a folder and is a link now: nothing below it is sent`),
  );
}

/** How many other links are left out; undefined: none. */
export function otherLinksLine(mirror: string, links: Links | null): string | undefined {
  if (!links || links.others === 0) return undefined;
  const verb = links.others === 1 ? "is" : "are";
  return printable(`${mirror}: ${counted(links.others, "link")} ${verb} left out, never followed`);
}

/** Both, of each mirror, with what is to be done. */
export function linkLines(
  mirrors: readonly { readonly name: string; readonly links: Links | null }[],
): string[] {
  const replaced = mirrors.flatMap(({ name, links }) => replacedLines(name, links));
  const others = mirrors.flatMap(({ name, links }) => otherLinksLine(name, links) ?? []);
  return [...replaced, ...(replaced.length > 0 ? [`  ${LINK_HINT}`] : []), ...others];
}
