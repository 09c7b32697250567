import type { Document } from "../../domain/document.ts";
import type { Event } from "../../domain/life.ts";
import { invariant } from "../../std/fault.ts";
import type { RawPath } from "../../std/raw-path.ts";
import { attemptEffect, begunAttempt } from "../attempt-effect.ts";
import type { UnitOfWork } from "../unit-of-work.ts";
import { linesFor, type NumberedLine, numberOf } from "../history-line.ts";
import type { Alone, AttemptRow, Batch, NewDocument } from "../journal.ts";
import { firstRevision } from "../revision.ts";
import type { DocumentCount } from "../document-counts.ts";
import type { UsageBucket } from "../usage-bucket.ts";
import type { HookOutcome } from "../outbox-entry.ts";
import { RollbackLog, RollbackMap } from "./rollback-map.ts";

/**
 * Rows as they were read, and what the writer makes of them: decided in memory, and written
 * afterwards, many at once. One call's changes are taken back alone when the writer refuses them.
 *
 * New rows have numbers below 0 until they are written.
 */

/** A row that was read. */
export type LoadedRow = {
  readonly document: Document;
  readonly dirId: number;
  /** The last lines of its history: none, one, or the two of which another one may be the repetition. */
  readonly lines: readonly NumberedLine[];
  /** Another living instance has it in hand. */
  readonly isTaken: boolean;
};

/** All that the changes of a group can need to be decided. */
export type Loaded = {
  readonly rows: readonly LoadedRow[];
  readonly mirrors: ReadonlyMap<number, { readonly archiveId: number; readonly tells: boolean }>;
  /** Documents of archives that rows have, next to those in `rows`. */
  readonly owned: readonly { id: number; documentId: number; archiveId: number }[];
  readonly tombstones: readonly { documentId: number; archiveId: number }[];
  /** Directories whose numbers are known. */
  readonly directories: readonly { id: number; mirrorId: number; dir: RawPath }[];
};

/** What is to be done to an attempt: to insert it (after removing an earlier one), end or drop it. */
export type AttemptEdit = {
  readonly document: number;
  readonly number: number;
  readonly isDropped: boolean;
  readonly opened: AttemptRow | undefined;
  readonly ended:
    | { readonly at: number | null; readonly outcome: string; readonly documentId: number | null }
    | undefined;
};

/** A directory of a mirror. */
export type DirectoryPlace = { readonly mirrorId: number; readonly dir: RawPath };

/** A key for a directory, or with `name` for a place in one. */
export function placeKey(mirrorId: number, dir: RawPath, name = ""): string {
  return `${mirrorId}:${dir.length}:${dir}/${name}`;
}

