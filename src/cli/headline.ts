/** The one thing that matters first, in the order in which the page tells it. */
import { type State } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import type { Owner } from "../journal/owner-lock.ts";
import type { Counts, StatusReport } from "../sync/status.ts";
import { NAMED_MAX } from "../sync/status-lists.ts";
import type { DaemonHealth } from "./daemon-health.ts";
import { clause } from "./exit.ts";
import { printable } from "../std/printable.ts";
import type { Style } from "./terminal.ts";
import type { Trouble } from "./troubles.ts";
import { counted, numberText, relativeText, timeText } from "../std/wording.ts";

/** States of documents that are neither archived nor stopped. */
export const MOVING: readonly State[] = ["settling", "pending", "uploading", "inDoubt", "uploaded"];

/** Fit for a terminal: what paths and replies hold of control characters is escaped. */
export type Headline = {
  readonly style: Style;
  readonly title: string;
  /** Why, and what to do; empty where there is nothing to say. */
  readonly detail: string;
};

/** What is around a report: who is at work, what time it is, and why documents are held. */
export type At = {
  readonly owner: Owner | undefined;
  /** What the daemon says of itself. */
  readonly health?: DaemonHealth | undefined;
  readonly now: number;
  readonly troubles?: readonly Pick<Trouble, "state" | "code" | "documents">[];
};

/** When something is tried again that nobody tries now. */
const NEXT_RUN = "by the next scanferry run or scanferry sync";

/** Sums up a report. */
export function headlineOf(report: StatusReport, at: At): Headline {
  const { owner, health, now } = at;
  const { documents, gate, paused, foldersToCreate, sending, notPutAway } = report;
  const moving = sum(documents, MOVING);
  if (health?.healthy === false) {
    return line("red", `Nothing is sent: ${health.why}`, "tried again automatically");
  }
  if (gate) return ofGate(report, at);
  if (paused) return line("yellow", "Sending is paused", "scanferry resume sends again");
  if (!owner && moving > 0) return ofNobody(moving);
  const outage = ofOutage(report, at);
  if (outage) return outage;
  if (documents.failed > 0) return ofFailed(documents);
  const offline = ofOffline(report);
  if (offline) return offline;
  const unread = ofUnread(report);
  if (unread) return unread;
  if (foldersToCreate.length > 0) return ofFolders(report);
  if (documents.held > 0) return ofHeld(documents, at);
  if (notPutAway.length > 0) return ofNotPutAway(report, owner);
  if (sending.waits && documents.pending > 0) {
    const { message, until } = sending.waits;
    const opens = until === null ? "" : ` until ${timeText(until)} (${relativeText(until, now)})`;
    return line("yellow", `Nothing new is sent${opens}`, message);
  }
  const archived = `${numberText(documents.converted)} in the archive`;
  if (moving > 0) return line("cyan", `${counted(moving, "document")} on the way`, archived);
  if (documents.converted === 0) {
    return line("dim", "Waiting for the first scan", "nothing has been found in the sources yet");
  }
  return ofAllDone(report, owner);
}

function line(style: Style, title: string, detail: string): Headline {
  return { style, title: printable(title), detail: printable(detail) };
}

/** When a closed gate is probed next. What is overdue was not asked: nobody was there to do it. */
export function nextProbe({ nextProbeAt }: NonNullable<StatusReport["gate"]>, at: At): string {
  return nextProbeAt === null ? "" : `; asked again ${againAt(nextProbeAt, at)}`;
}

function againAt(at: number, { owner, now }: At): string {
  if (!owner) return NEXT_RUN;
  return at <= now ? "now" : relativeText(at, now);
}

function ofGate({ gate, documents, archives }: StatusReport, at: At): Headline {
  if (!gate) return line("red", "Sending has stopped", "");
  const waiting = sum(documents, ["settling", "pending", "held"]);
  const next = nextProbe(gate, at);
  const code = gate.message.includes(gate.code) ? "" : `${gate.code}: `;
  const shut = archives.filter((archive) => archive.gate !== null).map(({ name }) => name);
  const to = archives.length > 1 ? ` to ${shut.join(", ")}` : "";
  const title = `Nothing is sent${to} since ${timeText(gate.closedAt)}: ${code}${gate.message}`;
  return line(
    "red",
    title,
    `${counted(waiting, "document")} wait${waiting === 1 ? "s" : ""}; ${clause(gate.hint)}${next}`,
  );
}

