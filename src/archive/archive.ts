import type {
  ArchiveDocument,
  DigidocSort,
  DocumentDetail,
  DocumentSort,
  Folder,
  FolderDetail,
  FolderSort,
  PageTotals,
} from "../wire/shapes.ts";
import type { NetworkSettings } from "../network/network.ts";
import type { Signing } from "../domain/signing.ts";
import type { StoredSize } from "../domain/stored-size.ts";

/** A moment: epoch milliseconds, or text in whatever form the archive takes, sent as it is. */
export type Moment = number | string;

/** Paging and order, common to every list (the interface's conventions, 7). */
export type Paging<Sort extends string> = {
  sortBy?: Sort;
  sortDesc?: boolean;
  /** Zero-based page number. */
  paginationIndex?: number;
  /** Items per page; each operation has its own maximum (`LIMITS.paginationSize`). */
  paginationSize?: number;
};

/** Parameters of search (endpoint 1). Ranges are inclusive at both ends. */
export type SearchQuery = Paging<DocumentSort> & {
  query?: string;
  queryContent?: boolean;
  docFilename?: string;
  docTitle?: string;
  docAuthor?: string;
  docSubject?: string;
  docKeywords?: string;
  docHasExpireDate?: boolean;
  folderName?: string;
  folderIndex?: string;
  folderDescription?: string;
  folderKeywords?: string;
  folderHasExpireDate?: boolean;
  createdDateStart?: Moment;
  createdDateEnd?: Moment;
  modifiedDateStart?: Moment;
  modifiedDateEnd?: Moment;
  filesizeStart?: number;
  filesizeEnd?: number;
  pagesStart?: number;
  pagesEnd?: number;
};

/** Parameters of the document list (endpoint 2); the root folder without `folderId`. */
export type DocumentsQuery = Paging<DocumentSort> & { folderId?: number };

/** Parameters of the digidoc list (endpoint 3). */
export type DigidocQuery = Paging<DigidocSort> & { digidocId: number };

/** Parameters of the folder list (endpoint 5); below the root folder without `folderId`. */
export type FoldersQuery = Paging<FolderSort> & { folderId?: number };

/** An item of the digidoc list (endpoint 3); where it is, and since when, may be unknown. */
export type ContainedDocument = Omit<DocumentDetail, Whereabouts> &
  Partial<Pick<DocumentDetail, Whereabouts>>;
type Whereabouts = "folderId" | "createdDate" | "uploadedDate";

/** What replaces the metadata that the archive would take from the file. */
export type UploadMetadata = {
  title?: string;
  author?: string;
  subject?: string;
  keywords?: string;
  producer?: string;
  description?: string;
};

/**
 * The content of a file: all of it, or a stream that can be opened once.
 *
 * `chunks` is read to its very end before the request's closing boundary leaves, so that it may
 * compare a digest after its last chunk and throw: then no whole body of a torn file was sent. A
 * chunk of 64 KiB or more may be overwritten once the next one is asked for; a smaller one, and
 * any chunk after a failure, never. When the request ends early the iterator learns it
 * (`return`), but not waited for.
 */
export type UploadFile = { sizeBytes: number } & (
  | { bytes: Buffer }
  | { chunks: () => AsyncIterable<Buffer> }
);

/** Holds a request back to a rate. */
export type Allowance = {
  /** No piece of the request is larger. */
  readonly pieceBytes: number;
  /** Resolves when this many bytes may leave; while it is awaited, no timeout runs. */
  take(bytes: number): Promise<void>;
};

/** Until when requests may be handed over; it may be put off again and again. */
export type Fence = {
  /** Milliseconds left; 0 or less: not a byte more. Falls with time. */
  readonly leftMs: number;
};

/** Parameters of upload (endpoint 7). */
export type Upload = {
  folderId?: number;
  /** `/Folder/Sub`. Which of `folderId` and `path` wins is not known: send one. */
  path?: string;
  /** The name in the archive, with extension. */
  filename: string;
  batch?: string;
  expireDate?: Moment;
  metadata?: UploadMetadata;
  file: UploadFile;
  /** Of the file's content, in hex; asked for only where it is signed, and before anything is sent. */
  sha256: () => string | Promise<string>;
  /** Without it the request leaves as fast as it can. */
  allowance?: Allowance;
  /**
   * What has no end when the time is over gets none (`LEASE_OVER`, `notSent`). Needs
   * `ArchiveSettings.stepwise`.
   */
  fence?: Fence;
};

/**
 * An online archive that speaks the interface v0_4.
 *
 * Every operation is one request, never repeated by the archive itself. It resolves with what the
 * archive answered, checked and reduced to the known fields, or rejects with an `ArchiveError`,
 * whose `kind` says what is known about the request: `invalid` and `notSent` did nothing,
 * `refused` was answered with no, `inDoubt` may have been done. There are two exceptions: an error
 * thrown by `Upload.file.chunks` comes out as it was thrown (and nothing was stored), and a bug
 * comes out as an `InvariantError`. An abort by `signal` is an `ArchiveError` too, because it
 * matters whether it came before or after the send; its `cause` is the signal's reason.
 *
 * Operations may run side by side, as many as there are connections; more wait in line.
 */
export interface Archive extends AsyncDisposable {
  /** Endpoint 1. */
  search(
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<PageTotals & { documents: DocumentDetail[]; folders: FolderDetail[] }>;
  /** Endpoint 2: one page of a folder's documents. */
  documents(
    query: DocumentsQuery,
    signal: AbortSignal,
  ): Promise<PageTotals & { documents: DocumentDetail[] }>;
  /** Endpoint 3: one page of the documents in a digidoc, which must be CONVERTED. */
  digidoc(
    query: DigidocQuery,
    signal: AbortSignal,
  ): Promise<PageTotals & { documents: ContainedDocument[] }>;
  /** Endpoint 4. */
  document(id: number, signal: AbortSignal): Promise<ArchiveDocument>;
  /** Endpoint 5: one page of a folder's direct subfolders. */
  folders(
    query: FoldersQuery,
    signal: AbortSignal,
  ): Promise<PageTotals & { folders: FolderDetail[] }>;
  /** Endpoint 6; the root folder without `id`. */
  folder(id: number | undefined, signal: AbortSignal): Promise<Folder>;
  /** Endpoint 7. Not idempotent: after `inDoubt`, look before sending again. */
  upload(upload: Upload, signal: AbortSignal): Promise<DocumentDetail>;
  /**
   * The archive's clock minus ours in milliseconds, to a second or so, from the last reply's Date
   * header; undefined before the first reply, or where that had none. Right also after our clock was
   * set since then.
   */
  readonly clockOffsetMs: number | undefined;
  /** Waits for what is under way, then lets go of the connections. Idempotent. */
  close(): Promise<void>;
}

/** Plain data, so that it can be sent to a child process. */
export type ArchiveSettings = {
  /** `{base_url}`; may end in a path. */
  url: string;
  /** `acc_key`. */
  accountKey: string;
  signing: Signing;
  /** Milliseconds; see `exchange` for what has that long. */
  timeoutMs: number;
  /** How the archive is reached; absent: straight. */
  network?: NetworkSettings;
  /** Connections kept at most; at least as many as operations run at once. */
  connections: number;
  /** Absent: `same`. */
  storedSize?: StoredSize | undefined;
  /**
   * Each piece of a request has reached the kernel before the next one is made. Costs a little; only
   * so it is known what can still leave after a process was stopped (`Upload.fence`).
   */
  stepwise?: boolean;
};
