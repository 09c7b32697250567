import { isAscii } from "node:buffer";
import type { FileFormat } from "./file-format.ts";
import type { RandomAccess } from "./random-access.ts";
import { readTiff } from "./tiff.ts";

/** Characters of plain text that fill an A4 page, roughly 60 lines of 50. A guess. */
const TEXT_PAGE_CHARACTERS = 3000;

const IMAGES: ReadonlySet<FileFormat> = new Set<FileFormat>([
  "jpeg",
  "png",
  "gif",
  "webp",
  "bmp",
  "heic",
]);

/**
 * How many A4 pages the archive will probably charge for the document; undefined where the bytes
 * do not say (protected, damaged beyond repair, office files, mails, digidoc containers).
 *
 * An image is one page, however many pictures it holds; a text is one for every 3000 characters. Little of a file is
 * read, but for a text. Rejects with what `file` and `pdfPages` reject with.
 *
 * @param pdfPages counts those of a PDF, in whatever thread
 */
export async function countPages(
  file: RandomAccess,
  kind: FileFormat,
  pdfPages: () => Promise<number | undefined>,
): Promise<number | undefined> {
  if (IMAGES.has(kind)) return 1;
  if (kind === "pdf") return pdfPages();
  if (kind === "text") return file.size > TEXT_BYTES_MAX ? undefined : textPages(file);
  if (kind !== "tiff") return undefined;
  const { pages } = await readTiff(file);
  return pages > 0 ? pages : undefined;
}

/** What the bytes of a text begin with where its encoding is marked. */
const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** Text is read in pieces of this size, and no further than so many bytes: larger ones are no letters. */
const PIECE_BYTES = 1 << 20;
const TEXT_BYTES_MAX = 64 << 20;

async function textPages(file: RandomAccess): Promise<number> {
  const mark = await file.read(0, Math.min(3, file.size));
  if (UTF16_MARKS.some((bytes) => mark.subarray(0, 2).equals(bytes)))
    return pagesOfText((file.size - 2) / 2);
  let characters = 0;
  for (let at = 0; at < file.size; at += PIECE_BYTES)
    characters += charactersOf(await file.read(at, Math.min(PIECE_BYTES, file.size - at)));
  return pagesOfText(mark.equals(UTF8_MARK) ? characters - 1 : characters);
}

function pagesOfText(characters: number): number {
  return Math.max(1, Math.ceil(characters / TEXT_PAGE_CHARACTERS));
}

/** Characters of UTF-8: bytes that do not continue one. Right for one-byte encodings, too, or nearly. */
function charactersOf(bytes: Buffer): number {
  if (isAscii(bytes)) return bytes.length;
  let continuing = 0;
  // By index: an iterator takes ten times as long, and there are millions of them in a large text.
  for (let at = 0; at < bytes.length; at++) if (((bytes[at] ?? 0) & 0xc0) === 0x80) continuing += 1;
  return bytes.length - continuing;
}
