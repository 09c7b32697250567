import type { Kind } from "./kind.ts";
import { pdfPages } from "./pdf.ts";
import { accessOf } from "./random-access.ts";
import { readTiff } from "./tiff.ts";

export { type PdfFacts, pdfFacts } from "./pdf.ts";

/** Characters of plain text that fill an A4 page, roughly 60 lines of 50. A guess. */
const TEXT_PAGE_CHARACTERS = 3000;

const IMAGES: ReadonlySet<Kind> = new Set<Kind>(["jpeg", "png", "gif", "webp", "bmp", "heic"]);

/**
 * How many A4 pages the archive will probably charge for the document; undefined where the bytes
 * do not say (protected, damaged beyond repair, office files, mails, digidoc containers).
 *
 * An image is one page, however many pictures it holds; a text is one for every 3000 characters.
 * Never rejects.
 */
export async function countPages(bytes: Buffer, kind: Kind): Promise<number | undefined> {
  if (IMAGES.has(kind)) return 1;
  if (kind === "pdf") return pdfPages(bytes);
  if (kind === "text") return Math.max(1, Math.ceil(charactersOf(bytes) / TEXT_PAGE_CHARACTERS));
  if (kind !== "tiff") return undefined;
  const { pages } = await readTiff(accessOf(bytes), false);
  return pages > 0 ? pages : undefined;
}

/** Characters of UTF-8: bytes that do not continue one. Right for one-byte encodings, too, or nearly. */
function charactersOf(bytes: Buffer): number {
  let continuing = 0;
  for (const byte of bytes) if ((byte & 0xc0) === 0x80) continuing += 1;
  return bytes.length - continuing;
}
