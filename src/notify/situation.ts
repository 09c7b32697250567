/** Everything that can be wrong, as the daemon sees it at one moment; and what of it is alert. */
import type { State } from "../domain/document.ts";
import { failureOf, UNREAD_HINT } from "../domain/failure.ts";
import type { ArchiveStatusReport, Counts, StatusReport } from "../sync/status.ts";
import type { Unread } from "../sync/scan-scheduler.ts";
import { documentAlerts } from "./document-alerts.ts";
import type { Alert } from "./alert.ts";

/** Documents in one state with one code. */
export type Group = {
  readonly state: State;
  readonly code: string;
  readonly documents: number;
  /** The one that is known longest, and what it met. */
  readonly first: { readonly id: number; readonly path: string; readonly message: string };
};

/** An archive may answer with ever new codes: of more than these nothing is said. */
export const GROUPS_MAX = 50;

/** One of the archives that mirrors are carried into. */
export type ArchiveSituation = Pick<ArchiveStatusReport, "name" | "gate" | "allowance"> & {
  /** Documents that wait for it. */
  readonly waiting: number;
  /** Why it cannot be reached; undefined while it can. */
  readonly outage: { readonly code: string; readonly message: string } | undefined;
};

/** How everything is at one look. */
export type Situation = {
  /** Of all mirrors. */
  readonly documents: Counts;
  /** Every archive. */
  readonly archives: readonly ArchiveSituation[];
  readonly groups: readonly Group[];
  /** Every mirror; `online` is undefined while its source has not been looked for. */
  readonly sources: readonly {
    readonly name: string;
    readonly source: string;
    readonly online: boolean | undefined;
    readonly why: string;
    /** What of it cannot be read. */
    readonly unread: Unread | null;
  }[];
  readonly afterPending: StatusReport["afterPending"];
  readonly health: { readonly healthy: boolean; readonly why: string };
  /** Of the journal's disk; undefined: not known. */
  readonly disk: { readonly freeBytes: number; readonly path: string } | undefined;
};

const MB = 1_000_000;

/** What patience someone has. */
export type Patience = { readonly heldAfterMs: number; readonly diskBytesMin: number };

/** A source that is away for a moment, or an archive that is, is no alert yet. */
const OFFLINE_MS = 60_000;

/** What is wrong, each cause once. */
export function alertsOf(situation: Situation, patience: Patience): Alert[] {
  const { archives, groups } = situation;
  const called = (name: string) => (archives.length > 1 ? ` (${name})` : "");
  return [
    ...archives.flatMap((archive) => gateAlert(archive, called(archive.name))),
    ...documentAlerts(groups, patience.heldAfterMs),
    ...situation.sources.filter(({ online }) => online === false).map(sourceAlert),
    ...situation.sources.flatMap(unreadAlert),
    ...afterAlerts(situation.afterPending, patience.heldAfterMs),
    ...archives.flatMap((archive) =>
      outageAlert(archive, called(archive.name), patience.heldAfterMs),
    ),
    ...healthAlert(situation),
    ...diskAlert(situation, patience.diskBytesMin),
    ...archives.flatMap((archive) => allowanceAlert(archive, called(archive.name))),
  ];
}

/** What it means that a cause is not among the alerts of a situation; see `decide`. */
export function absentIn({
  sources,
  groups,
  archives,
}: Situation): (cause: string) => "over" | "unknown" | "foreign" {
  return (cause) => {
    // Closed for another reason: it has its own notification, and sending does not go on.
    const [, closed] = /^gate:([^:]*):/u.exec(cause) ?? [];
    const archive = archives.find(({ name }) => name === closed);
    if (closed !== undefined && archive?.gate !== null) return "foreign";
    const isOfDocuments = cause.startsWith("held:") || cause.startsWith("failed:");
    if (isOfDocuments && groups.length >= GROUPS_MAX) return "unknown";
    const [, kind, name] = /^(source|unread|after):(.*)$/su.exec(cause) ?? [];
    if (name === undefined) return "over";
    const source = sources.find((one) => one.name === name);
    if (!source) return "foreign";
    // What could not be read of a source that is away now was not looked at again.
    if (kind === "unread" && source.online !== true) return "unknown";
    return kind === "source" && source.online === undefined ? "unknown" : "over";
  };
}

/** What every alert is unless it says otherwise. */
const ONCE = { detail: "", hint: "", size: 1, mark: "", afterMs: 0 };

const GATE_TITLES: Readonly<Record<string, string>> = {
  QUOTA_LIMIT: "Sending has stopped: the page allowance is used up",
  CREDENTIALS_REFUSED: "Sending has stopped: the archive refuses the credentials",
  ARCHIVE_CHANGED: "Sending has stopped: it is another archive",
  SAME_CODE_REPEATS: "Sending has stopped: the archive refuses every document",
};

