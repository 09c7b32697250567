/** What the journal gives and takes: the shapes of its rows, queries and changes. */
import type { Document, State, Problem } from "../domain/document.ts";
import type { Order } from "../domain/feed.ts";
import type { Event } from "../domain/life.ts";
import type { RawPath } from "../std/raw-path.ts";

/** A mirror as the journal knows it: rows outlive its removal from the config. */
export type MirrorRow = {
  readonly id: number;
  readonly name: string;
  readonly source: string;
  /** Identifies the file system the source was on when it last had entries; null before that. */
  readonly device: string | null;
  /** The archive it is carried into: `ArchiveRow.id`. */
  readonly archiveId: number;
};

/** The archive that a journal speaks for as it is opened: the only one, but where there are several. */
export const FIRST_ARCHIVE_ID = 1;

/** An archive as the journal knows it: one account, known by its name. */
export type ArchiveRow = {
  readonly id: number;
  readonly name: string;
  /** Where it was last; null: nobody has said. */
  readonly url: string | null;
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

/** A file seen for the first time at `at`, or a new revision of one that was sent, which it `supersedes` at its path. */
export type NewDocument = Pick<Document, "mirrorId" | "dir" | "name" | "seen" | "supersedes"> & {
  readonly at: number;
  readonly dueAt: number;
};

/** A group of documents that became ready together; the archive gets the id. */
export type Batch = {
  /** At most 36 characters. */
  readonly id: string;
  readonly mirrorId: number;
  readonly openedAt: number;
  /** When the last document joined. */
  readonly joinedAt: number;
  readonly documents: number;
};

/** Closed batches without a receipt, as far as they were looked at. */
export type Unreceipted = { readonly batches: readonly Batch[]; readonly next: number | null };

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
 *   compare-and-set). With `from`, the change is skipped when the row has left those states; with
 *   `alone`, a `claimed` that another row stands in the way of. A `claimed` makes the row this
 *   daemon's to send, and is skipped while it is taken by another one.
 * - `note`: columns that are not part of the life: what was seen of the file, that it is gone, what
 *   became of it after archiving. Never `state`. With `from`, it is skipped when the row has left those
 *   states: what is due at one time in one state may have to wait for longer in another.
 * - `forget`: removes a row that was never sent (`settling`, `pending`, `held`, `failed` without a document id); its
 *   history keeps why, unless it is `traceless`: told about another row. A superseded predecessor becomes current again
 *   where `restore` is set. With `from`, it is skipped in other states; a sent row is an `InvariantError` otherwise.
 * - `follow`: the file of a sent row was moved: the row takes over path, stamp and mirror (of the same archive) of
 *   `successor` (in `settling`), which is forgotten; what superseded it supersedes nothing. `isFiled`: the archive has it
 *   where it would go from there. Skipped when either moved on.
 * - `event`, `note`, `forget` and `follow` with `given` are skipped where the file of that row had been
 *   seen otherwise before this `apply`: what was found out about a file holds for that content alone.
 * - With `place`, they are skipped where the row is elsewhere by now: its file was found there.
 * - `batch`: inserts or updates it. `directory`: the fingerprint of a listing that was journaled; null forgets it.
 */
export type Change =
  | { type: "add"; document: NewDocument }
  | ({
      type: "event";
      id: number;
      event: Event;
      from?: readonly State[];
      alone?: Alone;
      /** Skipped where another row has the event's document by now. */
      unclaimed?: boolean;
    } & OnCondition)
  | ({
      type: "note";
      id: number;
      at: number;
      why: string;
      set: Note;
      from?: readonly State[];
    } & OnCondition)
  | ({
      type: "forget";
      id: number;
      at: number;
      why: string;
      restore?: boolean;
      traceless?: boolean;
      /** With `restore`: the file is gone, and so is the predecessor's. */
      goneAt?: number;
      from?: readonly State[];
    } & OnCondition)
  | ({ type: "follow"; id: number; successor: number; at: number; isFiled?: boolean } & OnCondition)
  | { type: "batch"; batch: Batch }
  | { type: "directory"; mirrorId: number; dir: RawPath; fingerprint: string | null };

/**
 * What a claimed row must be the only one of in its archive, looked at in the moment in which it is
 * claimed: no other row of its `name` in its folder may be under way (see `Journal.conflicts`); or
 * neither that nor, in `uploading` or `inDoubt`, another of its content in its mirror.
 */
export type Alone = "name" | "nameAndContent";

/** A row, and the stamp of its file's content. */
export type StampedRow = { readonly id: number; readonly stamp: string };

/** Where a row's file is that may be moved: in a directory, of a mirror; with `below`, or anywhere below it. */
export type RowPlace = {
  readonly mirrorId: number;
  readonly dir: RawPath;
  readonly below?: boolean;
};
type OnCondition = { readonly given?: StampedRow; readonly place?: RowPlace };

/** The fields that a `note` may set. */
export const NOTED = [
  "seen",
  // From when on its file counts as quiet: it was seen to change at a time that is to come.
  "changedAt",
  "goneAt",
  "after",
  "afterMessage",
  "dueAt",
  // A person vouches for the content of what was claimed by name and size.
  "sentBytes",
  "ignoredDigest",
  // The content that was seen and, by `changed: ignore`, is not sent; or that it is to be sent though unfinished.
  "remark",
] as const satisfies readonly (keyof Document)[];

export type Note = Partial<Pick<Document, (typeof NOTED)[number]>>;

/** What a change did; for the log and for those who wait. */
export type Applied = {
  readonly change: Change;
  /** The row after the change; undefined when it is gone or the change was not about one row. */
  readonly document: Document | undefined;
  /** The state before; undefined for `add`. */
  readonly from: State | undefined;
  /** True when `from` or `alone` of the change, or a row that is gone, made it a no-op. */
  readonly skipped: boolean;
};

/** Gate of an account: closed while `closedAt` is set. Survives restarts. */
export type GateRow = {
  readonly closedAt: number | null;
  readonly problem: Problem | null;
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
  readonly problem: Problem | null;
};

/** Asks for rows that are due. */
export type DueQuery = {
  readonly state: State;
  readonly now: number;
  readonly limit: number;
  /** Which come first; `oldest`, the longest due, where it is absent. */
  readonly order?: Order;
  /** Only rows due later than this. */
  readonly after?: number;
  readonly mirrorId?: number;
  /** Only rows at most, or more than, this large. */
  readonly sizeMaxBytes?: number;
  readonly sizeOverBytes?: number;
  /** Only rows of at most so many pages; where they are not known, they count as one. */
  readonly pagesMax?: number;
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

/** Rows in one state with one problem; `first` is the id of the one that is known longest. */
export type WithProblem = {
  readonly code: string;
  readonly state: State;
  readonly documents: number;
  readonly first: number;
};

/** Files of a mirror that are never moved or deleted: how many, and the row of the one that is known longest. */
export type AfterFailed = Pick<WithProblem, "documents" | "first"> & { readonly mirrorId: number };

/** Where the rows stand in their order whose after-action is tried again. */
export type PutOff = Pick<Document, "dueAt" | "id">;

/** Documents that wait to be sent, and their pages as far as they are known. */
export type WaitingPages = {
  readonly mirrorId: number;
  readonly state: "pending" | "held";
  readonly documents: number;
  readonly pages: number;
  /** Those of which the pages are not known. */
  readonly unknown: number;
};

/** The last warning of the month's allowance: 0 none, 1 little is left, 2 it is used up. */
export type WarnedRow = {
  /** When the month that it is about began; null: none was ever given. */
  readonly from: number | null;
  readonly level: number;
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
