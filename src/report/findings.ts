/**
 * What is wrong and what waits: the one list that `status`, the page, notifications, the service manager's line and
 * `/healthz` show. Pure: time and facts come in, sentences come out.
 */
import { formatDuration } from "../std/units.ts";
import { STATES } from "../domain/document.ts";
import { failureOf, UNREAD_HINT } from "../domain/failure.ts";
import type { Fault } from "../std/fault.ts";
import { printable } from "../std/printable.ts";
import { counted, numberText, shellWord } from "../std/wording.ts";
import { archiveFindings } from "./archive-findings.ts";
import { documentFindings } from "./document-findings.ts";
import {
  type Finding,
  FINDING_KINDS,
  MOVING,
  finding,
  sentence,
  type Situation,
  sumOf,
  WAITING,
  waitSentence,
} from "./finding.ts";
import { type MirrorStatusReport, NAMED_MAX, type StatusReport } from "./status.ts";

/** All findings, the most important first. */
export function findingsOf(situation: Situation): Finding[] {
  const { report } = situation;
  const found = [
    ...stalled(situation),
    ...paused(report),
    ...notRunning(report),
    ...report.mirrors.flatMap(offline),
    ...report.mirrors.flatMap(unread),
    ...report.mirrors.flatMap(unwatched),
    ...documentFindings(situation),
    ...afterPending(report),
    ...archiveFindings(report),
    ...lowDisk(situation),
    ...noPage(situation),
    ...refusedConfig(situation),
    ...formerMirrors(report),
    ...report.mirrors.flatMap(sentEarly),
    ...kept(report),
  ];
  return found
    .toSorted((a, b) => FINDING_KINDS.indexOf(a.kind) - FINDING_KINDS.indexOf(b.kind))
    .map((finding) => legibly(finding, report.running));
}

/**
 * Texts from outside steer no terminal; and what no daemon tries, is tried at no time. Hours begin, and a pause of the
 * archive ends, without one.
 */
function legibly(finding: Finding, isRunning: boolean): Finding {
  const { title, detail, fix, nextAttempt, kind } = finding;
  return {
    ...finding,
    title: printable(title),
    detail: printable(detail),
    fix: printable(fix),
    nextAttempt: isRunning || kind === "waits" ? nextAttempt : null,
  };
}

function stalled({ health }: Pick<Situation, "health">): Finding[] {
  if (health?.healthy !== false) return [];
  return [
    finding("stalled", "error", {
      title: "Nothing is sent",
      detail: sentence(health.why),
      fix:
        health.fix ??
        "Check the journal's disk or database, and the log. If this lasts, restart the daemon: nothing is lost, and nothing is sent twice.",
    }),
  ];
}

/** That the journal cannot be used, which no journal can say. */
export function journalFinding({ code, message, hint }: Fault): Finding[] {
  const title = `Nothing is sent: the journal cannot be used (${code})`;
  const health = { healthy: false, why: message, fix: hint };
  return stalled({ health }).map((finding) => legibly({ ...finding, title }, true));
}

function paused({ paused: isPaused, documents }: StatusReport): Finding[] {
  if (!isPaused) return [];
  const count = sumOf(documents, WAITING);
  return [
    finding("paused", "warning", {
      title: "Sending is paused",
      detail: `${waitSentence(count)} New files are found, and wait until sending is resumed.`,
      fix: "Run `scanferry resume`, or use Resume on the page.",
      count,
      actions: ["resume"],
    }),
  ];
}

function notRunning({ running, documents, afterPending: files }: StatusReport): Finding[] {
  const count = sumOf(documents, [...MOVING, "held"]);
  if (running || count + files.length === 0) return [];
  const waiting =
    count > 0
      ? waitSentence(count)
      : `${counted(files.length, "file")} still to be moved or deleted.`;
  return [
    finding("notRunning", "warning", {
      title: "scanferry is not running",
      detail: waiting,
      fix: "Start it with `scanferry run`, or run `scanferry sync` once.",
      count,
    }),
  ];
}

function offline({ name, source, offline: away }: MirrorStatusReport): Finding[] {
  if (!away) return [];
  return [
    finding("source", "error", {
      title: `The source of ${name} is offline`,
      detail: `${sentence(`${source}: ${away.why}`)} No file is treated as deleted; other sources continue.`,
      fix: failureOf("SOURCE_OFFLINE").hint,
      since: away.since,
      mirror: name,
    }),
  ];
}