/** Of several archives the one that does not answer for the longest; the others are told below. */
function ofOutage({ archives, documents }: StatusReport, at: At): Headline | undefined {
  const [first] = archives
    .flatMap(({ name, outage }) => (outage ? [{ name, outage }] : []))
    .toSorted((a, b) => a.outage.since - b.outage.since);
  if (!first) return undefined;
  const { name, outage } = first;
  const called = archives.length > 1 ? ` ${name}` : "";
  const waiting = sum(documents, ["settling", "pending"]);
  const next = `tried again ${againAt(Math.max(outage.nextAttemptAt, at.now), at)}`;
  return line(
    "red",
    `The archive${called} is not reached since ${timeText(outage.since)}: ${outage.message}`,
    `${counted(waiting, "document")} wait${waiting === 1 ? "s" : ""}; ${clause(outage.hint)}; ${next}`,
  );
}

/** Why is told below, of each. */
function ofOffline({ mirrors }: StatusReport): Headline | undefined {
  const names = mirrors.flatMap(({ name, offline }) => (offline ? [name] : []));
  if (names.length === 0) return undefined;
  const title =
    names.length === 1
      ? `The source of ${names[0]} is offline`
      : `${names.length} sources are offline: ${names.join(", ")}`;
  return line("red", title, "nothing is taken for removed, and other sources go on");
}

/** Which, and why, is told below. */
function ofUnread({ mirrors }: StatusReport): Headline | undefined {
  const folders = mirrors.reduce((sum, { unread }) => sum + (unread?.directories ?? 0), 0);
  if (folders === 0) return undefined;
  const title = `${counted(folders, "local folder")} cannot be read`;
  return line("red", title, "what is in there is neither seen nor sent; everything else goes on");
}

function ofNobody(moving: number): Headline {
  const wait = `${counted(moving, "document")} ${moving === 1 ? "waits" : "wait"}`;
  return line(
    "yellow",
    `scanferry is not running, and ${wait}`,
    "scanferry run, or scanferry sync",
  );
}

function ofFolders({ foldersToCreate }: StatusReport): Headline {
  const folders = new Set(foldersToCreate.map(({ path }) => path)).size;
  const waiting = foldersToCreate.reduce((all, { documents }) => all + documents, 0);
  const wait = `${counted(waiting, "document")} ${waiting === 1 ? "waits" : "wait"} for that`;
  return line("yellow", `${counted(folders, "folder")} to create in the archive`, wait);
}

function ofFailed({ failed }: Counts): Headline {
  const need = `${counted(failed, "document")} ${failed === 1 ? "needs" : "need"} you`;
  return line("red", need, "the archive or the file itself stands in the way");
}

function ofHeld({ held }: Counts, { owner, troubles = [] }: At): Headline {
  const areHeld = `${counted(held, "document")} ${held === 1 ? "is" : "are"} held`;
  const forPerson = troubles
    .filter(({ state, code }) => state === "held" && failureOf(code).person !== undefined)
    .reduce((all, { documents }) => all + documents, 0);
  if (forPerson >= held) return line("yellow", areHeld, "they need you: see below what to do");
  const need = forPerson === 0 ? "they" : `${numberText(forPerson)} need you; the others`;
  const how = owner ? "automatically" : "with scanferry run or scanferry sync,";
  return line("yellow", areHeld, `${need} continue ${how} once what they wait for is there`);
}

function ofNotPutAway({ notPutAway }: StatusReport, owner: At["owner"]): Headline {
  const orMore = notPutAway.length >= NAMED_MAX ? " or more" : "";
  const files = `${counted(notPutAway.length, "archived file")}${orMore} cannot be put away`;
  return line("yellow", files, `they are tried again ${owner ? "without being asked" : NEXT_RUN}`);
}

function ofAllDone({ documents, neverPutAway }: StatusReport, owner: At["owner"]): Headline {
  const { converted } = documents;
  const stay = neverPutAway.reduce((all, { files }) => all + files, 0);
  const left =
    stay > 0 ? `; ${counted(stay, "file")} ${stay === 1 ? "is" : "are"} never put away` : "";
  const detail = `${numberText(converted)} converted${left}`;
  const [all, are] = converted === 1 ? ["The one document", "is"] : ["All documents", "are"];
  if (owner) return line("green", `${all} ${are} in the archive`, detail);
  // Nobody has looked at the sources since: what came later is in no journal.
  const title = `${all} that scanferry has seen ${are} in the archive`;
  return line("green", title, `${detail}; it is not running, and sees nothing new`);
}

function sum(documents: Counts, states: readonly State[]): number {
  return states.reduce((all, state) => all + documents[state], 0);
}
