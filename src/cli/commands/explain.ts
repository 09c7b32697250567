import type { Command } from "commander";
import { exact } from "../../std/raw-path.ts";
import { hanging, padded, table } from "../text-table.ts";
import { EXIT } from "../exit.ts";
import { placeOf } from "../paths.ts";
import type { Shell } from "../shell.ts";
import {
  type Explanation,
  explanationOf,
  NO_SUCH_FILE,
  type Revision,
} from "../../report/explanation.ts";
import { readJournal } from "../../journal/open-journal.ts";
import { examples } from "../option-values.ts";
import type { Mirror } from "../../config/config.ts";
import { ANYWAY_CODES } from "../../domain/code-sets.ts";
import { formatDuration } from "../../std/units.ts";
import { failureOf } from "../../domain/failure.ts";
import { type Attributes, METADATA_FIELDS } from "../../domain/attributes.ts";
import type { AttemptRow, HistoryRow } from "../../journal/journal.ts";
import type { DocumentRecord } from "../../sync/record.ts";
import { printable } from "../../std/printable.ts";
import { STATE_STYLES } from "../status-lines.ts";
import type { Terminal } from "../terminal.ts";
import { clause, counted, relativeText, sizeText, timeText } from "../../std/wording.ts";
import { expiresOf } from "../../report/trial.ts";

/** `scanferry explain`: one file, and why it is where it is. */
export function addExplain(program: Command, shell: Shell): void {
  program
    .command("explain")
    .description("show everything about one file: its states, its folder, its errors")
    .argument("<path>", "absolute, or relative to this directory or to a mirror's source")
    .option("--json", "print one JSON object")
    .action((path: string, { json }: { json?: boolean }) => explain(shell, path, json === true))
    .addHelpText("after", examples('scanferry explain "/srv/scans/Invoices/Scan 0007.pdf"'));
}

async function explain(shell: Shell, typed: string, json: boolean): Promise<void> {
  const config = await shell.config();
  await using journal = await readJournal(config);
  const place = await placeOf(typed, { ...shell.directory, mirrors: config.mirrors }, journal);
  const explanation = await explanationOf({ config, ...shell.processContext }, place, journal);
  if (json) await shell.out.line(JSON.stringify(withPath(explanation, exact(place.path))));
  else {
    const lines = explanationLines(explanation, place.mirror, shell.clock.now(), shell.out);
    const { width, isInteractive } = shell.out;
    const shown = isInteractive ? lines.flatMap((line) => hanging(line, width)) : lines;
    for (const line of shown) await shell.out.line(line);
  }
  shell.exitCode = explanation.note === NO_SUCH_FILE ? EXIT.fault : EXIT.done;
}

function withPath(explanation: Explanation, path: string): Explanation {
  const revisions = explanation.revisions.map((revision) => {
    return { ...revision, document: { ...revision.document, path } };
  });
  return { ...explanation, path, revisions };
}

/** An explanation for people. */
export function explanationLines(
  explanation: Explanation,
  mirror: Mirror,
  now: number,
  terminal: Terminal,
): string[] {
  const { path, leftOut, learnedSettle, note, revisions, forgotten, target } = explanation;
  const current = revisions.findLast(({ document }) => document.current) ?? revisions.at(-1);
  const lines = [terminal.paint("bold", path === "" ? mirror.source : path)];
  lines.push(
    field("mirror", `${mirror.name}: ${mirror.source}`),
    field("rule", ruleOf(mirror, learnedSettle)),
  );
  lines.push(field("folder", folderOf(current?.document, target, mirror)));
  const isSent = current !== undefined && current.document.documentId !== null;
  if (leftOut !== null)
    lines.push(field("left out", `${isSent ? "now" : "never sent"}: ${leftOut}`));
  if (note !== null) lines.push(field("state", `not in the journal: ${note}`));
  if (current) lines.push(...documentFields(current, explanation, now, terminal));
  for (const revision of revisions) {
    lines.push("", ...historyLines(titleOf(revision, current), revision.history));
    if (revision.attempts.length > 0) lines.push("", ...attemptLines(revision.attempts));
  }
  if (forgotten.length > 0) lines.push("", ...historyLines("earlier, and forgotten", forgotten));
  return lines;
}

