/**
 * What crosses between the daemon and a reader process. Plain data only (structured clone).
 *
 * Either side may call the other and is answered; the daemon commands, the reader reports. All of
 * it is small or batched: contents of files never cross.
 */
import type { ArchiveSettings, Moment, UploadMetadata } from "../archive/archive.ts";
import type { RequestField } from "../archive/credentials.ts";
import type { Seen } from "../domain/document.ts";
import type { Outcome } from "../domain/outcome.ts";
import type {
  Acted,
  ArchivedFile,
  FoundNotes,
  Inspection,
  Listing,
  ScanReport,
  SourceSettings,
} from "../source/source.ts";
import type { RawPath } from "../std/raw-path.ts";
import type { Until } from "../std/clock.ts";

/** How a mirror's source is followed between scans. */
export type WatchMode = "native" | "polling" | "off";

/** A mirror as its reader needs it. */
export type ReaderMirror = {
  readonly id: number;
  readonly settings: SourceSettings;
  readonly mode: WatchMode;
  /** What a crash left half moved or deleted is put back here; of whatever configuration that was. */
  readonly tidies: boolean;
  /** Fingerprints of the directories that are journaled; unchanged ones are not reported again. */
  readonly known: readonly (readonly [RawPath, string])[];
};

/** A document to send: everything that was committed in its intent. */
export type SendOrder = {
  /** Of the document's row. */
  readonly id: number;
  readonly mirrorId: number;
  readonly path: RawPath;
  readonly seen: Seen;
  readonly digest: string;
  readonly folderId: number;
  readonly filename: string;
  readonly batch: string;
  /** Fields that are not given stay as the archive takes them from the file. */
  readonly metadata: UploadMetadata;
  /** In the form that the archive takes; null: none. */
  readonly expireDate: Moment | null;
  /** Every piece of the request, no larger than this, is asked for first; null: none is. */
  readonly pieceBytes: number | null;
};

/** Whether a mirror's source can be read just now. */
export type MirrorStatus = {
  readonly mirrorId: number;
  readonly online: boolean;
  /** Why it is offline, or why it is watched as it is. */
  readonly why: string;
  readonly device: string | null;
  readonly mode: WatchMode;
  /** Why some of its directories are not watched, though they are to be; null: all are. */
  readonly unwatched: string | null;
};

/** A look at a path: what is there now, null where nothing is, undefined where it cannot be told. */
export type Look = Seen | null | undefined;

/** A command to run: no shell reads it, and `input` is what it finds on its standard input. */
export type HookOrder = {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  readonly input: string;
  /** More than this of its standard output ends it; null: what it writes is of no interest. */
  readonly outputBytesMax: number | null;
};

/** How a command ended: what it wrote and its exit code 0, or else why not, in a line for people. */
export type HookEnd = { readonly output: Uint8Array } | { readonly failure: string };

/** Calls the daemon makes; each is answered. */
export type ReaderCalls = {
  /** Hosts these, also those that it hosts already, in another way; null: the archive stays. */
  open: (
    mirrors: readonly ReaderMirror[],
    archive: ArchiveSettings | null,
  ) => Promise<MirrorStatus[]>;
  /** Scans a mirror (or what is below a directory); listings that differ come as `listing` calls. */
  scan: (mirrorId: number, below: RawPath | null) => Promise<ScanReport>;
  inspect: (
    mirrorId: number,
    /** `sentBytes`: of how many bytes the beginning is to be looked at on its own, too. */
    files: readonly { path: RawPath; seen: Seen | null; sentBytes?: number | undefined }[],
    /** `alone`: the file itself, whatever is to stand next to it. */
    options: { pages: boolean; alone?: boolean },
  ) => Promise<Inspection[]>;
  /** What stands next to a path, be the file itself there or not: then no sidecar is missed. */
  notes: (mirrorId: number, path: RawPath, isThere: boolean) => Promise<FoundNotes>;
  /** With `spelt` a path counts only under just that name, whatever else its file system finds it by. */
  look: (mirrorId: number, paths: readonly RawPath[], spelt: boolean) => Promise<Look[]>;
  send: (id: number, order: SendOrder) => Promise<Outcome>;
  /**
   * Where several daemons share the journal: documents may be handed over until then, by the clocks
   * of the host. Told with every document and again and again; before it was ever told, none may.
   */
  mayHandOver: (until: Until) => Promise<void>;
  /** Cuts an upload short; its `send` is answered all the same. */
  abort: (id: number) => Promise<void>;
  act: (
    mirrorId: number,
    path: RawPath,
    /** Of the document that is to be there. */
    expected: ArchivedFile,
    action: { kind: "delete" } | { kind: "move"; to: string },
  ) => Promise<Acted>;
  /** Runs a command; every way it can end is an answer. */
  hook: (order: HookOrder) => Promise<HookEnd>;
  /** These directories are reported again at the next scan, changed or not. */
  unlearn: (mirrorId: number, dirs: readonly RawPath[]) => Promise<void>;
  status: (mirrorId: number) => Promise<MirrorStatus>;
  /** Asks the archive for its root folder, the way documents are sent; what kept it from that, or null. */
  reach: () => Promise<Unreached | null>;
  ping: () => Promise<void>;
};

/** Why the archive could not be reached, or what it refused. */
export type Unreached = { readonly code: string; readonly message: string; readonly hint: string };

/** A module of the operator's signs in the daemon alone, where it has the environment that it needs. */
export type SignCalls = {
  sign: (fields: readonly RequestField[], path: string) => Promise<string>;
};

/** What the reader's handle learns about hooks, to end what a reader that dies leaves behind. */
export type HookCalls = {
  hookBegun: (group: number) => Promise<void>;
  hookEnded: (group: number) => Promise<void>;
};

/**
 * Calls the reader makes. `listing` is answered once it is journaled: that is the back-pressure. The
 * answer says whether all of it was; if not, the directory is reported again at the next scan.
 */
export type DaemonCalls = {
  listing: (mirrorId: number, listing: Listing) => Promise<boolean>;
  /** Files that may have changed, as they are now; null: not there. */
  hint: (mirrorId: number, files: readonly { path: RawPath; seen: Seen | null }[]) => Promise<void>;
  /** Directories that were known and are not there any more, all of them that went. */
  vanished: (mirrorId: number, dirs: readonly RawPath[]) => Promise<void>;
  /** Answered when this many bytes of an upload may leave. */
  allowance: (bytes: number) => Promise<void>;
  /** So many bytes of the upload of a document's row were handed over by now. */
  sent: (id: number, bytes: number) => Promise<void>;
  /** Events may have been missed: a full scan is needed. */
  doubt: (mirrorId: number, why: string) => Promise<void>;
  status: (status: MirrorStatus) => Promise<void>;
};
