import type { ArchiveDocument, DocumentDetail } from "../wire/shapes.ts";

/** What a file may say of its own, where its upload did not. */
export const METADATA = [
  "title",
  "author",
  "subject",
  "keywords",
  "producer",
  "description",
] as const;
type MetadataName = (typeof METADATA)[number];

/** Metadata as far as it is said. */
export type Metadata = { [Name in MetadataName]?: string };

/** What the conversion found out. Absent texts are left as they are. */
export type Converted = Metadata & {
  pages: number;
  digidoc: boolean;
  /** For the content search. */
  text: string;
  contents: { name: string; size: number; sha256: string; pages: number }[];
};

/** A document that nothing could be found out about. */
export const NOTHING_FOUND: Converted = { pages: 1, digidoc: false, text: "", contents: [] };

/** One row of the table `document`, which says what each column means. */
export type StoredDocumentRow = {
  id: number;
  account_id: number;
  folder_id: number;
  digidoc_id: number | null;
  digidoc: 0 | 1;
  filename: string;
  document_name: string;
  created_at: number;
  uploaded_at: number;
  modified_at: number;
  status: "UPLOADED" | "CONVERTED";
  pages: number;
  filesize: number;
  size: number;
  sha256: string;
  pages_charged: number;
  batch: string | null;
  expire_at: number | null;
  convert_at: number | null;
  viewed_tally: number;
  downloaded_tally: number;
} & { [Name in MetadataName]: string | null };

/**
 * Section Resources, DocumentDetail. Documents inside a digidoc carry its id; `status` is absent in the digidoc
 * list (`inDigidocList`), and nowhere else.
 */
export function documentDetailOf(row: StoredDocumentRow, inDigidocList = false): DocumentDetail {
  return {
    id: row.id,
    folderId: row.folder_id,
    ...(row.digidoc_id === null ? {} : { digidocId: row.digidoc_id }),
    digidoc: row.digidoc === 1,
    documentName: row.document_name,
    filename: row.filename,
    createdDate: row.created_at,
    uploadedDate: row.uploaded_at,
    pages: row.pages,
    filesize: row.filesize,
    ...(inDigidocList ? {} : { status: row.status }),
  };
}

/**
 * Section Resources, Document. The interface has no operation that views or downloads, and reading
 * the details is neither; what is counted is what people do on the archive's own page.
 */
export function documentOf(row: StoredDocumentRow): ArchiveDocument {
  return {
    ...documentDetailOf(row),
    title: row.title ?? "",
    author: row.author ?? "",
    producer: row.producer ?? "",
    description: row.description ?? "",
    modifiedDate: row.modified_at,
    viewedTally: row.viewed_tally,
    downloadedTally: row.downloaded_tally,
  };
}

/** One document as an auditor sees it: what is really stored, whatever the interface shows. */
export type StoredDocument = ReturnType<typeof storedDocumentOf>;

/** The row as an auditor sees it, its times in epoch milliseconds; `folderPath` is `/A/B`, or `/` for the root. */
export function storedDocumentOf(row: StoredDocumentRow, folderPath: string) {
  const { id, filename, size, sha256, pages, status, batch } = row;
  const { title, author, subject, keywords, producer, description } = row;
  const content = { filename, size, sha256, pages, status, digidoc: row.digidoc === 1, batch };
  const times = { uploadedAt: row.uploaded_at, expireDate: row.expire_at };
  const metadata = { title, author, subject, keywords, producer, description };
  return { id, folderId: row.folder_id, folderPath, ...content, ...times, ...metadata };
}