export class ChangeSet implements UnitOfWork {
  readonly loaded: ReadonlyMap<number, LoadedRow>;
  readonly mirrors: Loaded["mirrors"];
  readonly #log = new RollbackLog();
  /** Rows as they will be; null: removed. */
  readonly rows: RollbackMap<number, Document | null>;
  readonly news = new RollbackMap<number, NewDocument>(this.#log);
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
  /** The last one, then the one before that. */
  readonly #lastLines: RollbackMap<number, readonly NumberedLine[]>;
  readonly #current: RollbackMap<string, number>;
  readonly #owners: RollbackMap<string, number>;
  readonly #tombstones: RollbackMap<string, true>;
  #next = 1;

  constructor({ rows, mirrors, owned, tombstones }: Loaded) {
    const log = this.#log;
    this.mirrors = mirrors;
    this.loaded = new Map(rows.map((row) => [row.document.id, row]));
    this.rows = new RollbackMap(
      log,
      rows.map(({ document }) => [document.id, document]),
    );
    this.#lastLines = new RollbackMap(
      log,
      rows.map(({ document, lines }) => [document.id, lines]),
    );
    this.#current = new RollbackMap(log);
    this.#owners = new RollbackMap(
      log,
      owned
        .filter(({ id }) => !this.loaded.has(id))
        .map(({ id, documentId, archiveId }) => [`${archiveId}:${documentId}`, id]),
    );
    this.#tombstones = new RollbackMap(
      log,
      tombstones.map(({ documentId, archiveId }) => [`${archiveId}:${documentId}`, true]),
    );
    for (const { document } of rows) this.#enter(document);
  }

  /** Runs a call's changes; when they are refused nothing of them is kept. */
  run<T>(changes: () => T): T {
    return this.#log.run(changes);
  }

  readonly documents: UnitOfWork["documents"] = {
    read: (id) => this.rows.get(id) ?? undefined,
    currentAt: (mirrorId, dir, name) => {
      const id = this.#current.get(placeKey(mirrorId, dir, name));
      return id === undefined ? undefined : (this.rows.get(id) ?? undefined);
    },
    insert: (document) => {
      const { mirrorId, dir, name } = document;
      this.#archiveOf(mirrorId);
      if (this.#current.has(placeKey(mirrorId, dir, name))) return undefined;
      const row = firstRevision(-this.#next++, document);
      this.news.set(row.id, document);
      return this.#put(row);
    },
    update: (before, fields) => {
      const row = this.rows.get(before.id);
      invariant(row?.state === before.state, `document ${before.id} left ${before.state}`);
      this.#leave(row);
      return this.#put({ ...row, ...fields });
    },
    delete: (document) => {
      this.#leave(document);
      this.rows.set(document.id, null);
      this.#relink(document, document.supersedes);
    },
    unlink: (document) => this.#relink(document, null),
    setFingerprint: (mirrorId, dir, print) => {
      const key = placeKey(mirrorId, dir);
      if (print !== null) this.#archiveOf(mirrorId);
      this.fingerprints.set(key, { mirrorId, dir, print });
      if (print === null) this.tidied.set(key, { mirrorId, dir });
    },
    tidyDirectory: (mirrorId, dir) => {
      this.tidied.set(placeKey(mirrorId, dir), { mirrorId, dir });
    },
    ownerOf: (documentId, { id, mirrorId }) => {
      const owner = this.#owners.get(`${this.#archiveOf(mirrorId)}:${documentId}`);
      return owner === id ? undefined : owner;
    },
    mayClaim: (document, folderId, alone) =>
      this.loaded.get(document.id)?.isTaken !== true &&
      (alone === undefined || !this.#isHindered(document, folderId, alone)),
  };

  readonly records: UnitOfWork["records"] = {
    write: (document, lines) => this.#write(document, lines),
    tell: ({ id, ordinary, state }, line) => {
      const [last, before] = this.#lastLines.get(id) ?? [];
      this.#write(id, linesFor(line, last, before, ordinary ? numberOf(state) + 1 : 1));
    },
    drop: (document) => this.dropped.set(document, true),
    rememberForgotten: (document) => this.forgotten.set(document.id, document),
    writeAttempt: (document, number, attempt) => this.#writeAttempt(document, number, attempt),
    attempt: (from, document, event) => this.#attempt(from, document, event),
    dropTombstone: (documentId, mirrorId) => {
      const archiveId = this.#archiveOf(mirrorId);
      const key = `${archiveId}:${documentId}`;
      if (!this.#tombstones.delete(key)) return false;
      this.droppedTombstones.set(key, { documentId, archiveId });
      return true;
    },
  };

  readonly activity: UnitOfWork["activity"] = {
    add: (usageBucket) => this.usageBuckets.push(usageBucket),
    count: (count) => this.counts.push(count),
    setBatch: (batch) => {
      this.#archiveOf(batch.mirrorId);
      this.batches.set(batch.id, batch);
    },
  };

  readonly outboxEntries: UnitOfWork["outboxEntries"] = {
    add: (document, outcome, at) => {
      if (this.mirrors.get(document.mirrorId)?.tells)
        this.told.set(this.#next++, { document, outcome, at });
    },
  };

  /** What superseded a row supersedes `supersedes` from now on. */
  #relink({ id }: Document, supersedes: number | null): void {
    for (const row of this.rows.values())
      if (row?.supersedes === id) this.rows.set(row.id, { ...row, supersedes });
  }

  #archiveOf(mirrorId: number): number {
    const mirror = this.mirrors.get(mirrorId);
    invariant(mirror, `no mirror ${mirrorId}`);
    return mirror.archiveId;
  }

  #put(document: Document): Document {
    this.rows.set(document.id, document);
    this.#enter(document);
    return document;
  }

  #enter({ id, mirrorId, dir, name, current, documentId, duplicateOf }: Document): void {
    if (current) this.#current.set(placeKey(mirrorId, dir, name), id);
    if (documentId !== null && duplicateOf === null)
      this.#owners.set(`${this.#archiveOf(mirrorId)}:${documentId}`, id);
  }

  #leave({ id, mirrorId, dir, name, documentId }: Document): void {
    const place = placeKey(mirrorId, dir, name);
    if (this.#current.get(place) === id) this.#current.delete(place);
    const owned = `${this.#archiveOf(mirrorId)}:${documentId}`;
    if (this.#owners.get(owned) === id) this.#owners.delete(owned);
  }

  #isHindered(document: Document, folderId: number, alone: Alone): boolean {
    const archiveId = this.#archiveOf(document.mirrorId);
    return this.rows
      .values()
      .some(
        (other) =>
          other !== null &&
          this.#archiveOf(other.mirrorId) === archiveId &&
          isInTheWay(other, document, folderId, alone),
      );
  }

  #write(document: number, lines: readonly NumberedLine[]): void {
    const places = new Set(lines.map(({ number }) => number));
    const left = (this.#lastLines.get(document) ?? []).filter(({ number }) => !places.has(number));
    const last = [...lines, ...left].sort((a, b) => b.number - a.number).slice(0, 2);
    this.#lastLines.set(document, last);
    for (const line of lines) this.lines.set(`${document}:${line.number}`, { ...line, document });
  }

  #writeAttempt(document: number, number: number, opened: AttemptRow): void {
    const key = `${document}:${number}`;
    const isDropped = this.attempts.get(key)?.isDropped ?? false;
    this.attempts.set(key, { document, number, isDropped, opened, ended: undefined });
  }

  #attempt(from: Document, document: Document, event: Event): void {
    const effect = attemptEffect(from.state, event);
    if (!effect) return;
    const { id } = from;
    const number = effect.type === "drop" ? from.attempts : document.attempts;
    const key = `${id}:${number}`;
    const none = { document: id, number, isDropped: false, opened: undefined, ended: undefined };
    const edit = this.attempts.get(key) ?? none;
    if (effect.type === "open") this.#writeAttempt(id, number, begunAttempt(document, event.at));
    else if (effect.type === "drop") this.attempts.set(key, { ...none, isDropped: true });
    else {
      const { endedAt: at, outcome, documentId } = effect;
      this.attempts.set(key, { ...edit, ended: { at, outcome, documentId } });
    }
  }
}

/** Which rows keep another from being sent, as `DocumentsTable.mayClaim` has it for SQLite. */

/** True when `other`, of the same archive, keeps `document` from being claimed `alone` into a folder. */
function isInTheWay(other: Document, document: Document, folderId: number, alone: Alone): boolean {
  if (other.id === document.id) return false;
  const isSending = other.state === "uploading" || other.state === "inDoubt";
  if (
    (isSending || other.doubtAt !== null) &&
    other.folderId === folderId &&
    other.sentName === document.sentName
  )
    return true;
  return (
    alone === "nameAndContent" &&
    isSending &&
    other.mirrorId === document.mirrorId &&
    other.digest === document.digest
  );
}
