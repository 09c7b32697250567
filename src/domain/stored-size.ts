/** What an archive's `filesize` of a document proves: it is the only thing it says of the bytes that it has. */
import type { Document } from "./document.ts";

/** `any`: the archive changes documents on purpose, so that their size says nothing of what was sent. */
export type StoredSize = "same" | "any";

/**
 * How the size that the archive gives a CONVERTED document differs from what was sent, in words; undefined where
 * it does not, where that means nothing, and where nobody knows what was sent.
 */
export function sizeDifference(
  { sentBytes }: Pick<Document, "sentBytes">,
  filesize: number,
  storedSize: StoredSize = "same",
): string | undefined {
  if (storedSize === "any" || sentBytes === null || filesize === sentBytes) return undefined;
  return `the archive reports ${filesize} bytes, ${sentBytes} were sent`;
}

/** What is remarked on a document that became CONVERTED, where its size is news. */
export function sizeRemark(
  document: Pick<Document, "sentBytes" | "remark">,
  filesize: number,
  storedSize: StoredSize | undefined,
): { readonly remark?: string } {
  const differs = sizeDifference(document, filesize, storedSize);
  if (differs === undefined) return {};
  return { remark: document.remark === null ? differs : `${document.remark}; ${differs}` };
}
