import type { Document } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import { ANYWAY, UNFINISHED_CODES } from "../domain/settle.ts";
import { ATTRIBUTE_CODES, FOLDER_CODES } from "../domain/code-sets.ts";
import type { Change, DocumentWriter, Documents, Journal, WorkQueue } from "../journal/journal.ts";

/** Rows of one commit. */
const CHUNK = 500;

/** What the history says of a file that is sent although it looks unfinished. */
const ASKED = "asked to be sent as it is, although it looks unfinished";

/**
 * Problems that an attempt met, or a row waited for, and that say nothing of its document: they are over once
 * it is pending again, or are just as well another document's.
 */
const PASSING_CODES: readonly string[] = [
  "ARCHIVE_CLOSED",
  "ARCHIVE_TIMEOUT",
  "FIRST_RUN",
  "LEASE_OVER",
  "SEND_ABORTED",
  "SIGNING_FAILED",
  "SOURCE_OFFLINE",
];

/**
 * The changes that put a held or failed row back in the queue; none for any other state. With `anyway`, one
 * that looks unfinished, held or not yet, is sent as it is: this content, and no other.
 */
export function retryOf(document: Document, at: number, anyway = false): Change[] {
  const { id, state, problem, seen } = document;
  const change = backInQueue(document, at);
  if (!anyway || !UNFINISHED_CODES.includes(problem?.code ?? "")) return change ? [change] : [];
  const given = { id, stamp: seen.stamp };
  const set = { remark: ANYWAY, dueAt: at };
  const note: Change = { type: "note", id, at, why: ASKED, set, from: ["settling"], given };
  if (state === "settling") return [note];
  return change ? [{ ...change, given }, note] : [];
}

/**
 * What `scanferry retry` does to a row: it is put back in the queue, where its account is refused by probing that; its
 * file is moved or deleted at once; or it is sent with `--anyway` alone. Null: nothing.
 */
export type Retry = "queue" | "afterAction" | "anyway" | null;

/** Says so; `retryOf` and `afterActionNow` do it. */
export function retryDoes(document: Document): Retry {
  if (retryOf(document, 0).length > 0) return "queue";
  if (retryOf(document, 0, true).length > 0) return "anyway";
  return isPutOff(document) ? "afterAction" : null;
}

/** What there is to do about its problem, without what would do nothing: to retry what is not held or failed. */
export function hintOf(document: Document): string {
  const { hint } = failureOf(document.problem?.code ?? "");
  const does = retryDoes(document);
  if (does === "queue" || does === "anyway") return hint;
  const rest = hint.split(/(?<=[.;]) /u).filter((part) => !part.includes("scanferry retry"));
  return rest.join(" ").replace(/;$/u, ".");
}

/** Its file could not be moved or deleted, and that is tried again. */
function isPutOff({ state, after, afterMessage }: Document): boolean {
  return (state === "converted" || state === "held") && after === "due" && afterMessage !== null;
}

function backInQueue(
  document: Document,
  at: number,
): Extract<Change, { type: "event" }> | undefined {
  const { id, state, goneAt, doubtAt } = document;
  // What may be in the archive can be looked for; else there is nothing to send.
  if (goneAt !== null && doubtAt === null) return undefined;
  if (state === "held" && isPlacedAgain(document)) return recheck(document, at);
  if (state === "held") return goOn(document, at);
  if (state !== "failed") return undefined;
  const type = isDecidedAgain(document) ? "recheck" : "goesOn";
  return { type: "event", id, event: { type, at }, from: ["failed"] };
}

/** Documents by their ids, or all in a state with a code. */
export type Chosen =
  | readonly number[]
  | { readonly state: "held" | "failed" | "settling"; readonly code: string };

/**
 * Puts these rows back in the queue, as `retryOf` does each; what it has nothing for stays as it is. Resolves with how
 * many documents it changed.
 */
export async function retryAll(
  journal: Documents,
  chosen: Chosen,
  at: number,
  anyway = false,
): Promise<number> {
  const ids: number[] = [];
  // Ids first: what is listed must not change under the list.
  if ("state" in chosen) for await (const { id } of journal.list(chosen)) ids.push(id);
  else ids.push(...chosen);
  let documents = 0;
  for (let from = 0; from < ids.length; from += CHUNK) {
    const changes: Change[] = [];
    for (const id of ids.slice(from, from + CHUNK)) {
      const document = await journal.document(id);
      if (document) changes.push(...retryOf(document, at, anyway));
    }
    const applied = await journal.apply(changes);
    documents += new Set(applied.flatMap((one) => (one.skipped ? [] : (one.document?.id ?? []))))
      .size;
  }
  return documents;
}