function field(name: string, text: string): string {
  return `  ${padded(name, 13)} ${printable(text)}`;
}

function ruleOf(
  {
    include,
    exclude,
    settleMs,
    incompleteMs,
    stillIncomplete,
    missingFolder,
    changed,
    after,
  }: Mirror,
  learned: Explanation["learnedSettle"],
) {
  const longer = learned
    ? ` (${formatDuration(learned.settleMs)} since a file was sent too early)`
    : "";
  const missing =
    missingFolder.kind === "fallback" ? `fallback:${missingFolder.path}` : missingFolder.kind;
  const done = after.kind === "move" ? `move:${after.to}` : after.kind;
  const globs = `include ${include.join(" ")}${exclude.length === 0 ? "" : `, exclude ${exclude.join(" ")}`}`;
  const times =
    `settle ${formatDuration(settleMs)}${longer}, incomplete ${formatDuration(incompleteMs)}, ` +
    `stillIncomplete ${stillIncomplete}`;
  return `${globs}; ${times}; missingFolder ${missing}, changed ${changed}, after ${done}`;
}

/** The journal has the id alone: where the mirror allows another folder, the path may not be that one's. */
function folderOf(
  document: DocumentRecord | undefined,
  target: string,
  { missingFolder }: Mirror,
): string {
  const path = document?.target ?? target;
  const other =
    missingFolder.kind === "hold"
      ? ""
      : `, or ${missingFolder.kind === "nearest" ? "the nearest folder above it" : missingFolder.path}`;
  return document?.folderId == null
    ? `${path}${other}`
    : `${path}${other} (id ${document.folderId})`;
}

/** As far as it was counted here. */
function paperOf({ pagesEstimated, sha256 }: DocumentRecord): string {
  if (pagesEstimated !== null) return `, probably ${counted(pagesEstimated, "page")}`;
  return sha256 === null ? "" : ", pages not known";
}

function documentFields(
  { document, contents }: Revision,
  { waits, leftOut }: Pick<Explanation, "waits" | "leftOut">,
  now: number,
  terminal: Terminal,
): string[] {
  const lines = [
    field("state", document.state).replace(document.state, () => stateOf(document, terminal)),
  ];
  const add = (name: string, text: string | null) => {
    if (text !== null) lines.push(field(name, text));
  };
  add("document id", document.documentId === null ? null : String(document.documentId));
  add("sent as", document.sentName);
  const archived =
    document.pages === null
      ? paperOf(document)
      : `, ${counted(document.pages, "page")} in the archive`;
  add("size", `${sizeText(document.size)}${archived}`);
  add("sha-256", document.sha256);
  add("batch", document.batch);
  add("attempts", document.attempts === 0 ? null : String(document.attempts));
  add("uploaded", document.uploadedAt === null ? null : timeText(document.uploadedAt));
  add("converted", document.convertedAt === null ? null : timeText(document.convertedAt));
  if (document.error) {
    const { code, message, hint } = document.error;
    add("last error", message.includes(code) ? message : `${code}: ${message}`);
    add("fix", hint === "" ? null : clause(hint));
  }
  for (const [name, text] of attributeFields(document.attributes)) add(name, text);
  // When it would be its turn says nothing while that cannot come.
  if (waits === null) add("next", nextOf(document, now));
  else add("waits", waits);
  add("remark", document.remark);
  add("moved from", document.movedFrom);
  const away = leftOut === null ? "gone" : "left out or gone";
  add("local file", document.goneAt === null ? null : `${away} since ${timeText(document.goneAt)}`);
  const atOnce = document.retry === "afterAction" ? "; scanferry retry tries it at once" : "";
  const after = [document.after, document.afterMessage].join(" ").trim();
  add("after", document.after === null ? null : `${after}${atOnce}`);
  for (const { documentId, filename, pages } of contents) {
    add("contains", `${filename} (document ${documentId}, ${counted(pages, "page")})`);
  }
  return lines;
}

