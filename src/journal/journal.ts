import type { AfterState, Document, Seen, State, Trouble } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";
import type { RawPath } from "../std/raw-path.ts";
import type { Tally } from "./tally.ts";
import type { Remembered, Tidied, TidyRequest } from "./tidiness.ts";

/** A mirror as the journal knows it: rows outlive a mirror's removal from the config. */
export type MirrorRow = {
  readonly id: number;
  readonly name: string;
  readonly source: string;
  /** Identifies the file system the source was on when it last had entries; null before that. */
  readonly device: string | null;
};

/** What a directory listing is compared with; see `Journal.rowsIn`. */
export type Known = {
  readonly id: number;
  readonly name: RawPath;
  readonly state: State;
  readonly stamp: string;
  readonly goneAt: number | null;
  readonly documentId: number | null;
};

/** A file seen for the first time, or a new revision of one that was sent. */
export type NewDocument = {
  readonly mirrorId: number;
  readonly dir: RawPath;
  readonly name: RawPath;
  readonly seen: Seen;
  readonly at: number;
  readonly dueAt: number;
  /** The row this one replaces as the path's current one. */
  readonly supersedes: number | null;
};

/** A group of documents that became ready together; the id is what the archive is told. */
export type Batch = {
  /** At most 36 characters. */
  readonly id: string;
  readonly mirrorId: number;
  readonly openedAt: number;
  /** When the last document joined. */
  readonly joinedAt: number;
  readonly documents: number;
};

/** How far a batch has come. */
export type BatchProgress = Batch & {
  /** Its documents by state; a state without any is absent. Some may have changed or gone since. */
  readonly states: Readonly<Partial<Record<State, number>>>;
  /** Pages as the archive counts them, of those that are converted. */
  readonly pages: number;
};

/**
 * A write to the journal.
 * - `add`: a new row in `settling`; where `supersedes` names a row, that one stops being current.
 *   Skipped when the path's current row is not `supersedes` (null: none) any more.
 * - `event`: an arrow of `life.ts`, applied to the row as it is now (read, transition,
 *   compare-and-set). With `from`, the change is skipped when the row has left those states.
 * - `note`: columns that are not part of the life: what was seen of the file, that it is gone, what
 *   became of it after archiving. Never `state`.
 * - `forget`: removes a row that was never sent (`settling`, `pending`, `held`, `failed` without a
 *   document id); its history keeps why. A superseded predecessor becomes current again where
 *   `restore` is set. With `from`, the change is skipped when the row has left those states; a sent
 *   row is an `InvariantError` otherwise.
 * - `follow`: the file of a sent row was renamed or moved: the sent row takes over path and stamp
 *   of `successor` (a row in `settling`), which is forgotten. Skipped when either has left those
 *   states.
 * - `batch`: inserts or updates a batch.
 * - `directory`: remembers the fingerprint of a directory whose listing has been journaled;
 *   null forgets the directory.
 */
export type Change =
  | { type: "add"; document: NewDocument }
  | { type: "event"; id: number; event: Event; from?: readonly State[] }
  | { type: "note"; id: number; at: number; why: string; set: Note }
  | {
      type: "forget";
      id: number;
      at: number;
      why: string;
      restore?: boolean;
      /** With `restore`: the file is gone, and so is the predecessor's. */
      goneAt?: number;
      from?: readonly State[];
    }
  | { type: "follow"; id: number; successor: number; at: number }
  | { type: "batch"; batch: Batch }
  | { type: "directory"; mirrorId: number; dir: RawPath; fingerprint: string | null };

/** The columns a `note` may set. */
export type Note = {
  readonly seen?: Seen;
  readonly goneAt?: number | null;
  readonly after?: AfterState | null;
  readonly afterMessage?: string | null;
  readonly dueAt?: number | null;
  /** The content that was seen and, by `changed: ignore`, is not sent. */
  readonly remark?: string | null;
};

/** What a change did; for the log and for those who wait. */
export type Applied = {
  readonly change: Change;
  /** The row after the change; undefined when it is gone or the change was not about one row. */
  readonly document: Document | undefined;
  /** The state before; undefined for `add`. */
  readonly from: State | undefined;
  /** True when `from` of the change, or a row that is gone, made it a no-op. */
  readonly skipped: boolean;
};

/** Gate of an account: closed while `closedAt` is set. Survives restarts. */
export type GateRow = {
  readonly closedAt: number | null;
  readonly trouble: Trouble | null;
  readonly probes: number;
  readonly nextProbeAt: number | null;
};

/** What the archive's load made of the account's pace. Survives restarts. */
export type PaceRow = {
  /** Uploads at the same time; null: as many as the configuration says. */
  readonly limit: number | null;
  /** When the archive asked for a pause, and until when; null: it never did. */
  readonly pausedAt: number | null;
  readonly pausedUntil: number | null;
  /** What it said then. */
  readonly trouble: Trouble | null;
};

/** Asks for rows that are due. */
export type DueQuery = {
  readonly state: State;
  readonly now: number;
  readonly limit: number;
  /** Only rows due later than this. */
  readonly after?: number;
  readonly mirrorId?: number;
  /** Only rows at most, or more than, this large. */
  readonly sizeMaxBytes?: number;
  readonly sizeOverBytes?: number;
};

/** Filters of `Journal.list`. */
export type ListQuery = {
  readonly state?: State;
  readonly mirrorId?: number;
  readonly code?: string;
  /** This path, or anything below it. */
  readonly path?: { mirrorId: number; path: RawPath };
  readonly currentOnly?: boolean;
};

/** One line of a document's history. */
export type HistoryRow = {
  readonly at: number;
  readonly from: State | null;
  readonly to: State | null;
  readonly event: string;
  readonly detail: string | null;
  /** How often the same thing happened in a row, e.g. polls; `at` is the last time. Absent for once. */
  readonly times?: number;
};

/** One attempt to send a document: the intent, and what became of it. */
export type AttemptRow = {
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly digest: string;
  readonly sentName: string;
  readonly folderId: number;
  readonly batch: string;
  readonly outcome: string | null;
  readonly documentId: number | null;
};

/** Missing or unusable archive folders, and how many documents wait for each. */
export type WaitingFolder = {
  readonly mirrorId: number;
  readonly targetPath: string;
  readonly code: string;
  readonly documents: number;
};

/** What was not sent because the archive has it. */
export type Duplicates = { readonly documents: number; readonly pages: number };

/** Something a digidoc document contains, as the archive lists it. */
export type Content = {
  readonly documentId: number;
  readonly filename: string;
  readonly sizeBytes: number;
  readonly pages: number;
};

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

  /** The latest batch of a mirror, whether or not another document may still join it. */
  lastBatch(mirrorId: number): Promise<Batch | undefined>;
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
