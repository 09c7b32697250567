/** What a journal does, by who uses it; `Journal` is all of it. What is "of the archive" is explained there. */
import type { Document, State } from "../domain/document.ts";
import type { RawPath } from "../std/raw-path.ts";
import type {
  Applied,
  ArchiveRow,
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
  MirrorRow,
  AfterFailed,
  PaceRow,
  PutOff,
  WithProblem,
  Unreceipted,
  WaitingFolder,
  WaitingPages,
  WarnedRow,
} from "./rows.ts";
import type { Cluster } from "./cluster.ts";
import type { DocumentPage, ListQuery, PageQuery } from "./list-query.ts";
import type { UsageBucket } from "./usage-bucket.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { DroppedDocument, Tidied, TidyRequest } from "./tidiness.ts";

/** Claimed document ids; with when, by the archive's clock as far as that was known, the row was sent last; null: never, or not known. */
export type ClaimTimes = ReadonlyMap<number, number | null>;

/** How many there are, and some of them, the latest first. */
export type Moved = { readonly documents: number; readonly latest: readonly Document[] };

/** The archives and mirrors that were ever configured. */
export interface Registry {
  /** Every archive that was ever configured. */
  archives(): Promise<ArchiveRow[]>;
  /** The archive's row, made if missing. An archive is known by its name; it may move. */
  archive(name: string, url: string): Promise<ArchiveRow>;
  /**
   * The archive was exchanged for another: its row, and those of its mirrors, take a name that ends with `suffix` and
   * lose the address, and stay as history. Anyone who is configured by those names begins again.
   */
  retireArchive(archiveId: number, suffix: string): Promise<void>;
  mirrors(): Promise<MirrorRow[]>;
  /**
   * The mirror's row, made if missing, of the archive. A mirror is known by its name. One of another
   * archive becomes one of this archive while nothing was sent to the other; then it rejects with
   * `ARCHIVE_CHANGED`.
   */
  mirror(name: string, source: string): Promise<MirrorRow>;
  /** Gives a mirror another name, which no other has. */
  renameMirror(mirrorId: number, name: string): Promise<void>;
  /** Remembers the file system a mirror's source is on. */
  setDevice(mirrorId: number, device: string): Promise<void>;
}

/** What a scan of a mirror's source is compared with. */
export interface FileIndex {
  /**
   * Directories of a mirror with the fingerprint of their last journaled listing; empty where that
   * was forgotten and a file is there all the same.
   */
  directories(mirrorId: number): Promise<[dir: RawPath, fingerprint: string][]>;
  /** Current rows directly in a directory: one range query. */
  rowsIn(mirrorId: number, dir: RawPath): Promise<Known[]>;
  /** Current rows at and below a directory. */
  rowsBelow(mirrorId: number, dir: RawPath): Promise<Known[]>;
  /** The current row of a path. */
  currentAt(mirrorId: number, path: RawPath): Promise<Document | undefined>;
}

/** Writes documents. */
export interface DocumentWriter {
  apply(changes: readonly Change[]): Promise<Applied[]>;
  setContents(id: number, contents: readonly Content[]): Promise<void>;
}

/** Every document, and its history. */
export interface DocumentReader {
  document(id: number): Promise<Document | undefined>;
  /** A bounded part of a list, in one of its orders: a short look, however many rows there are. */
  listPage(query: PageQuery): Promise<DocumentPage>;
  /** Rows in path order, without holding them all in memory. */
  list(query: ListQuery): AsyncIterable<Document>;
  history(id: number): Promise<HistoryRow[]>;
  /** History of rows of a path that were forgotten. */
  forgotten(mirrorId: number, path: RawPath): Promise<HistoryRow[]>;
  attempts(id: number): Promise<AttemptRow[]>;
  contents(id: number): Promise<Content[]>;
}

/** What a content is known by. */
export type ContentKey = { readonly digest: string; readonly sizeBytes: number };

