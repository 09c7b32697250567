import type { FileFormat } from "../../../src/formats/kind.ts";
import { countPages } from "../../../src/formats/pages.ts";
import { pdfBytesOf, pdfPages } from "../../../src/formats/pdf.ts";
import { accessOf } from "../../../src/formats/random-access.ts";

/** The pages of a document in memory; undefined where its bytes do not say. */
export function pagesOf(bytes: Buffer, kind: FileFormat): Promise<number | undefined> {
  return countPages(accessOf(bytes), kind, () => pdfPages(pdfBytesOf(bytes)));
}