function unread({ name, source, unread: closed }: MirrorStatusReport): Finding[] {
  if (!closed) return [];
  const { directories, path, why } = closed;
  const others = directories === 1 ? "" : ` (and ${counted(directories - 1, "other folder")})`;
  return [
    finding("unread", "error", {
      title: `Cannot read ${counted(directories, "folder")} of ${name}`,
      detail: `${sentence(`${source}/${path}${others}: ${why}`)} Files in there are not sent; everything else continues.`,
      fix: UNREAD_HINT,
      count: directories,
      mirror: name,
    }),
  ];
}

function unwatched({ name, unwatched: why }: MirrorStatusReport): Finding[] {
  if (why === null) return [];
  return [
    finding("unwatched", "warning", {
      title: `Some folders of ${name} are not watched`,
      detail: `${sentence(why)} Changes in them are found later, by scans.`,
      fix: "Raise fs.inotify.max_user_watches and max_user_instances, or fix what the message names. scanferry tries again automatically.",
      mirror: name,
    }),
  ];
}

/** One a mirror: what stands against one of its files most often stands against all. */
function afterPending({ afterPending: files }: StatusReport): Finding[] {
  const orMore = files.length >= NAMED_MAX ? " or more" : "";
  return [...Map.groupBy(files, ({ mirror }) => mirror)].map(([mirror, all]) => {
    const times = all.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []);
    const causes = [...Map.groupBy(all, ({ why }) => why)].slice(0, CAUSES_MAX);
    return finding("after", "warning", {
      title: `${counted(all.length, "file")}${orMore} of ${mirror} could not be moved or deleted yet`,
      detail: causes.map(([why, of]) => oneOf(of.length, of[0]?.path ?? "", why)).join(" "),
      fix: failureOf("AFTER_REFUSED").hint,
      nextAttempt: times.length === 0 ? null : Math.min(...times),
      count: all.length,
      mirror,
    });
  });
}

/** So many causes are named of one finding. */
const CAUSES_MAX = 3;

function oneOf(files: number, path: string, why: string): string {
  return sentence(`${files === 1 ? "" : `One of ${numberText(files)}: `}${path}: ${why}`);
}

const MB = 1_000_000;

function lowDisk({ lowDisk: disk }: Situation): Finding[] {
  if (!disk) return [];
  return [
    finding("disk", "warning", {
      title: "The journal's disk is almost full",
      detail: `${numberText(Math.floor(disk.freeBytes / MB))} MB are free for ${disk.path}. When it is full, nothing is sent.`,
      fix: "Free space, or move the journal.",
    }),
  ];
}

function noPage({ hostFaults }: Situation): Finding[] {
  if (!hostFaults?.page) return [];
  return [
    finding("page", "warning", {
      title: "The page is not available",
      detail: `${sentence(hostFaults.page.message)} Everything else continues.`,
      fix: hostFaults.page.hint,
    }),
  ];
}

function refusedConfig({ hostFaults }: Situation): Finding[] {
  if (!hostFaults?.config) return [];
  return [
    finding("config", "warning", {
      title: "The new configuration has errors",
      detail: `${sentence(hostFaults.config)} The old configuration stays in use.`,
      fix: "Run `scanferry check`, fix the configuration, then reload it.",
    }),
  ];
}

/** Nobody works on what these have left. */
function formerMirrors({ formerMirrors: former }: StatusReport): Finding[] {
  return former.map(({ name, documents }) => {
    const left = STATES.filter((state) => state !== "converted" && documents[state] > 0);
    return finding("formerMirror", "warning", {
      title: `The mirror ${name} is no longer configured`,
      detail: `Its documents wait: ${left.map((state) => `${numberText(documents[state])} ${state}`).join(", ")}.`,
      fix: `See \`scanferry list --mirror ${shellWord(name)}\`. Configure the mirror again to send them.`,
      count: sumOf(documents, left),
      mirror: name,
    });
  });
}

function sentEarly({ name, learnedSettle }: MirrorStatusReport): Finding[] {
  if (!learnedSettle) return [];
  const settle = formatDuration(learnedSettle.settleMs);
  return [
    finding("sentEarly", "info", {
      title: `Files of ${name} wait longer: one was sent before it was finished`,
      detail: `All files of ${name} now wait ${settle}.`,
      fix: `Set \`settle: ${settle}\` for the mirror.`,
      since: learnedSettle.learnedAt,
      mirror: name,
    }),
  ];
}

/** Archived or vetoed, and never to be moved or deleted. */
function kept({ afterFailed }: StatusReport): Finding[] {
  return afterFailed.map(({ mirror, files, path, why }) =>
    finding("kept", "info", {
      title: `${counted(files, "file")} of ${mirror} will not be moved or deleted`,
      detail: oneOf(files, path, why),
      fix: "See `scanferry list --after-pending`.",
      count: files,
      mirror,
    }),
  );
}
