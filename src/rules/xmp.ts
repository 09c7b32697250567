/** XMP sidecars, as far as they say what an archive takes: Dublin Core, the PDF schema, PRISM. */
import { SaxesParser, type SaxesTagNS } from "saxes";
import { type MetadataField } from "../domain/slip.ts";
import { notesOf, type NotesFault, type ReadNotes } from "./notes.ts";

const DC = "http://purl.org/dc/elements/1.1/";
const PDF = "http://ns.adobe.com/pdf/1.3/";
const XMP = "http://ns.adobe.com/xap/1.0/";
const PRISM = "http://prismstandard.org/namespaces/basic/2.0/";
const RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/** Deeper than any XMP; what comes from anybody must not fill memory with open tags. */
const DEPTH_MAX = 32;

type Key = MetadataField | "date" | "expires";

/** Properties, and what they are here; the later one wins. */
const PROPERTIES: Readonly<Record<string, Key>> = {
  [`${DC}title`]: "title",
  [`${DC}creator`]: "author",
  [`${DC}description`]: "description",
  [`${PDF}Keywords`]: "keywords",
  [`${DC}subject`]: "keywords",
  [`${PDF}Producer`]: "producer",
  [`${XMP}CreateDate`]: "date",
  [`${DC}date`]: "date",
  [`${PRISM}expirationDate`]: "expires",
};

/** What an XMP file says; what it says beyond that is not for the archive. */
export function parseXmp(text: string): ReadNotes {
  const parser = new SaxesParser({ xmlns: true, position: true });
  const found = new Map<Key, { values: string[]; line: number; column: number }>();
  let fault: NotesFault | undefined;
  const reading = new Properties(found, () => ({
    line: parser.line,
    column: Math.max(1, parser.column),
  }));
  parser.on("error", (error) => {
    const message = `not XML: ${error.message.replace(/^\d*:?\d+:\s*/, "")}`;
    fault ??= { line: parser.line, column: Math.max(1, parser.column), message };
    throw error;
  });
  parser.on("opentag", (tag) => reading.open(tag));
  parser.on("text", (piece) => reading.text(piece));
  parser.on("cdata", (piece) => reading.text(piece));
  parser.on("closetag", () => reading.close());
  try {
    parser.write(text.replace(/^\ufeff/, "")).close();
  } catch (error) {
    if (fault) return { fault };
    if (!(error instanceof RangeError)) throw error;
    return {
      fault: { line: parser.line, column: Math.max(1, parser.column), message: error.message },
    };
  }
  const value = Object.fromEntries(
    [...found].map(([key, { values }]) => [key, values.join(key === "author" ? "; " : ", ")]),
  );
  return notesOf(value, "sidecar", (key) => found.get(key as Key) ?? { line: 1, column: 1 });
}

/** Follows the parser: a property is an element with text or a list in it, or an attribute. */
class Properties {
  readonly #found: Map<Key, { values: string[]; line: number; column: number }>;
  readonly #place: () => { line: number; column: number };
  #depth = 0;
  #inside: { key: Key; depth: number } | undefined;
  #item = "";
  /** Of alternatives in several languages, the first one counts. */
  #isAlternative = false;

  constructor(
    found: Map<Key, { values: string[]; line: number; column: number }>,
    place: () => { line: number; column: number },
  ) {
    this.#found = found;
    this.#place = place;
  }

  open(tag: SaxesTagNS): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new RangeError("nested too deeply");
    if (tag.uri === RDF && tag.local === "Alt") this.#isAlternative = true;
    if (tag.uri === RDF && tag.local === "Description") this.#attributes(tag);
    if (this.#inside) this.#item = "";
    const key = PROPERTIES[tag.uri + tag.local];
    if (key === undefined || this.#inside) return;
    this.#inside = { key, depth: this.#depth };
    this.#isAlternative = false;
    this.#found.set(key, { values: [], ...this.#place() });
    this.#item = "";
  }

  text(piece: string): void {
    if (this.#inside) this.#item += piece;
  }

  close(): void {
    const { key, depth } = this.#inside ?? {};
    const values = key && this.#found.get(key)?.values;
    const item = this.#item.trim();
    if (values && item !== "" && !(this.#isAlternative && values.length > 0)) values.push(item);
    this.#item = "";
    if (key && depth === this.#depth) {
      this.#inside = undefined;
      if (values?.length === 0) this.#found.delete(key);
    }
    this.#depth -= 1;
  }

  #attributes(tag: SaxesTagNS): void {
    for (const { uri, local, value } of Object.values(tag.attributes)) {
      const key = PROPERTIES[uri + local];
      if (key && value.trim() !== "") {
        this.#found.set(key, { values: [value.trim()], ...this.#place() });
      }
    }
  }
}