function gateAlert({ name, gate, waiting }: ArchiveSituation, called: string): Alert[] {
  if (gate === null) return [];
  const { code, message, hint } = gate;
  const kind = code === "CREDENTIALS_REFUSED" ? "credentials" : "gate";
  const title = `${GATE_TITLES[code] ?? `Sending has stopped: the archive answers ${code}`}${called}`;
  const detail = `${withCode(message, code)}\n${counted(waiting)} ${waiting === 1 ? "waits" : "wait"}.`;
  const over = `Sending goes on: the archive takes documents again${called}`;
  return [{ ...ONCE, kind, cause: `gate:${name}:${code}`, title, detail, hint, over }];
}

function sourceAlert({ name, source, why }: Situation["sources"][number]): Alert {
  return {
    ...ONCE,
    kind: "source",
    cause: `source:${name}`,
    title: `The source of ${name} is offline`,
    detail: `${source}: ${why}. Nothing is taken for removed.`,
    hint: failureOf("SOURCE_OFFLINE").hint,
    over: `The source of ${name} is there again`,
    afterMs: OFFLINE_MS,
  };
}

/** Of the same kind as a source that is away: nobody knows what is in there. */
function unreadAlert({ name, source, unread }: Situation["sources"][number]): Alert[] {
  if (!unread) return [];
  const { directories, path, why } = unread;
  return [
    {
      ...ONCE,
      kind: "source",
      cause: `unread:${name}`,
      title: `Folders of ${name} cannot be read`,
      detail: `${source}/${path}: ${why}${directories === 1 ? "" : `\nand ${directories - 1} more`}. What is in there is not sent.`,
      hint: UNREAD_HINT,
      over: `All folders of ${name} can be read again`,
      size: directories,
      afterMs: OFFLINE_MS,
    },
  ];
}

/** One a mirror: what stands against one of its files most often stands against all. */
function afterAlerts(files: Situation["afterPending"], afterMs: number): Alert[] {
  const mirrors = Map.groupBy(files, ({ mirror }) => mirror);
  return [...mirrors].flatMap(([name, [first, ...others]]) =>
    first === undefined
      ? []
      : {
          ...ONCE,
          kind: "after",
          cause: `after:${name}`,
          title: `Archived files of ${name} cannot be moved or deleted`,
          detail: `${first.path}: ${first.why}${others.length === 0 ? "" : "\nand others."}`,
          hint: failureOf("AFTER_REFUSED").hint,
          over: `Archived files of ${name} are moved or deleted again`,
          afterMs,
        },
  );
}

function outageAlert({ name, outage }: ArchiveSituation, called: string, afterMs: number): Alert[] {
  if (!outage) return [];
  const { code, message } = outage;
  return [
    {
      ...ONCE,
      kind: "archive",
      cause: `archive:${name}`,
      title: `The archive cannot be reached${called}`,
      detail: withCode(message, code),
      hint: failureOf(code).hint,
      over: `The archive is reached again${called}`,
      afterMs,
    },
  ];
}

function healthAlert({ health }: Situation): Alert[] {
  if (health.healthy) return [];
  const title = "Nothing moves although documents are ready";
  const hint =
    "Look into the log, and restart the daemon: it loses nothing and sends nothing twice.";
  const over = "Documents move again";
  const detail = `${health.why}.`;
  return [{ ...ONCE, kind: "stalled", cause: "stalled", title, detail, hint, over }];
}

function diskAlert({ disk }: Situation, bytesMin: number): Alert[] {
  if (!disk || disk.freeBytes >= bytesMin) return [];
  const left = `${Math.floor(disk.freeBytes / MB)} MB`;
  return [
    {
      ...ONCE,
      kind: "disk",
      cause: "disk",
      title: "The journal's disk is low",
      detail: `${left} are left for ${disk.path}. When it is full nothing is sent any more.`,
      hint: "Free space, or move the journal.",
      over: "The journal's disk has room again",
    },
  ];
}

/** Little is left, and again once nothing is. */
function allowanceAlert({ name, allowance }: ArchiveSituation, called: string): Alert[] {
  if (!allowance?.problem) return [];
  const { pages, used, level, keeps, problem } = allowance;
  const percent = Math.floor((100 * used) / Math.max(pages, 1));
  const waits = `${counted(keeps.documents)} ${keeps.documents === 1 ? "waits" : "wait"} for the next month.`;
  return [
    {
      ...ONCE,
      kind: "allowance",
      cause: `allowance:${name}`,
      title: `${percent} % of this month's page allowance is used${called}`,
      detail: [`${problem.message}.`, ...(keeps.documents > 0 ? [waits] : [])].join("\n"),
      hint: problem.hint,
      over: `The page allowance has room again${called}`,
      size: level === "usedUp" ? 2 : 1,
    },
  ];
}

function withCode(message: string, code: string): string {
  return message.includes(code) ? message : `${message} (${code})`;
}

/** `1 document`, `2 documents`. */
export function counted(documents: number): string {
  return `${documents} ${documents === 1 ? "document" : "documents"}`;
}
