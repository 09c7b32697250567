import type { FileFormat } from "../../../src/formats/file-format.ts";
import { countPages } from "../../../src/formats/count-pages.ts";
import { pdfBytesOf, pdfPages } from "../../../src/formats/pdf.ts";
import { accessOf } from "../../../src/formats/random-access.ts";

/** The pages of a document in memory; undefined where its bytes do not say. */
export function pagesOf(bytes: Buffer, kind: FileFormat): Promise<number | undefined> {
  return countPages(accessOf(bytes), kind, () => pdfPages(pdfBytesOf(bytes)));
}
