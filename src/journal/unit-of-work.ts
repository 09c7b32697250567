import type { Document } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";
import type { RawPath } from "../std/raw-path.ts";
import type { HistoryLine, NumberedLine } from "./history-line.ts";
import type { Alone, AttemptRow, Batch, NewDocument } from "./journal.ts";
import { type DocumentCount, summedCounts } from "./document-counts.ts";
import { summed, type UsageBucket } from "./usage-bucket.ts";
import type { HookOutcome } from "./outbox-entry.ts";

/**
 * What the writer reads and writes: SQLite's tables themselves, or rows of PostgreSQL that were read
 * before and are written afterwards. Decides nothing; the writer does.
 */

/** What there is to read and write, by what it is about; all of it within one transaction. */
export interface UnitOfWork {
  readonly documents: {
    read(id: number): Document | undefined;
    /** The current row of a path. */
    currentAt(mirrorId: number, dir: RawPath, name: RawPath): Document | undefined;
    /** The new row; undefined where its path has a current row already. */
    insert(document: NewDocument): Document | undefined;
    /** Compare-and-set: returns the row as it is then; throws where it has left the state it had in `before`. */
    update(before: Document, fields: Partial<Document>): Document;
    /** Removes the row; a row that superseded it supersedes its predecessor instead. */
    delete(document: Document): void;
    /** What superseded the row does so no more: its file has left the path to whatever is there now. */
    unlink(document: Document): void;
    /** Sets or, with null, forgets a directory's fingerprint. */
    setFingerprint(mirrorId: number, dir: RawPath, fingerprint: string | null): void;
    /** Removes the directory's row when it has neither fingerprint nor documents. */
    tidyDirectory(mirrorId: number, dir: RawPath): void;
    /** The other row of its archive that this document of the archive belongs to. */
    ownerOf(documentId: number, document: Document): number | undefined;
    /** False when another daemon has taken the row, or another row keeps it from being `alone`. */
    mayClaim(document: Document, folderId: number, alone: Alone | undefined): boolean;
  };
  readonly records: {
    /** Writes lines of a document's history that have their places. */
    write(document: number, lines: readonly NumberedLine[]): void;
    /** Adds a line to the history of a row, as it was before it; a repetition of its last one is counted there. */
    tell(row: Document, line: HistoryLine): void;
    /** Lets go of a document's history. */
    drop(document: number): void;
    /** Remembers where the file of a row was that is about to be forgotten. */
    rememberForgotten(document: Document): void;
    /** Writes the document's attempt of this number. */
    writeAttempt(document: number, number: number, attempt: AttemptRow): void;
    /** What `event`, which led from `from` to `document`, does to the document's attempt. */
    attempt(from: Document, document: Document, event: Event): void;
    /** Lets go of the tombstone of a document of the mirror's archive; false: there was none. */
    dropTombstone(documentId: number, mirrorId: number): boolean;
  };
  readonly activity: {
    /** Adds to the usage bucket of its mirror and time. */
    add(usageBucket: UsageBucket): void;
    /** Adds to the count of its mirror and state. */
    count(count: DocumentCount): void;
    /** Inserts or updates a batch. */
    setBatch(batch: Batch): void;
  };
  readonly outboxEntries: {
    /** Keeps an outcome where its mirror has an `after` hook. */
    add(document: Document, outcome: HookOutcome, at: number): void;
  };
}

/** Sums that many sets of changes add to; the row of each is written once for all that are written together. */

export class SharedRows {
  #usageBuckets: UsageBucket[] = [];
  #counts: DocumentCount[] = [];

  /** Runs a set of changes; where it throws, nothing that it added stays. */
  within<T>(run: () => T): T {
    const [usageBuckets, counts] = [this.#usageBuckets.length, this.#counts.length];
    try {
      return run();
    } catch (error) {
      this.#usageBuckets.length = usageBuckets;
      this.#counts.length = counts;
      throw error;
    }
  }

  use(usageBuckets: readonly UsageBucket[]): void {
    this.#usageBuckets.push(...usageBuckets);
  }

  count(counts: readonly DocumentCount[]): void {
    this.#counts.push(...counts);
  }

  /** Writes what was added since the last time. */
  writeTo(activity: UnitOfWork["activity"]): void {
    for (const usageBucket of summed(this.#usageBuckets)) activity.add(usageBucket);
    for (const count of summedCounts(this.#counts)) activity.count(count);
    this.clear();
  }

  /** Forgets the same. */
  clear(): void {
    this.#usageBuckets = [];
    this.#counts = [];
  }
}
