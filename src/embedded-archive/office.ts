import { listDigidoc } from "../formats/digidoc.ts";

/** Characters of one document that the content search sees. A guess. */
export const TEXT_MAX = 1024 * 1024;
/** More pages than any office file has; a number that large is made up. */
const PAGES_MAX = 100_000;

/** What an office file says of itself. */
export type OfficeFacts = { pages: number | undefined; text: string };

/** Where the words are in DOCX, PPTX and OpenDocument; XLSX keeps them in one place for all sheets. */
const TEXTS =
  /^(?:document|content|sharedStrings|(?:slide|notesSlide|header|footer|comments?)\d*|footnotes|endnotes)\.xml$/;
const SHEET = /^sheet\d+\.xml$/;

/**
 * Words and pages of DOCX, XLSX, PPTX and OpenDocument. Pages are what the program that wrote the
 * file counted (`docProps/app.xml`: Pages or Slides; `meta.xml`: meta:page-count); spreadsheets
 * have none. The files are read with the reader of ZIP-based containers, for it is bounded; it
 * knows entries by the last part of their names. Protected and old binary files say nothing.
 */
export async function officeFacts(bytes: Buffer): Promise<OfficeFacts> {
  const entries = await listDigidoc(bytes, "digidoc");
  const texts: string[] = [];
  let pages: number | undefined;
  for (const entry of entries) {
    const xml = () => entry.bytes.toString("utf8", 0, TEXT_MAX);
    if (TEXTS.test(entry.name)) texts.push(withoutTags(xml()));
    else if (SHEET.test(entry.name)) texts.push(inlineStrings(xml()));
    else if (entry.name === "app.xml" || entry.name === "meta.xml") {
      // An object that is embedded counts its own, which are fewer.
      const counted = pagesIn(xml());
      if (counted !== undefined) pages = Math.max(pages ?? 0, counted);
    }
  }
  return { pages, text: texts.join("\n").slice(0, TEXT_MAX) };
}

function pagesIn(xml: string): number | undefined {
  const found =
    /<(?:\w+:)?Slides>(\d{1,9})</.exec(xml) ??
    /<(?:\w+:)?Pages>(\d{1,9})</.exec(xml) ??
    /\bmeta:page-count="(\d{1,9})"/.exec(xml);
  const pages = Number(found?.[1]);
  return pages >= 1 && pages <= PAGES_MAX ? pages : undefined;
}

/** Cells that carry their own text; the others are numbers, or point at the shared strings. */
function inlineStrings(xml: string): string {
  const strings = xml.split("<is>").slice(1);
  return strings.map((rest) => withoutTags(rest.slice(0, rest.indexOf("</is>")))).join("\n");
}

/** Text of XML. Paragraphs and cells end words; other tags may stand in the middle of one. */
export function withoutTags(xml: string): string {
  return (
    xml
      .replace(/<\/(?:w:p|a:p|text:p|text:h|si|row)>|<(?:w:tab|w:br|text:tab|text:s)[ /]/g, "\n$&")
      // Without `<` inside, so that the time it takes grows with the text and not with its square.
      .replace(/<[^<>]*>/g, "")
      .replace(/&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi, entity)
  );
}

function entity(whole: string, name?: string, decimal?: string, hex?: string): string {
  if (name !== undefined) return ENTITIES.get(name.toLowerCase()) ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

const ENTITIES = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);