/** What was sent before, by content or place, and whose a document of the archive is. */
export interface ContentIndex {
  /**
   * Rows of a mirror whose content, of this digest and size, the archive has or may have (see `mayBeArchived`),
   * oldest first.
   */
  sentWith(mirrorId: number, digest: string, sizeBytes: number): Promise<Document[]>;
  /**
   * Digests of those of these contents that any mirror of the archive may know: of all others `sentWith`, `ignoredWith`
   * and `tombstones` find nothing. One question for many files.
   */
  knownContents(contents: readonly ContentKey[]): Promise<ReadonlySet<string>>;
  /** Rows of a mirror whose file was left alone with this content, instead of sending it; oldest first. */
  ignoredWith(mirrorId: number, digest: string): Promise<Document[]>;
  /** The latest row of a mirror that was sent from this shown path, and whose file was found elsewhere since. */
  movedAway(mirrorId: number, from: string): Promise<Document | undefined>;
  /** Documents of dropped rows with this content, for a file at `path` written at `modifiedAt` (epoch ms); the latest first. */
  tombstones(
    mirrorId: number,
    digest: string,
    path: RawPath,
    modifiedAt: number,
  ): Promise<DroppedDocument[]>;
  /**
   * Rows of the archive that are being sent or in doubt, also held in doubt, with this name in this
   * folder, or (null) in any: a conflict must wait for them.
   */
  conflicts(folderId: number | null, sentName: string): Promise<Document[]>;
  /**
   * Which of these document ids of the archive belong to a row, or to one that was dropped; with
   * `mirrorIds`, of one of these mirrors.
   */
  claimed(documentIds: readonly number[], mirrorIds?: readonly number[]): Promise<ClaimTimes>;
}

/** What is to be done next of an archive's documents. */
export interface WorkQueue {
  /** Rows of the archive (or of one mirror, whosever it is) that are due, the longest due first. */
  due(query: DueQuery): Promise<Document[]>;
  /**
   * The same, to be worked on: where several daemons share the journal, rows that no other one has
   * taken, and none is shown to another for some seconds. To take them again is to keep them longer.
   */
  take(query: DueQuery): Promise<Document[]>;
  /** Rows of the archive in `uploading` that nobody is sending: claimed before this daemon, or by a lost one. */
  underWay(limit: number): Promise<Document[]>;
  /** Rows of the archive in `uploaded`, by folder: how many, and how many of them are due. */
  outstanding(now: number): Promise<{ folderId: number; documents: number; due: number }[]>;
  /** Rows of the archive in `uploaded` in one of its folders, the longest due first. */
  outstandingIn(folderId: number, limit: number): Promise<Document[]>;
  /**
   * Rows of the archive in `converted`, and vetoed ones in `held`, whose after-action is due; with
   * `mirrorIds`, of these mirrors alone.
   */
  afterDue(now: number, limit: number, mirrorIds?: readonly number[]): Promise<Document[]>;
  /** Held rows of the archive with one of these codes, oldest first; with `place`, for one folder. */
  heldWith(
    codes: readonly string[],
    limit: number,
    place?: { mirrorId: number; targetPath: string },
  ): Promise<Document[]>;
  /** The archive's smallest held row with one of these codes: the cheapest to probe its gate with. */
  smallestHeld(
    codes: readonly string[],
    mirrorIds: readonly number[],
  ): Promise<Document | undefined>;
  /** Rows of the archive whose after-action was refused and is tried again, the soonest first; those behind `last`. */
  afterPending(limit: number, last?: PutOff): Promise<Document[]>;
  /** Folders that held rows of any archive wait for. */
  waitingFolders(): Promise<WaitingFolder[]>;
}

/** What is known of an archive's account, and what else a daemon has to know after a restart. */
export interface ArchiveState {
  /** The archive it speaks for, as its row in `archives` has it. */
  readonly archiveId: number;
  /** The archive's gate, and what its load made of the pace. */
  gate(): Promise<GateRow>;
  setGate(gate: GateRow): Promise<void>;
  pace(): Promise<PaceRow>;
  setPace(pace: PaceRow): Promise<void>;
  /** The last warning of the archive's allowance. */
  warned(): Promise<WarnedRow>;
  setWarned(warned: WarnedRow): Promise<void>;
  /** Ids of the archive's mirrors whose first run is not over: it may hold their files already. */
  firstRuns(): Promise<number[]>;
  endFirstRun(mirrorId: number, at: number): Promise<void>;
  /** A text that was kept under this name: what a part of the daemon has to know after a restart. */
  keyValue(name: string): Promise<string | null>;
  setKeyValue(name: string, text: string): Promise<void>;
}

