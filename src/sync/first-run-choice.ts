/**
 * What a user decides of single documents that the archive may have (`FIRST_RUN`), while the daemon runs: that one is in
 * the archive, or that it is new. Nothing is decided of a document that is not as the user saw it.
 */
import type { Document } from "../domain/document.ts";
import type { Change, Journal, MirrorRow } from "../journal/journal.ts";
import { Fault } from "../std/fault.ts";
import { adopting, type AdoptionMatch, asNew } from "./adopter.ts";
import { conflictsOf } from "./foreign-documents.ts";
import { type Looking, lookInArchives } from "./look-in-archives.ts";

/** A document as a user saw it, with the SHA-256 of its content. */
export type ShownDocument = { readonly id: number; readonly digest: string };

/** Of the documents that a user decided about: how many it was done for, and why not for the others. */
export type ChoiceOutcome = {
  readonly documents: number;
  /** The archive has none, or more than one that it may be. */
  readonly unclear: number;
  /** They are not as the user saw them any more. */
  readonly changed: number;
};

/** All files that wait are compared, and held in memory for it: of more, `adopt` is to be run. */
const WAITING_MAX = 20_000;

/** Has them sent although the archive may have them: in one transaction, each this content alone. */
export async function sendAsNew(
  journal: Journal,
  shown: readonly ShownDocument[],
  at: number,
): Promise<ChoiceOutcome> {
  const rows = await asShown(journal, shown);
  const changes = rows.flatMap((row) => asNew(row, at));
  const documents = await applied(journal, rows, changes, "pending");
  return { documents, unclear: 0, changed: shown.length - documents };
}

/**
 * Claims what the archive has of them, as `scanferry adopt` does: of all files that wait, these alone, in one
 * transaction. What it would leave to a user stays held. Rejects with `ArchiveError`, and with the Fault
 * `TOO_MANY_WAIT`.
 */
export async function adoptShown(
  looking: Looking,
  shown: readonly ShownDocument[],
  signal: AbortSignal,
): Promise<ChoiceOutcome> {
  const { journal, clock } = looking;
  const before = await asShown(journal, shown);
  const { found, isTooMany } = await lookInArchives(
    { ...looking, waitingMax: WAITING_MAX },
    signal,
  );
  if (isTooMany)
    throw new Fault(
      "TOO_MANY_WAIT",
      `more than ${WAITING_MAX} files wait to be sent`,
      "Stop scanferry, run `scanferry adopt`, and start it again.",
    );
  const rows = await asShown(journal, shown);
  const ids = new Set(rows.map(({ id }) => id));
  const matches = found.filter(({ document }) => ids.has(document.id));
  const mirrors = await journal.mirrors();
  const free: AdoptionMatch[] = [];
  for (const match of matches) if (await isFree(journal, mirrors, match)) free.push(match);
  const at = clock.now();
  const changes = free.flatMap((match) => adopting(match, at));
  const chosen = rows.filter(({ id }) => free.some(({ document }) => document.id === id));
  const documents = await applied(journal, chosen, changes, "uploaded");
  const isKept = before.filter(({ id }) => ids.has(id)).length;
  return { documents, unclear: isKept - documents, changed: shown.length - isKept };
}

/**
 * Nothing else that was sent meanwhile is what the archive shows: first what is under way is asked for, and then what has
 * arrived, as it goes from the one to the other.
 */
async function isFree(
  journal: Journal,
  mirrors: readonly MirrorRow[],
  { document, taken }: AdoptionMatch,
): Promise<boolean> {
  const mirror = mirrors.find(({ id }) => id === document.mirrorId);
  if (!taken || !mirror) return false;
  const own = journal.of(mirror.archiveId);
  if ((await conflictsOf(own, document, [taken])).length > 0) return false;
  return !(await own.claimed([taken.id])).has(taken.id);
}

/** The rows of these documents that are still held, with the content that was shown. */
async function asShown(journal: Journal, shown: readonly ShownDocument[]): Promise<Document[]> {
  const rows: Document[] = [];
  for (const { id, digest } of shown) {
    const row = await journal.document(id);
    const isHeld = row?.state === "held" && row.problem?.code === "FIRST_RUN";
    if (isHeld && row.digest === digest && row.current && row.goneAt === null) rows.push(row);
  }
  return rows;
}

/** Resolves with how many of the rows came into that state; one that changed meanwhile is left alone. */
async function applied(
  journal: Journal,
  rows: readonly Document[],
  changes: readonly Change[],
  state: Document["state"],
): Promise<number> {
  const stamps = new Map(rows.map(({ id, seen }) => [id, seen.stamp]));
  const asSeen = changes.flatMap((change) => {
    const stamp = "id" in change ? stamps.get(change.id) : undefined;
    if (stamp === undefined || (change.type !== "event" && change.type !== "note")) return [];
    return [{ ...change, given: { id: change.id, stamp } }];
  });
  const outcome = await journal.apply(asSeen);
  return outcome.filter(({ skipped, document }) => !skipped && document?.state === state).length;
}
