import type { PDFDocumentProxy } from "pdfjs-dist/legacy/build/pdf.mjs";
import { pdfEngine } from "./pdf-engine.ts";
import { believed } from "./pdf-pages.ts";

/** What a PDF says of itself. Absent: it does not say, or is protected or damaged beyond repair. */
export type PdfFacts = {
  pages?: number;
  title?: string;
  author?: string;
  subject?: string;
  keywords?: string;
  producer?: string;
  /** The text of its pages, a line break between them; cut at 1 MiB of characters. */
  text: string;
};

/** Characters of text, and pages looked through for it. Guesses: ample for a search index. */
const TEXT_MAX = 1024 * 1024;
const TEXT_PAGES_MAX = 500;

/** The number of pages; undefined when the PDF is protected or beyond repair. Never rejects. */
export async function pdfPages(bytes: Buffer): Promise<number | undefined> {
  return withPdf(bytes, undefined, async (pdf) => believed(pdf.numPages));
}

/** Pages, metadata and text. Never rejects: what could not be read is missing. */
export async function pdfFacts(bytes: Buffer): Promise<PdfFacts> {
  const facts: PdfFacts = { text: "" };
  return withPdf(bytes, facts, async (pdf) => {
    const pages = believed(pdf.numPages);
    if (pages !== undefined) facts.pages = pages;
    Object.assign(facts, await metadataOf(pdf));
    for (let page = 1; page <= Math.min(pdf.numPages, TEXT_PAGES_MAX); page++) {
      const text = `${facts.text === "" ? "" : "\n"}${await textOfPage(pdf, page)}`;
      facts.text += text.slice(0, TEXT_MAX - facts.text.length);
      if (facts.text.length >= TEXT_MAX) break;
    }
    return facts;
  });
}

/** Calls `use` with the opened PDF; resolves with `otherwise` when anything goes wrong. */
async function withPdf<T>(
  bytes: Buffer,
  otherwise: T,
  use: (pdf: PDFDocumentProxy) => Promise<T>,
): Promise<T> {
  const { getDocument, VerbosityLevel } = await pdfEngine();
  const task = getDocument({
    // The engine takes the memory over, so it gets its own.
    data: new Uint8Array(bytes),
    verbosity: VerbosityLevel.ERRORS,
    useWorkerFetch: false,
    useSystemFonts: false,
    disableFontFace: true,
    useWasm: false,
    enableXfa: false,
  });
  try {
    return await use(await task.promise);
  } catch {
    // Protected, damaged or hostile: the engine rejects with a dozen classes, and to us all mean
    // that these bytes do not say.
    return otherwise;
  } finally {
    await task.destroy().catch(() => undefined);
  }
}

/** Where a PDF may state a fact: in its info dictionary or, by newer habit, in its XMP. */
const PLACES = {
  title: { info: "Title", xmp: "dc:title" },
  author: { info: "Author", xmp: "dc:creator" },
  subject: { info: "Subject", xmp: "dc:description" },
  keywords: { info: "Keywords", xmp: "pdf:keywords" },
  producer: { info: "Producer", xmp: "pdf:producer" },
} as const;

async function metadataOf(pdf: PDFDocumentProxy): Promise<Omit<PdfFacts, "pages" | "text">> {
  const { info, metadata } = await pdf.getMetadata();
  const stated = new Map<string, unknown>(Object.entries(info));
  const facts: Omit<PdfFacts, "pages" | "text"> = {};
  for (const [fact, place] of Object.entries(PLACES) as [keyof typeof PLACES, Place][]) {
    const words = wordsOf(stated.get(place.info)) ?? wordsOf(metadata?.get(place.xmp));
    if (words !== undefined) facts[fact] = words;
  }
  return facts;
}

type Place = (typeof PLACES)[keyof typeof PLACES];

/** The value as text when it says anything; XMP gives several authors as a list. */
function wordsOf(value: unknown): string | undefined {
  const words: unknown = Array.isArray(value) ? value.join(", ") : value;
  return typeof words === "string" && words.trim() !== "" ? words.trim() : undefined;
}

/** The text of one page; empty when the page is damaged, so that the others still count. */
async function textOfPage(pdf: PDFDocumentProxy, number: number): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return items
      .map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : ""))
      .join("");
  } catch {
    return "";
  }
}