/** What goes with it, and where each value came from. */
function attributeFields(attributes: Attributes | null): [string, string][] {
  const fields: [string, string][] =
    attributes?.rule === undefined ? [] : [["matched", attributes.rule]];
  for (const field of METADATA_FIELDS) {
    const { value, from, cut } = attributes?.metadata?.[field] ?? {};
    if (value !== undefined) fields.push([field, `${value} (${from}${cut ? ", cut" : ""})`]);
  }
  const expires = expiresOf(attributes);
  if (expires) fields.push(["expires", `${expires.at} (${expires.from})`]);
  if (attributes?.hook) fields.push(["by the hook", attributes.hook.join(", ")]);
  if (attributes?.withoutExpiry)
    fields.push(["expires", "never: sent without expiry, because there is no plugin"]);
  return fields;
}

function stateOf({ state }: DocumentRecord, terminal: Terminal): string {
  return terminal.paint(STATE_STYLES[state], state);
}

/** When it is looked at next, and by what. */
function nextOf(record: DocumentRecord, now: number): string | null {
  const { state, nextAttemptAt, error, retry } = record;
  if (state === "converted") return null;
  if (state === "failed")
    return retry === null
      ? "nothing: the file is gone"
      : "you: run scanferry retry to send it again";
  if (ANYWAY_CODES.includes(error?.code ?? ""))
    return "when the file changes; scanferry retry --anyway sends it as it is";
  const failure = failureOf(error?.code ?? "");
  if (state === "held" && failure.person !== undefined) return `a person: ${failure.person}`;
  if (state === "held" && failure.fate === "hold" && failure.fixedBy.every((by) => by === "file"))
    return "when the file changes";
  if (nextAttemptAt === null) return state === "held" ? "when the missing part is there" : null;
  const what = {
    settling: "looked at",
    pending: "sent",
    uploading: "sent",
    inDoubt: "scanferry looks for it in the archive",
    uploaded: "scanferry asks whether it is CONVERTED",
    held: "tried again",
  }[state];
  // A moment that has passed is one the daemon has not come to yet.
  const when =
    nextAttemptAt <= now
      ? "next"
      : `${relativeText(nextAttemptAt, now)} (${timeText(nextAttemptAt)})`;
  return `${what} ${when}`;
}

function titleOf({ document }: Revision, current: Revision | undefined): string {
  return document.id === current?.document.id
    ? "history"
    : `history of an earlier revision (document ${document.documentId ?? "not archived"})`;
}

function historyLines(title: string, history: readonly HistoryRow[]): string[] {
  const rows = history.map(({ at, from, to, event, detail, times }) => [
    `  ${timeText(at)}`,
    from === to ? (to ?? "") : `${from ?? "-"} → ${to ?? "-"}`,
    event,
    printable(
      [detail ?? "", times === undefined || times < 2 ? "" : `(${times} times)`].join(" ").trim(),
    ),
  ]);
  return [title, ...table(rows)];
}

function attemptLines(attempts: readonly AttemptRow[]): string[] {
  const rows = attempts.map(({ startedAt, endedAt, folderId, sentName, outcome, documentId }) => [
    `  ${timeText(startedAt)}`,
    endedAt === null ? "" : `${((endedAt - startedAt) / 1000).toFixed(1)} s`,
    `folder ${folderId}`,
    printable(outcome ?? "under way"),
    documentId === null ? "" : `document ${documentId}`,
    printable(sentName),
  ]);
  return ["attempts", ...table(rows, [1])];
}
