import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { listDigidoc } from "../formats/digidoc.ts";
import { type Kind, kindOf } from "../formats/kind.ts";
import { countPages, pdfFacts } from "../formats/pages.ts";
import type { Converted } from "./document-table.ts";

/** Larger files are not looked into: they count as one page without text. */
const SIZE_MAX = 256 * 1024 * 1024;
/** Characters of one document that the content search sees. A guess. */
const TEXT_MAX = 1024 * 1024;

/** The pages charged for a file: at least 1, and 1 where its bytes do not say. */
export async function pagesOf(path: string, filename: string): Promise<number> {
  const bytes = await bytesOf(path);
  return bytes ? pagesOfBytes(bytes, kindOf(bytes, filename)) : 1;
}

/** What the conversion finds in a file: pages, metadata, text, and what a digidoc contains. */
export async function extract(path: string, filename: string): Promise<Converted> {
  const bytes = await bytesOf(path);
  if (!bytes) return NOTHING_FOUND;
  const kind = kindOf(bytes, filename);
  if (kind === "pdf") {
    const { pages = 1, ...facts } = await pdfFacts(bytes);
    return { ...NOTHING_FOUND, ...facts, pages: Math.max(1, pages) };
  }
  const found = { ...NOTHING_FOUND, pages: await pagesOfBytes(bytes, kind) };
  if (kind !== "digidoc" && kind !== "ddoc") return { ...found, text: await textOf(bytes, kind) };
  return { ...found, digidoc: true, ...(await insideOf(bytes, kind)) };
}

/** A document that nothing could be found out about. */
export const NOTHING_FOUND: Converted = { pages: 1, digidoc: false, text: "", contents: [] };

async function bytesOf(path: string): Promise<Buffer | undefined> {
  const { size } = await stat(path);
  return size > SIZE_MAX ? undefined : readFile(path);
}

async function pagesOfBytes(bytes: Buffer, kind: Kind): Promise<number> {
  return Math.max(1, (await countPages(bytes, kind)) ?? 1);
}

/** The documents in a digidoc container, and all their names and texts for the search. */
async function insideOf(
  container: Buffer,
  kind: Kind,
): Promise<Pick<Converted, "contents" | "text">> {
  const contents: Converted["contents"] = [];
  let text = "";
  for (const { name, size, bytes } of await listDigidoc(container, kind)) {
    const inner = kindOf(bytes, name);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    contents.push({ name, size, sha256, pages: await pagesOfBytes(bytes, inner) });
    if (text.length < TEXT_MAX) text += `${name}\n${await textOf(bytes, inner)}\n`;
  }
  return { contents, text: text.slice(0, TEXT_MAX) };
}

async function textOf(bytes: Buffer, kind: Kind): Promise<string> {
  if (kind === "text" || kind === "mail") return bytes.toString("utf8", 0, TEXT_MAX);
  if (kind === "xml") return withoutTags(bytes.toString("utf8", 0, TEXT_MAX));
  if (kind === "pdf") return (await pdfFacts(bytes)).text;
  if (kind === "office") return textOfOffice(bytes);
  return "";
}

/** Where the words are in DOCX, XLSX, PPTX and OpenDocument. */
const OFFICE_TEXTS = /^(?:document|sharedStrings|slide\d+|content)\.xml$/;

/** Office files are read with the reader of ZIP-based containers, for it is bounded. */
async function textOfOffice(bytes: Buffer): Promise<string> {
  const entries = await listDigidoc(bytes, "digidoc");
  return entries
    .filter(({ name }) => OFFICE_TEXTS.test(name))
    .map((entry) => withoutTags(entry.bytes.toString("utf8", 0, TEXT_MAX)))
    .join("\n")
    .slice(0, TEXT_MAX);
}

/** Paragraphs and cells end words; other tags may stand in the middle of one. */
function withoutTags(xml: string): string {
  return xml
    .replace(/<\/(?:w:p|a:p|text:p|text:h|si|row)>/g, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES.get(name) ?? "");
}

const ENTITIES = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);