/** The changes of all these, some of them a commit. */
export async function applyEach<Item>(
  journal: DocumentWriter,
  all: readonly Item[],
  changesOf: (each: Item) => readonly Change[],
): Promise<void> {
  for (let from = 0; from < all.length; from += CHUNK)
    await journal.apply(all.slice(from, from + CHUNK).flatMap(changesOf));
}

/** Has what looks unfinished looked at again: what was missing may be there, or what stood next to it gone. */
export async function lookAgainNow(journal: Documents, at: number): Promise<void> {
  const again = { type: "note", at, why: "a pass looks at it again", set: { dueAt: at } } as const;
  const changes: Change[] = [];
  for await (const { id } of journal.list({ state: "settling", code: "FILE_UNFINISHED" }))
    changes.push({ ...again, id, from: ["settling"] });
  while (changes.length > 0) await journal.apply(changes.splice(0, CHUNK));
}

/**
 * Has the files moved or deleted at once that could not be and are tried again, and of which `isMeant` is true;
 * resolves with how many.
 */
export async function afterActionNow(
  journal: Journal,
  isMeant: (document: Document) => boolean,
  at: number,
): Promise<number> {
  let number = 0;
  const why = "after-action asked for";
  for (const { id } of await journal.archives())
    number += await afterActionAll(journal.of(id), isMeant, at, why);
  return number;
}

/** The same of one archive, as `why` says. */
export async function afterActionAll(
  journal: DocumentWriter & WorkQueue,
  isMeant: (document: Document) => boolean,
  at: number,
  why: string,
): Promise<number> {
  let number = 0;
  let last: Document | undefined;
  do {
    const found = await journal.afterPending(CHUNK, last);
    const meant = found.filter(isMeant);
    const later = meant.filter(({ dueAt }) => (dueAt ?? 0) > at);
    if (later.length > 0) await journal.apply(later.map((row) => afterActionAt(row, at, why)));
    number += meant.length;
    last = found.length < CHUNK ? undefined : found.at(-1);
  } while (last);
  return number;
}

/** The change by which a file that was put off is moved or deleted at `at`. */
export function afterActionAt({ id, state }: Document, at: number, why: string): Change {
  return { type: "note", id, at, why, set: { dueAt: at }, from: [state] };
}

/** It waits for a folder: where it belongs may have been decided by a `target` that was fixed since. */
function isPlacedAgain({ problem, doubtAt, documentId }: Document): boolean {
  const isPlace = FOLDER_CODES.includes(problem?.code ?? "");
  return isPlace && doubtAt === null && documentId === null;
}

/** What of a held row says how it goes on. */
type Held = Pick<Document, "id" | "digest" | "problem" | "doubtAt" | "documentId">;

/** The archive took exception to what goes with it, and has nothing of it. */
function isDecidedAgain({ problem, doubtAt, documentId }: Held): boolean {
  const isAttributes = ATTRIBUTE_CODES.includes(problem?.code ?? "");
  return isAttributes && doubtAt === null && documentId === null;
}

/** The change by which a file is looked at, and decided, again. */
export function recheck(
  { id, state }: Pick<Document, "id" | "state">,
  at: number,
): Extract<Change, { type: "event" }> {
  return { type: "event", id, event: { type: "recheck", at }, from: [state] };
}

/**
 * The change by which a held row goes on where it was held: in doubt, before it was settled, or
 * ready to be sent.
 */
export function goOn(document: Held, at: number): Extract<Change, { type: "event" }> {
  const { id, doubtAt, digest } = document;
  const again = digest === null || isDecidedAgain(document);
  const type = doubtAt !== null ? "lookAgain" : again ? "recheck" : "goesOn";
  return { type: "event", id, event: { type, at }, from: ["held"] };
}

/**
 * A person asked: rows that wait behind the gate do not go through it, so the gate is probed at
 * once instead, that of every archive.
 */
export async function probeNow(journal: Journal, at: number): Promise<void> {
  for (const { id } of await journal.archives()) {
    const own = journal.of(id);
    const gate = await own.gate();
    if (gate.closedAt !== null) await own.setGate({ ...gate, nextProbeAt: at });
  }
}

/** True when a row is held by the account's gate, not by anything of its own. */
export function isBehindGate(document: Document): boolean {
  const { state, problem } = document;
  return state === "held" && problem !== null && failureOf(problem.code).fate === "gate";
}

/**
 * True when the last attempt to send a row met something of its own, which another attempt would soon
 * meet again. A folder is not that: who waits for one goes on once it is there.
 */
export function hasOwnProblem({ attempts, problem, doubtAt, digest }: Document): boolean {
  if (problem === null || attempts === 0 || doubtAt !== null || digest === null) return false;
  const isOver = [...FOLDER_CODES, ...PASSING_CODES].includes(problem.code);
  return !isOver && failureOf(problem.code).fate === "hold";
}
