import { type OpenPdf, type PdfBytes, withPdf } from "./pdfium.ts";

/** What a PDF or an office file says of its own. Absent: it does not say, or is protected or damaged beyond repair. */
export type DocumentFacts = {
  pages?: number;
  title?: string;
  author?: string;
  subject?: string;
  keywords?: string;
  producer?: string;
  description?: string;
  /** The text of its pages, a line break between them; cut at 1 MiB of characters. */
  text: string;
};

/** Characters of text. A guess: ample for a search index. */
export const TEXT_MAX = 1024 * 1024;
/** Pages that are looked through for it. */
const TEXT_PAGES_MAX = 500;

/** More pages than any document has; a bound for hostile files. */
const PAGES_MAX = 1_000_000;

/** Two numbers of 32 bits: a page's width and height. */
const SIZE_BYTES = 8;

/** The entries of a PDF's information dictionary. */
const ENTRIES = {
  title: "Title",
  author: "Author",
  subject: "Subject",
  keywords: "Keywords",
  producer: "Producer",
} as const;

/** A PDF that is in memory. */
export function pdfBytesOf(bytes: Buffer): PdfBytes {
  return {
    size: bytes.length,
    read: (position, length) => bytes.subarray(position, position + length),
  };
}

/**
 * The number of pages, by the PDF's own word; undefined when it is protected or beyond repair, or when the last of so
 * many pages is not there. Rejects with what `bytes.read` throws.
 */
export async function pdfPages(bytes: PdfBytes): Promise<number | undefined> {
  return withPdf(bytes, pagesOf);
}

/** Pages, metadata and text. Never rejects: what could not be read is missing. */
export async function pdfFacts(bytes: Buffer): Promise<DocumentFacts> {
  return (await withPdf(pdfBytesOf(bytes), factsOf)) ?? { text: "" };
}

function factsOf(pdf: OpenPdf): DocumentFacts {
  const pages = pagesOf(pdf);
  const facts: DocumentFacts = { ...(pages === undefined ? {} : { pages }), text: "" };
  for (const [fact, entry] of Object.entries(ENTRIES) as [keyof typeof ENTRIES, string][]) {
    const words = entryOf(pdf, entry).trim();
    if (words !== "") facts[fact] = words;
  }
  const number = pdf.pdfium.FPDF_GetPageCount(pdf.document);
  for (let page = 0; page < Math.min(number, TEXT_PAGES_MAX); page++) {
    const text = `${facts.text === "" ? "" : "\n"}${textOfPage(pdf, page)}`;
    facts.text += text.slice(0, TEXT_MAX - facts.text.length);
    if (facts.text.length >= TEXT_MAX) break;
  }
  return facts;
}

function entryOf({ pdfium, document }: OpenPdf, entry: string): string {
  const bytes = pdfium.FPDF_GetMetaText(document, entry, 0, 0);
  return wordsIn(pdfium, bytes, (to) => pdfium.FPDF_GetMetaText(document, entry, to, bytes));
}

/** The text of one page; empty when the page is damaged, so that the others still count. */
function textOfPage({ pdfium, document }: OpenPdf, index: number): string {
  const page = pdfium.FPDF_LoadPage(document, index);
  if (page === 0) return "";
  const text = pdfium.FPDFText_LoadPage(page);
  const characters = text === 0 ? 0 : Math.max(0, pdfium.FPDFText_CountChars(text));
  // Two bytes each, and two for the end.
  const words = wordsIn(pdfium, 2 * characters + 2, (to) =>
    pdfium.FPDFText_GetText(text, 0, characters, to),
  );
  if (text !== 0) pdfium.FPDFText_ClosePage(text);
  pdfium.FPDF_ClosePage(page);
  return words.replaceAll("\r\n", "\n").trimEnd();
}

/** What `put` writes to the place that it is given, as UTF-16 that ends with a zero. */
function wordsIn(
  { pdfium }: OpenPdf["pdfium"],
  bytes: number,
  put: (to: number) => unknown,
): string {
  if (bytes <= 2) return "";
  const to = pdfium.wasmExports.malloc(bytes);
  put(to);
  const words = pdfium.UTF16ToString(to);
  pdfium.wasmExports.free(to);
  return words;
}

function pagesOf({ pdfium, document }: OpenPdf): number | undefined {
  const pages = pdfium.FPDF_GetPageCount(document);
  if (pages < 1 || pages > PAGES_MAX) return undefined;
  const size = pdfium.pdfium.wasmExports.malloc(SIZE_BYTES);
  const isThere = pdfium.FPDF_GetPageSizeByIndexF(document, pages - 1, size);
  pdfium.pdfium.wasmExports.free(size);
  return isThere ? pages : undefined;
}
