/** Which findings people are notified of at once, and when. The digest has all of them. */
import { ANYWAY_CODES } from "../domain/code-sets.ts";
import type { EventKind } from "../domain/event.ts";
import type { Finding } from "../report/finding.ts";
import { nextText, overText } from "../report/finding-text.ts";
import { PROBLEMS_MAX } from "../report/problems.ts";
import type { Standing } from "../report/standing.ts";
import type { Alert } from "./alert.ts";

/** How everything is at one look. */
export type Sight = Pick<Standing, "report" | "findings" | "problems"> & {
  /** Mirrors whose source was not looked for yet. */
  readonly unlooked: readonly string[];
};

/** A source or a page that is away for a moment is no news yet. */
const MOMENT_MS = 60_000;

/** What of an alert differs from one kind of finding to another. */
type AlertRule = { readonly kind: EventKind } & Partial<Pick<Alert, "afterMs" | "size" | "mark">>;

/** The alerts of these findings at `now` (epoch ms), each cause once. */
export function alertsOf(
  { report, findings }: Pick<Sight, "report" | "findings">,
  heldAfterMs: number,
  now: number,
): Alert[] {
  return findings.flatMap((finding) => {
    const rule = finding.severity === "info" ? undefined : ruleOf(finding, heldAfterMs);
    if (!rule) return [];
    const over = overText(finding, report.archives.length > 1);
    return [{ ...alertOf(finding, now), over, ...rule }];
  });
}

/** A finding that is notified at once. */
export function alertOf(finding: Finding, now: number): Omit<Alert, "kind" | "over"> {
  const { id: cause, title, detail, fix: hint } = finding;
  const lines = [detail, nextText(finding, now)].filter((line) => line !== "");
  return { cause, title, detail: lines.join("\n"), hint, size: 1, mark: "", afterMs: 0 };
}

function ruleOf(
  { kind, id, count, documents, severity }: Finding,
  heldAfterMs: number,
): AlertRule | undefined {
  switch (kind) {
    case "stalled":
    case "disk":
      return { kind };
    case "gate":
      return { kind: id.endsWith(":CREDENTIALS_REFUSED") ? "credentials" : "gate" };
    case "outage":
      return { kind: "archive", afterMs: heldAfterMs };
    case "failed":
    case "stuck":
      return { kind, size: count };
    case "source":
      return { kind, afterMs: MOMENT_MS };
    case "unread":
      return { kind: "source", afterMs: MOMENT_MS, size: count };
    case "held":
      // `incomplete` was waited for already, and each of them waits for a person.
      if (ANYWAY_CODES.includes(documents?.code ?? "")) return { kind, size: count };
      // Another document at the head of the queue: the queue moves. More of them are no news.
      return { kind, afterMs: heldAfterMs, mark: `${documents?.first}` };
    case "after":
      return { kind, afterMs: heldAfterMs };
    case "allowance":
      // Little is left, and again once nothing is.
      return { kind, size: severity === "error" ? 2 : 1 };
    case "page":
    case "config":
      return { kind: "stalled", afterMs: MOMENT_MS };
    case "paused":
    case "notRunning":
    case "unwatched":
    case "waits":
    case "formerMirror":
    case "unfinished":
    case "sentEarly":
    case "kept":
      return undefined;
  }
}

/** What it means that a cause is not among the alerts of what is seen; see `decide`. */
export function absentIn({
  report,
  problems,
  unlooked,
}: Sight): (cause: string) => "over" | "unknown" | "foreign" {
  return (cause) => {
    // Closed for another reason: it has its own alert, and sending does not continue.
    const [, closed] = /^gate:([^:]*):/u.exec(cause) ?? [];
    const archive = report.archives.find(({ name }) => name === closed);
    if (closed !== undefined && archive?.gate !== null) return "foreign";
    const isOfDocuments = cause.startsWith("held:") || cause.startsWith("failed:");
    if (isOfDocuments && problems.length >= PROBLEMS_MAX) return "unknown";
    const [, kind, name] = /^(source|unread|after):(.*)$/su.exec(cause) ?? [];
    if (name === undefined) return "over";
    const mirror = report.mirrors.find((one) => one.name === name);
    if (!mirror) return "foreign";
    if (kind === "after") return "over";
    // What could not be read of a source that is away now was not looked at again.
    const isUnknown = unlooked.includes(name) || (kind === "unread" && mirror.offline !== null);
    return isUnknown ? "unknown" : "over";
  };
}
