/**
 * What the writer makes of rows: decided in memory over what is stored, and written afterwards, all at once
 * (write-change-set.ts). One call's changes are taken back alone when the writer refuses them.
 *
 * Where the numbers of new rows are not known before they are written, they have numbers below 0 until then.
 */
import type { Document } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";
import { invariant } from "../std/invariant.ts";
import type { RawPath } from "../std/raw-path.ts";
import { attemptEffect, begunAttempt } from "./attempt-effect.ts";
import { isInTheWay } from "./conflict.ts";
import type { DocumentCount } from "./document-counts.ts";
import { type HistoryLine, linesFor, type NumberedLine, numberOf } from "./history-line.ts";
import type { Alone, AttemptRow, Batch, NewDocument } from "./journal.ts";
import type { HookOutcome } from "./outbox-entry.ts";
import { firstRevision } from "./revision.ts";
import { type DirectoryPlace, placeKey, type Source } from "./source.ts";
import { RollbackLog, RollbackMap } from "./rollback-map.ts";
import type { UsageBucket } from "./usage-bucket.ts";

/** A row that was changed. */
export type ChangedRow = {
  /** As it is stored; undefined: it is new. */
  readonly before: Document | undefined;
  /** Null: removed. */
  readonly after: Document | null;
  /** What was changed of it. */
  readonly fields: Partial<Document>;
};

/** What is to be done to an attempt: to insert it (after removing an earlier one), end or drop it. */
export type AttemptEdit = {
  readonly document: number;
  readonly number: number;
  readonly isDropped: boolean;
  readonly opened: AttemptRow | undefined;
  readonly ended: Pick<AttemptRow, "endedAt" | "outcome" | "documentId"> | undefined;
};

