import type { Archive } from "../archive/archive.ts";
import type { Config, Mirror } from "../config/config.ts";
import type { Document } from "../domain/document.ts";
import type { Outcome } from "../domain/outcome.ts";
import type {
  ArchiveJournal,
  ArchiveState,
  Batches,
  ContentIndex,
  DocumentWriter,
  Documents,
  FileIndex,
  Journal,
  MirrorRow,
  Registry,
  Reports,
  Sharing,
} from "../journal/journal.ts";
import type { Reader } from "../reader/reader.ts";
import type { ReceiptFolder } from "../receipts/receipt-folder.ts";
import type { Wakeup } from "../std/wakeup.ts";
import type { Clock, Random } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import type { Bandwidth } from "./bandwidth.ts";
import type { Ownership } from "./ownership.ts";
import type { Pace } from "./pace.ts";

/** A mirror as the loops see it: its settings, its row, and the process that reads it. */
export type LiveMirror = {
  readonly row: MirrorRow;
  /** As configured, but for what was learned of `settle`; replaced when there is more to learn. */
  settings: Mirror;
  readonly reader: Reader;
  /** Wake the two lanes that settle this mirror's files. */
  readonly settling: { readonly small: Wakeup; readonly large: Wakeup };
};

/** Whether a mirror's reader is up and answers: what is asked of it otherwise waits, with all behind it. */
export function isReachable({ reader }: Pick<LiveMirror, "reader">): boolean {
  return reader.pid !== undefined && !reader.silent;
}

/** One wake-up per loop; rung when there may be something to do. */
export type Wakeups = {
  readonly sending: Wakeup;
  readonly doubts: Wakeup;
  readonly polling: Wakeup;
  readonly held: Wakeup;
  readonly after: Wakeup;
};

/** Follows uploads, for users who watch. */
export type UploadWatch = {
  /** Follows the upload of a document for as long as `send` takes, and resolves with what that does. */
  during(document: Pick<Document, "id" | "seen">, send: () => Promise<Outcome>): Promise<Outcome>;
  /** So many bytes of the upload of a document's row were handed over by now. */
  sent(id: number, bytes: number): void;
};

/** What is asked of the journal to send documents. */
export type SendJournal = ArchiveJournal & DocumentWriter & Registry & Reports & Sharing;

/** What is asked of the journal to decide about a document. */
export type DecisionJournal = ArchiveState &
  Batches &
  ContentIndex &
  Documents &
  FileIndex &
  Registry;

/** What decides about an archive's documents, for its loops and for `plan`; `J`: what it uses of the journal. */
export type DecisionContext<J = DecisionJournal> = {
  readonly config: Pick<
    Config,
    "archive" | "upload" | "batch" | "quota" | "conversion" | "retention"
  >;
  /** Speaks for the archive. */
  readonly journal: J;
  readonly archive: Archive;
  /** Whether that is the archive that documents were sent to; without it, it always is. */
  readonly identity?: {
    /** Rejects with `ArchiveError` where it is another, or cannot be asked. */
    assert(signal: AbortSignal): Promise<void>;
    /** A person may have said which archive it is. */
    reread(): Promise<void>;
    /** How long what is known holds, milliseconds. */
    readonly restMs: number;
  };
  /** Those whose loops run: of several daemons on a journal, each has some. */
  readonly mirrors: ReadonlyMap<number, LiveMirror>;
  /** All of the archive that are configured here. */
  readonly configured: ReadonlyMap<number, LiveMirror>;
  /** What of it all this daemon does. */
  readonly ownership: Ownership;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly newBatchId: () => string;
};

/** What all loops of an archive share; `J`: what one of them uses of the journal. */
export type SyncContext<J = Journal> = DecisionContext<J> & {
  readonly wakeups: Wakeups;
  readonly pace: Pace;
  /** Shared with other archives. */
  readonly bandwidth: Bandwidth;
  /** Shared with other archives; nobody watches these without it. */
  readonly uploads?: UploadWatch;
  /** Where the receipts of closed batches go; undefined: nowhere. */
  readonly receipts?: Pick<ReceiptFolder, "write"> | undefined;
  /** Hides what is secret in the configuration: programs of users say what they like. */
  readonly redact: (text: string) => string;
  /** False: nothing is ever sent (`adopt`). */
  readonly sending: boolean;
  /** How long a loop that waits for its wake-up alone sleeps; `MAX_SLEEP_MS` but in simulations. */
  readonly maxSleepMs: number;
};
