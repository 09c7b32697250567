import type { Document, State } from "../domain/document.ts";
import type { RawPath } from "../std/raw-path.ts";
import type {
  Applied,
  AttemptRow,
  Batch,
  BatchProgress,
  Change,
  Content,
  Duplicates,
  DueQuery,
  GateRow,
  HistoryRow,
  Known,
  ListQuery,
  MirrorRow,
  PaceRow,
  Unreceipted,
  WaitingFolder,
} from "./rows.ts";
import type { Tally } from "./tally.ts";
import type { Remembered, Tidied, TidyRequest } from "./tidiness.ts";

export type * from "./rows.ts";

/**
 * The journal: every file that was ever seen, what became of it, and what is to be done next.
 *
 * - Every method is asynchronous. A promise of a writing method resolves when the write is durable
 *   (it would survive a power cut), not before.
 * - Writes issued together may share one commit; they take effect in the order they were issued,
 *   and one call's changes are applied together or not at all.
 * - A write that the disk refuses rejects with a `Fault` (`JOURNAL_FULL`, `JOURNAL_BROKEN`,
 *   `JOURNAL_READ_ONLY`); after a failed sync the journal refuses everything: the process must end.
 * - `state` is written by `apply` alone.
 */
export interface Journal extends AsyncDisposable {
  /** The mirror's row, made if missing. A mirror is known by its name. */
  mirror(name: string, source: string): Promise<MirrorRow>;
  mirrors(): Promise<MirrorRow[]>;
  /** Remembers the file system a mirror's source is on. */
  setDevice(mirrorId: number, device: string): Promise<void>;
  /** Ids of the mirrors whose first run is not over: the archive may hold their files already. */
  firstRuns(): Promise<number[]>;
  endFirstRun(mirrorId: number, at: number): Promise<void>;

  apply(changes: readonly Change[]): Promise<Applied[]>;

  /** Directories of a mirror with the fingerprint of their last journaled listing. */
  directories(mirrorId: number): Promise<[dir: RawPath, fingerprint: string][]>;
  /** Current rows directly in a directory: one range query. */
  rowsIn(mirrorId: number, dir: RawPath): Promise<Known[]>;
  /** Current rows at and below a directory. */
  rowsBelow(mirrorId: number, dir: RawPath): Promise<Known[]>;

  document(id: number): Promise<Document | undefined>;
  /** The current row of a path. */
  currentAt(mirrorId: number, path: RawPath): Promise<Document | undefined>;
  /** Rows of a mirror in a sent state with this digest, oldest first. */
  sentWith(mirrorId: number, digest: string): Promise<Document[]>;
  /** Rows that are due, the longest due first. */
  due(query: DueQuery): Promise<Document[]>;
  /** Rows in `uploading`. */
  underWay(limit: number): Promise<Document[]>;
  /**
   * Rows that are being sent or in doubt, also held in doubt, with this name in this folder: a
   * rival must wait for them.
   */
  rivals(folderId: number, sentName: string): Promise<Document[]>;
  /** Which of these archive document ids belong to a row, or to one that was dropped. */
  claimed(documentIds: readonly number[]): Promise<Set<number>>;
  /** Rows in `uploaded`, by archive folder: how many, and how many of them are due. */
  outstanding(now: number): Promise<{ folderId: number; documents: number; due: number }[]>;
  /** Rows in `uploaded` in one archive folder, the longest due first. */
  outstandingIn(folderId: number, limit: number): Promise<Document[]>;
  /** Rows in `converted` whose after-action is due. */
  afterDue(now: number, limit: number): Promise<Document[]>;
  /** Held rows with one of these codes, oldest first; with `place`, those that wait for one folder. */
  heldWith(
    codes: readonly string[],
    limit: number,
    place?: { mirrorId: number; targetPath: string },
  ): Promise<Document[]>;
  /** The smallest held row with one of these codes: the cheapest to probe the gate with. */
  smallestHeld(
    codes: readonly string[],
    mirrorIds: readonly number[],
  ): Promise<Document | undefined>;
  /** Sent rows whose file was renamed or moved since: the archive has them where they were. */
  moved(limit: number): Promise<Document[]>;
  waitingFolders(): Promise<WaitingFolder[]>;

  /** The latest batch of a mirror, unless its receipt is written; a document may still join it or not. */
  lastBatch(mirrorId: number): Promise<Batch | undefined>;
  /**
   * Batches behind `after` (0: from the first) of which every document is converted and no receipt
   * is written, oldest first; `next` is where to go on, null when all were looked at.
   */
  unreceipted(after: number, limit: number): Promise<Unreceipted>;
  /**
   * Remembers that the receipt of a batch is written, with so many documents. False, and nothing is
   * remembered, when the batch has others by now. A document that joins later takes it back.
   */
  setReceipt(batch: string, documents: number, at: number): Promise<boolean>;
  /** The batches that were opened last, the latest first. */
  latestBatches(limit: number): Promise<BatchProgress[]>;
  /** Documents of a batch, in the order in which they were first seen. */
  inBatch(batch: string, limit: number): Promise<Document[]>;
  /** The documents to which something happened last, the latest first. */
  recent(limit: number): Promise<Document[]>;
  /** What reached the archive from `from` (inclusive) to `to`, by time and mirror. */
  tallies(from: number, to: number): Promise<Tally[]>;

  gate(): Promise<GateRow>;
  setGate(gate: GateRow): Promise<void>;
  pace(): Promise<PaceRow>;
  setPace(pace: PaceRow): Promise<void>;
  paused(): Promise<boolean>;
  setPaused(paused: boolean): Promise<void>;

  setContents(id: number, contents: readonly Content[]): Promise<void>;
  contents(id: number): Promise<Content[]>;

  /** Documents that were not sent, being the same content as others, and the pages that saved. */
  duplicates(): Promise<Duplicates>;
  /**
   * Rows per mirror and state; superseded revisions that were sent are counted too. `oldestAt` is
   * when the one of them that is known longest was first seen.
   */
  counts(): Promise<{ mirrorId: number; state: State; documents: number; oldestAt: number }[]>;
  /** Rows in path order, without holding them all in memory. */
  list(query: ListQuery): AsyncIterable<Document>;
  history(id: number): Promise<HistoryRow[]>;
  /** History of rows of a path that were forgotten. */
  forgotten(mirrorId: number, path: RawPath): Promise<HistoryRow[]>;
  attempts(id: number): Promise<AttemptRow[]>;

  /**
   * A step of retention, short whatever the journal's size. Drops rows that are long converted and
   * whose file is long gone, or was replaced by a revision that is long converted, and remembers
   * their contents; trims attempts and history of other rows that are long converted; lets go of
   * forgotten rows, batches and remembrances. Never touches a row that is on its way.
   */
  tidy(request: TidyRequest): Promise<Tidied>;
  /** Documents of dropped rows with this content, for a file at `path`; the latest first. */
  remembered(mirrorId: number, digest: string, path: RawPath): Promise<Remembered[]>;

  /**
   * A number that changes when another process has written (a `retry`, `pause` or `resume` from the
   * command line). Cheap enough to ask several times a second.
   */
  outsideWrites(): Promise<number>;

  close(): Promise<void>;
}