/** Documents that became ready together, and their receipts. */
export interface Batches {
  /** The latest batch of a mirror, unless its receipt is written; a document may still join it or not. */
  lastBatch(mirrorId: number): Promise<Batch | undefined>;
  /**
   * Batches of the archive behind `after` (0: from the first) of which every document is converted and no receipt
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
}

/** Outcomes that a hook has not been told yet. */
export interface Outbox {
  /**
   * From now on the outcomes of these mirrors' documents are kept to be told to a hook, each written
   * together with the event that it is; those of other mirrors are not.
   */
  keepOutboxEntries(mirrorIds: readonly number[]): Promise<void>;
  /** Outcomes of a mirror's documents that are due to be told, the longest due first. */
  outboxEntries(mirrorId: number, now: number, limit: number): Promise<OutboxEntry[]>;
  /** The hook got the outcome, or will not get it any more. */
  endOutboxEntry(number: number): Promise<void>;
  putOffOutboxEntry(number: number, tries: number, dueAt: number): Promise<void>;
  /** Outcomes of a mirror's documents that are due later than `laterThan` are due at `dueAt`. */
  pullInOutboxEntries(mirrorId: number, laterThan: number, dueAt: number): Promise<void>;
  /** How many outcomes wait to be told; mirrors without any are left out. */
  undelivered(): Promise<{ mirrorId: number; outboxEntries: number }[]>;
}

/** Counts and sums over everything. */
export interface Reports {
  /**
   * Rows per mirror and state; superseded revisions that were sent are counted too. `oldestAt` is
   * when the one of them that is known longest was first seen; of more than 1,000, of those that are longest due.
   */
  counts(): Promise<{ mirrorId: number; state: State; documents: number; oldestAt: number }[]>;
  /**
   * Rows in problem by code and state: how many, and the one of them that is known longest; of all
   * mirrors, or of these, which takes a look at each of the rows.
   */
  withProblem(mirrorIds?: readonly number[]): Promise<WithProblem[]>;
  /** Documents that were not sent, being the same content as others, and the pages that saved. */
  duplicates(): Promise<Duplicates>;
  /**
   * Sent rows of these mirrors whose file was renamed or moved since and stands there: the archive has them where
   * they were.
   */
  moved(mirrorIds: readonly number[], limit: number): Promise<Moved>;
  /** Files that are where they were since their after-action was refused for good, by mirror. */
  afterFailed(): Promise<AfterFailed[]>;
  /** What reached the archive from `from` (inclusive) to `to`, by time and mirror. */
  usageBuckets(from: number, to: number): Promise<UsageBucket[]>;
  /** Pages of what waits to be sent, by mirror and state. */
  waitingPages(): Promise<WaitingPages[]>;
  /** How many of a mirror's pending rows have more than so many pages; unknown ones are not among them. */
  pendingOver(mirrorId: number, pages: number): Promise<number>;
  /**
   * Pages used from `from` (inclusive) to `to`, by mirror: what was charged then, and what may be
   * charged any moment, being sent or in doubt. One look at both: what is stored goes from one to
   * the other.
   */
  pagesUsed(from: number, to: number): Promise<{ mirrorId: number; pages: number }[]>;
}

/** What is kept for how long. */
export interface Retention {
  /**
   * A step of retention, short whatever the journal's size. Drops rows that are long converted and
   * whose file is long gone, or was replaced by a revision that is long converted, and remembers
   * their contents; trims attempts and history of other rows, whatever they wait for; lets go of
   * forgotten rows, batches and tombstones. Never changes a row that is on its way.
   */
  tidy(request: TidyRequest): Promise<Tidied>;
}

/** What daemons on the journal share. */
export interface Sharing {
  /** The daemons that share this journal; where it has one owner, that one alone. */
  readonly cluster: Cluster;
  /**
   * A number that changes when another process has written (a `retry`, `pause` or `resume` from the
   * command line). Cheap enough to ask several times a second.
   */
  outsideWrites(): Promise<number>;
  paused(): Promise<boolean>;
  setPaused(paused: boolean): Promise<void>;
}

/** What a journal knows of the one archive that it speaks for. */
export interface ArchiveJournal extends ArchiveState, ContentIndex, WorkQueue {}

/** Reads and writes documents. */
export interface Documents extends DocumentReader, DocumentWriter {}
