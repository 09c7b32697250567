/**
 * The shapes that cross the wire of the archive interface v0_4, as its document gives them.
 * Shared by the client and the embedded archive; nothing else is.
 */

/** Resources and their fields: DocumentDetail. Dates are epoch milliseconds. */
export type DocumentDetail = {
  id: number;
  folderId: number;
  /** Only in items of the digidoc list: the digidoc document that contains the item. */
  digidocId?: number;
  digidoc: boolean;
  /** File name without extension. */
  documentName: string;
  filename: string;
  createdDate: number;
  uploadedDate: number;
  /** 0 directly after upload. */
  pages: number;
  /** Bytes; 0 directly after upload. */
  filesize: number;
  /** Absent in items of the digidoc list. UPLOADED and CONVERTED occur; others may exist. */
  status?: string;
};

/** Result of document info. */
export type ArchiveDocument = DocumentDetail & {
  title?: string;
  author?: string;
  producer?: string;
  description?: string;
  modifiedDate?: number;
  viewedTally?: number;
  downloadedTally?: number;
};

/** Items of folder lists and of search. */
export type FolderDetail = {
  id: number;
  parentId?: number;
  name: string;
  createdDate: number;
  root: boolean;
};

/** Result of folder info. */
export type Folder = FolderDetail & {
  index?: string;
  month?: number;
  year?: number;
  description?: string;
  keywords?: string;
  expireDate?: number;
};

/** What every paged list returns in addition to its items. */
export type PageTotals = { paginationSize: number; paginationPages: number };

/** Endpoints: operation name to path below `{base_url}`. */
export const PATHS = {
  search: "/api/v0_4/search.html",
  documents: "/api/v0_4/document/list.html",
  digidoc: "/api/v0_4/document/digidoc/list.html",
  document: "/api/v0_4/document/info.html",
  folders: "/api/v0_4/folder/list.html",
  folder: "/api/v0_4/folder/info.html",
  upload: "/api/v0_4/document/upload.html",
} as const;

/** One of the seven operations. */
export type Operation = keyof typeof PATHS;

/** What `sortBy` may be: for documents of a folder, documents of a digidoc, and folders. */
export const DOCUMENT_SORTS = [
  "NAME",
  "PAGES",
  "CREATED_DATE",
  "UPLOADED_DATE",
  "EXPIRE_DATE",
] as const;
/** What a digidoc list may be sorted by (endpoint 3); UPLOADED_DATE without `sortBy`. */
export const DIGIDOC_SORTS = ["NAME", "PAGES", "CREATED_DATE", "UPLOADED_DATE"] as const;
/** What a folder list may be sorted by (endpoint 5); NAME without `sortBy`. */
export const FOLDER_SORTS = ["NAME", "CREATED_DATE"] as const;
/** `sortBy` of search, where it is NAME without one, and of document lists, where it is UPLOADED_DATE. */
export type DocumentSort = (typeof DOCUMENT_SORTS)[number];
export type DigidocSort = (typeof DIGIDOC_SORTS)[number];
export type FolderSort = (typeof FOLDER_SORTS)[number];

/** Limits of the interface. Lengths are in characters, paging in items. */
export const LIMITS = {
  paginationSize: { search: 10_000, documents: 10_000, digidoc: 100, folders: 1_000 },
  filename: 255,
  batch: 36,
  metadataTitle: 150,
  metadataAuthor: 150,
  metadataSubject: 150,
  metadataKeywords: 255,
  metadataProducer: 255,
  metadataDescription: 250,
} as const;

/** Characters that a `filename` must not contain (upload, rules of `filename`). */
export const FORBIDDEN_IN_FILENAME = /[/\\:*?<>"|]/;
