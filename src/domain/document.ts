import type { RawPath } from "../std/raw-path.ts";
import type { Attributes } from "./attributes.ts";

/** Where a document is on its way; the words of the outside contract. */
export const STATES = [
  "settling",
  "pending",
  "uploading",
  "inDoubt",
  "uploaded",
  "converted",
  "held",
  "failed",
] as const;

/** One of the eight states; the arrows between them stand in `life.ts`. */
export type State = (typeof STATES)[number];

/** States in which the archive may hold, or holds, this document. */
export const SENT_STATES: readonly State[] = ["uploading", "inDoubt", "uploaded", "converted"];

/** True when the archive holds, or may hold, this document: it was sent, or is held while in doubt. */
export function mayBeArchived({ state, doubtAt }: Pick<Document, "state" | "doubtAt">): boolean {
  return SENT_STATES.includes(state) || (state === "held" && doubtAt !== null);
}

/** Why a document is where it is: a stable code and a sentence for people. */
export type Problem = { readonly code: string; readonly message: string };

/**
 * What a look at a file showed, short of its content.
 *
 * `stamp` changes whenever the file may have changed; `stamp.ts` compares it. On local file
 * systems it holds size, mtime, ctime and inode; on network file systems size and mtime only,
 * because there inode and ctime change on their own.
 */
export type Seen = {
  readonly sizeBytes: number;
  readonly modifiedAt: number;
  readonly stamp: string;
};

/** What becomes of the local file after CONVERTED. */
export type AfterState = "due" | "done" | "refused";

/**
 * One revision of one file: a row of the journal. Times are epoch milliseconds. At most one row of
 * a path is `current`; an edit after sending makes a new row that names the one it `supersedes`.
 */
export type Document = {
  readonly id: number;
  readonly mirrorId: number;
  /** Directory and name below the mirror's source; bytes. */
  readonly dir: RawPath;
  readonly name: RawPath;
  readonly state: State;
  readonly seen: Seen;
  readonly firstSeenAt: number;
  /** When the file was last seen to change. */
  readonly changedAt: number;
  /** When this row wants to be looked at next; null: only when something outside happens. */
  readonly dueAt: number | null;
  /** When it was last found quiet and whole; null: never. */
  readonly settledAt: number | null;
  /** SHA-256 of the content, hex; null until settled. */
  readonly digest: string | null;
  /** SHA-256 of the latest content, other than that, with which `changed: ignore` left the file alone, hex. */
  readonly ignoredDigest: string | null;
  /** File name in the archive; null until settled. */
  readonly sentName: string | null;
  /** Archive folder path this document belongs in, e.g. `/Scans/2026`; null until settled. */
  readonly targetPath: string | null;
  /** What goes with it; null until settled, and where nothing does. */
  readonly attributes: Attributes | null;
  /** Something worth knowing that is no problem, e.g. that it was sent although it looks unfinished. */
  readonly remark: string | null;
  readonly batch: string | null;
  readonly folderId: number | null;
  /** Attempts to send that were begun. */
  readonly attempts: number;
  /** When the last attempt began, by our clock. */
  readonly sentAt: number | null;
  /** The same moment by the archive's clock, as far as it was known; survives a fixed clock here. */
  readonly sentArchiveAt: number | null;
  /** When the reply was lost, and how many looks for the document have been taken since. */
  readonly doubtAt: number | null;
  readonly looks: number;
  readonly documentId: number | null;
  /** Status as the archive last gave it. */
  readonly archiveStatus: string | null;
  readonly uploadedAt: number | null;
  /** When it was uploaded as the archive first said, by its clock; null: unknown. Tells it from another document of its id. */
  readonly archiveUploadedAt: number | null;
  readonly polls: number;
  readonly convertedAt: number | null;
  /** Pages and bytes as the archive counts them. */
  readonly pages: number | null;
  readonly archiveBytes: number | null;
  /** Pages as they were counted here; null: they cannot be, or it is not settled. */
  readonly estimate: number | null;
  /** Pages that its last attempt was estimated to cost; null: it was never claimed for sending. */
  readonly charge: number | null;
  /**
   * Bytes of the content that the archive was sent as this document, from here or, as a person vouched
   * (`adopt --trust-content`), before. Null: nobody knows that the archive has this content.
   */
  readonly sentBytes: number | null;
  readonly digidoc: boolean;
  readonly problem: Problem | null;
  /** Consecutive times this row was held or deferred for the same code; grows its patience. */
  readonly consecutiveFailures: number;
  /** The row whose document in the archive this one stands for, being the same content. */
  readonly duplicateOf: number | null;
  readonly current: boolean;
  readonly supersedes: number | null;
  /** When the local file was found gone. */
  readonly goneAt: number | null;
  /** Where the file was when it was sent, when it has been renamed or moved since; shown path. */
  readonly movedFrom: string | null;
  /** When it was found there; null where the archive has it where it would go from there. */
  readonly movedAt: number | null;
  readonly after: AfterState | null;
  readonly afterMessage: string | null;
  /**
   * True while nothing but the ordinary happened to it: seen, settled, sent, uploaded, converted, each once. Its own times
   * tell these steps, and its history has lines for the rest alone.
   */
  readonly ordinary: boolean;
};

/**
 * What a row says of a content as long as nothing is known of it: a new row begins with this, and one
 * whose file has another content goes back to it.
 */
export const UNLEARNT = {
  digest: null,
  ignoredDigest: null,
  sentName: null,
  targetPath: null,
  attributes: null,
  remark: null,
  batch: null,
  folderId: null,
  doubtAt: null,
  documentId: null,
  archiveStatus: null,
  archiveUploadedAt: null,
  estimate: null,
  charge: null,
  sentBytes: null,
  problem: null,
  consecutiveFailures: 0,
  goneAt: null,
  after: null,
  afterMessage: null,
} as const satisfies Partial<Document>;