export class ChangeSet {
  readonly source: Source;
  readonly #log = new RollbackLog();
  readonly rows = new RollbackMap<number, ChangedRow>(this.#log);
  readonly lines = new RollbackMap<string, NumberedLine & { readonly document: number }>(this.#log);
  readonly attempts = new RollbackMap<string, AttemptEdit>(this.#log);
  readonly forgotten = new RollbackMap<number, Document>(this.#log);
  /** Documents whose history goes. */
  readonly dropped = new RollbackMap<number, true>(this.#log);
  readonly usageBuckets: UsageBucket[] = [];
  readonly counts: DocumentCount[] = [];
  readonly batches = new RollbackMap<string, Batch>(this.#log);
  readonly told = new RollbackMap<number, { document: Document; outcome: HookOutcome; at: number }>(
    this.#log,
  );
  readonly fingerprints = new RollbackMap<
    string,
    DirectoryPlace & { readonly print: string | null }
  >(this.#log);
  /** Directories that may be empty now. */
  readonly tidied = new RollbackMap<string, DirectoryPlace>(this.#log);
  readonly droppedTombstones = new RollbackMap<string, { documentId: number; archiveId: number }>(
    this.#log,
  );
  readonly #lastLines = new RollbackMap<number, readonly NumberedLine[]>(this.#log);
  /** Where they were changed: the current row of a path, the row of a document of an archive; null: none. */
  readonly #current = new RollbackMap<string, number | null>(this.#log);
  readonly #owners = new RollbackMap<string, number | null>(this.#log);
  #next = 1;

  constructor(source: Source) {
    this.source = source;
  }

  /** Runs a call's changes; when they are refused nothing of them is kept. */
  run<T>(changes: () => T): T {
    const [usageBuckets, counts] = [this.usageBuckets.length, this.counts.length];
    try {
      return this.#log.run(changes);
    } catch (error) {
      this.usageBuckets.length = usageBuckets;
      this.counts.length = counts;
      throw error;
    }
  }

  read(id: number): Document | undefined {
    const changed = this.rows.get(id);
    return changed ? (changed.after ?? undefined) : this.source.row(id);
  }

  /** The current row of a path. */
  currentAt(mirrorId: number, dir: RawPath, name: RawPath): Document | undefined {
    const changed = this.#current.get(placeKey(mirrorId, dir, name));
    const id = changed === undefined ? this.source.currentAt(mirrorId, dir, name) : changed;
    return id == null ? undefined : this.read(id);
  }

  /** The new row; undefined where its path has a current row already. */
  insert(document: NewDocument): Document | undefined {
    const { mirrorId, dir, name } = document;
    this.#archiveOf(mirrorId);
    if (this.currentAt(mirrorId, dir, name)) return undefined;
    const id = this.source.nextId?.() ?? -this.#next++;
    return this.#put(undefined, firstRevision(id, document), {});
  }

  /** Compare-and-set: returns the row as it is then; throws where it has left the state it had in `before`. */
  update(before: Document, fields: Partial<Document>): Document {
    const row = this.read(before.id);
    invariant(row?.state === before.state, `document ${before.id} left ${before.state}`);
    return this.#put(row, { ...row, ...fields }, fields);
  }

  /** Removes the row; a row that superseded it supersedes its predecessor instead. */
  delete(document: Document): void {
    this.#move(document, undefined);
    this.#own(document, undefined);
    this.#set(document, null, {});
    this.#relink(document, document.supersedes);
  }

  /** What superseded the row does so no more: its file has left the path to whatever is there now. */
  unlink(document: Document): void {
    this.#relink(document, null);
  }

  /** Sets or, with null, forgets a directory's fingerprint. */
  setFingerprint(mirrorId: number, dir: RawPath, print: string | null): void {
    this.#archiveOf(mirrorId);
    if (print === null) this.tidyDirectory(mirrorId, dir);
    this.fingerprints.set(placeKey(mirrorId, dir), { mirrorId, dir, print });
  }

  /** Removes the directory's row when it has neither fingerprint nor documents. */
  tidyDirectory(mirrorId: number, dir: RawPath): void {
    this.tidied.set(placeKey(mirrorId, dir), { mirrorId, dir });
  }

  /** The other row of its archive that this document of the archive belongs to. */
  ownerOf(documentId: number, { id, mirrorId }: Document): number | undefined {
    const archiveId = this.#archiveOf(mirrorId);
    const changed = this.#owners.get(`${archiveId}:${documentId}`);
    const owner = changed === undefined ? this.source.ownerOf(documentId, archiveId) : changed;
    return owner === id ? undefined : (owner ?? undefined);
  }

  /** False when another daemon has taken the row, or another row keeps it from being `alone`. */
  mayClaim(document: Document, folderId: number, alone: Alone | undefined): boolean {
    if (this.source.isTaken(document.id)) return false;
    if (alone === undefined) return true;
    const archiveId = this.#archiveOf(document.mirrorId);
    const hinders = (other: Document | null | undefined) =>
      other != null &&
      isInTheWay(other, document, folderId, alone) &&
      this.#archiveOf(other.mirrorId) === archiveId;
    const stored = this.source.inTheWay(document, folderId, alone);
    return (
      !stored.some((id) => hinders(this.read(id))) &&
      !this.rows.values().some(({ after }) => hinders(after))
    );
  }

  /** Writes lines of a document's history that have their places. */
  writeLines(document: number, lines: readonly NumberedLine[]): void {
    const places = new Set(lines.map(({ number }) => number));
    const left = this.#linesOf(document).filter(({ number }) => !places.has(number));
    const last = [...lines, ...left].sort((a, b) => b.number - a.number).slice(0, 2);
    this.#lastLines.set(document, last);
    for (const line of lines) this.lines.set(`${document}:${line.number}`, { ...line, document });
  }

  /** Adds a line to the history of a row, as it was before it; a repetition of its last one is counted there. */
  tell({ id, ordinary, state }: Document, line: HistoryLine): void {
    const [last, before] = this.#linesOf(id);
    this.writeLines(id, linesFor(line, last, before, ordinary ? numberOf(state) + 1 : 1));
  }

  /** Lets go of a document's history. */
  dropHistory(document: number): void {
    this.dropped.set(document, true);
  }

  /** Remembers where the file of a row was that is about to be forgotten. */
  rememberForgotten(document: Document): void {
    this.forgotten.set(document.id, document);
  }

  /** Writes the document's attempt of this number. */
  writeAttempt(document: number, number: number, opened: AttemptRow): void {
    const key = `${document}:${number}`;
    const isDropped = this.attempts.get(key)?.isDropped ?? false;
    this.attempts.set(key, { document, number, isDropped, opened, ended: undefined });
  }

  /** What `event`, which led from `from` to `document`, does to the document's attempt. */
  attempt(from: Document, document: Document, event: Event): void {
    const effect = attemptEffect(from.state, event);
    if (!effect) return;
    const { id } = from;
    const number = effect.type === "drop" ? from.attempts : document.attempts;
    const key = `${id}:${number}`;
    const none = { document: id, number, isDropped: false, opened: undefined, ended: undefined };
    const edit = this.attempts.get(key) ?? none;
    if (effect.type === "open") this.writeAttempt(id, number, begunAttempt(document, event.at));
    else if (effect.type === "drop") this.attempts.set(key, { ...none, isDropped: true });
    else this.attempts.set(key, { ...edit, ended: effect });
  }

  /** Lets go of the tombstone of a document of the mirror's archive; false: there was none. */
  dropTombstone(documentId: number, mirrorId: number): boolean {
    const archiveId = this.#archiveOf(mirrorId);
    const key = `${archiveId}:${documentId}`;
    const isDropped = this.droppedTombstones.get(key) !== undefined;
    if (isDropped || !this.source.hasTombstone(documentId, archiveId)) return false;
    this.droppedTombstones.set(key, { documentId, archiveId });
    return true;
  }

  /** Inserts or updates a batch; one that has its receipt lacks it again. */
  setBatch(batch: Batch): void {
    this.#archiveOf(batch.mirrorId);
    this.batches.set(batch.id, batch);
  }

  /** Keeps an outcome where its mirror has an `after` hook. */
  keepOutcome(document: Document, outcome: HookOutcome, at: number): void {
    if (this.source.mirror(document.mirrorId)?.tells)
      this.told.set(this.#next++, { document, outcome, at });
  }

  /** What superseded a row supersedes `supersedes` from now on. */
  #relink({ id }: Document, supersedes: number | null): void {
    const changed = this.rows.values().map(({ after }) => after);
    const stored = this.source.successors(id).map((successor) => this.read(successor));
    for (const row of [...stored, ...changed])
      if (row?.supersedes === id) this.#set(row, { ...row, supersedes }, { supersedes });
  }

  /** Sets a row that is `now` so. */
  #set(now: Document, after: Document | null, fields: Partial<Document>): void {
    const earlier = this.rows.get(now.id);
    this.rows.set(
      now.id,
      earlier
        ? { before: earlier.before, after, fields: { ...earlier.fields, ...fields } }
        : { before: now, after, fields },
    );
  }

  #archiveOf(mirrorId: number): number {
    const mirror = this.source.mirror(mirrorId);
    invariant(mirror, `no mirror ${mirrorId}`);
    return mirror.archiveId;
  }

  #linesOf(id: number): readonly NumberedLine[] {
    return this.#lastLines.get(id) ?? (id < 0 ? [] : this.source.lastLines(id));
  }

  #put(before: Document | undefined, after: Document, fields: Partial<Document>): Document {
    const { current, mirrorId, dir, name } = after;
    const isThere = before?.mirrorId === mirrorId && before.dir === dir && before.name === name;
    if (before?.current !== current || !isThere) this.#move(before, after);
    if (before?.documentId !== after.documentId || before.duplicateOf !== after.duplicateOf)
      this.#own(before, after);
    if (before) this.#set(before, after, fields);
    else this.rows.set(after.id, { before, after, fields });
    return after;
  }

  #move(before: Document | undefined, after: Document | undefined): void {
    for (const [row, id] of [[before, null] as const, [after, after?.id ?? null] as const])
      if (row?.current) this.#current.set(placeKey(row.mirrorId, row.dir, row.name), id);
  }

  #own(before: Document | undefined, after: Document | undefined): void {
    for (const [row, id] of [[before, null] as const, [after, after?.id ?? null] as const]) {
      if (row?.documentId == null || row.duplicateOf !== null) continue;
      this.#owners.set(`${this.#archiveOf(row.mirrorId)}:${row.documentId}`, id);
    }
  }
}
