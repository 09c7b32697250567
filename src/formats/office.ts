import { listDigidoc } from "./digidoc.ts";
import { type DocumentFacts, TEXT_MAX } from "./pdf.ts";

/** More pages than any office file has; a number that large is made up. */
const PAGES_MAX = 100_000;

/** What is said about a document in words. */
type Labels = Omit<DocumentFacts, "pages" | "text">;

/** Where the words are in DOCX, PPTX and OpenDocument; XLSX keeps them in one place for all sheets. */
const TEXTS =
  /^(?:document|content|sharedStrings|(?:slide|notesSlide|header|footer|comments?)\d*|footnotes|endnotes)\.xml$/;
const SHEET = /^sheet\d+\.xml$/;

/**
 * Words, pages and metadata of DOCX, XLSX, PPTX and OpenDocument. Pages are what the program that
 * wrote the file counted (`docProps/app.xml`: Pages or Slides; `meta.xml`: meta:page-count);
 * spreadsheets have none. The files are read with the reader of ZIP-based containers, for it is
 * bounded. Protected and old binary files say nothing.
 */
export async function officeFacts(bytes: Buffer): Promise<DocumentFacts> {
  const entries = await listDigidoc(bytes, "digidoc");
  const facts: DocumentFacts = { text: "" };
  const texts: string[] = [];
  for (const { name, path, bytes: content } of entries) {
    const xml = () => content.toString("utf8", 0, TEXT_MAX);
    if (TEXTS.test(name)) texts.push(withoutTags(xml()));
    else if (SHEET.test(name)) texts.push(inlineStrings(xml()));
    else if (name === "app.xml" || name === "meta.xml") {
      // An object that is embedded counts its own, which are fewer.
      const pages = pagesIn(xml());
      if (pages !== undefined) facts.pages = Math.max(facts.pages ?? 0, pages);
    }
    Object.assign(facts, labelsIn(path, xml));
  }
  facts.text = texts.join("\n").slice(0, TEXT_MAX);
  return facts;
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

/**
 * The elements that say it, by the entry that they are in; an object that is embedded has entries of
 * its own. Of two elements for one label the first counts.
 */
const PLACES: Record<string, Readonly<Record<string, keyof Labels>>> = {
  "docProps/core.xml": {
    title: "title",
    creator: "author",
    subject: "subject",
    keywords: "keywords",
    description: "description",
  },
  "docProps/app.xml": { Application: "producer" },
  "meta.xml": {
    title: "title",
    "initial-creator": "author",
    // Who changed it last, where nobody is said to have begun it.
    creator: "author",
    subject: "subject",
    keyword: "keywords",
    generator: "producer",
    description: "description",
  },
};

/** What the entry at `path` says; nothing where it is no place for that. Several words are a list. */
function labelsIn(path: string, xml: () => string): Labels {
  const labels: Labels = {};
  for (const [element, label] of Object.entries(PLACES[path] ?? {})) {
    // Whatever the writer calls the namespace; without `<` inside, so that it takes linear time.
    const tag = new RegExp(`<(?:[\\w-]+:)?${element}(?:\\s[^<>]*)?>([^<]*)<`, "g");
    const words = Array.from(xml().matchAll(tag), ([, text = ""]) => withoutTags(text).trim());
    const said = words.filter((word) => word !== "").join(", ");
    if (said !== "") labels[label] ??= said;
  }
  return labels;
}
