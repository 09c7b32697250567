import type { DocumentDetail } from "../../src/wire/shapes.ts";

/** What a reader gives the archive. */
export type SimulatedUpload = {
  readonly folderId: number;
  readonly filename: string;
  readonly content: string;
  readonly sizeBytes: number;
  /** What its sidecar said. */
  readonly title?: string | undefined;
};

/** A document of the archive's store. Times are by the monotonic clock. */
export type StoredDocument = SimulatedUpload & {
  readonly id: number;
  /** Where it was sent, and under which name; people may have filed or named it otherwise since. */
  readonly sent: Pick<SimulatedUpload, "folderId" | "filename">;
  /** Paths, in small letters, that this folder had just before. */
  readonly folderPaths: readonly string[];
  /** When it was taken. */
  readonly storedAt: number;
  /** When it is in the store for all to see. */
  readonly committedAt: number;
  /** When its size is known, and when it is CONVERTED. */
  readonly sizedAt: number;
  readonly convertedAt: number;
  /** A person has filed it, be it back. */
  readonly filed?: true;
  readonly removed: boolean;
  readonly removedAt: number | null;
  /** Its last byte was not stored. */
  readonly shortened: boolean;
  /** Put there by someone else. */
  readonly foreign: boolean;
};

/** A document as the archive shows it at a moment; `zero` is its clock when ours began. */
export function detailOf(document: StoredDocument, asOf: number, zero: number): DocumentDetail {
  const { id, folderId, filename, committedAt, sizedAt, convertedAt } = document;
  const sizeBytes = document.sizeBytes - (document.shortened ? 1 : 0);
  const uploadedDate = zero + committedAt;
  const converted = convertedAt <= asOf;
  const documentName = filename.replace(/\.[^.]*$/, "");
  return {
    id,
    folderId,
    digidoc: isDigidoc(filename),
    documentName,
    filename,
    uploadedDate,
    createdDate: uploadedDate,
    pages: converted ? 1 : 0,
    filesize: sizedAt <= asOf ? sizeBytes : 0,
    status: converted ? "CONVERTED" : "UPLOADED",
  };
}

export function isDigidoc(filename: string): boolean {
  return filename.endsWith(".asice");
}

/** What the archive finds in a digidoc, by its content alone. */
export function contentsOf({ id, content, folderId }: StoredDocument): DocumentDetail[] {
  const number = 1 + (Number(content.split("-")[1] ?? 0) % 5);
  return Array.from({ length: number }, (_, index) => ({
    id: id * 1_000 + index,
    folderId,
    digidocId: id,
    digidoc: false,
    documentName: `inner-${index}`,
    filename: `inner-${index}.txt`,
    createdDate: 0,
    uploadedDate: 0,
    pages: 1,
    filesize: 10 + index,
  }));
}
