import { SaxesParser, type SaxesTagPlain } from "saxes";
import type { DataFiles } from "./data-files.ts";

/** Bytes given to the parser at a time. */
const PIECE_BYTES = 64 * 1024;

/**
 * Adds the data files of a DDOC: SK-XML 1.0 and DIGIDOC-XML 1.0 to 1.3. Those that are only
 * referred to (`DETATCHED`, as the format spells it, and `HASHCODE`) have no content here and are
 * left out. The parser knows the five entities of XML and rejects any other.
 *
 * @throws what the parser rejects; the data files before that are added
 */
export function listDdoc(bytes: Buffer, files: DataFiles): void {
  const parser = new SaxesParser({ xmlns: false, position: false });
  const reading = new DataFileReader(files);
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", (tag) => reading.open(tag));
  parser.on("text", (text) => reading.text(text));
  parser.on("cdata", (text) => reading.text(text));
  parser.on("closetag", (tag) => reading.close(tag));
  const decoder = new TextDecoder(encodingOf(bytes));
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    parser.write(decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true }));
  parser.write(decoder.decode()).close();
}

/** Follows the parser through the `DataFile` elements. */
class DataFileReader {
  readonly #files: DataFiles;
  #current: { tag: SaxesTagPlain; text: string[] } | undefined;

  constructor(files: DataFiles) {
    this.#files = files;
  }

  open(tag: SaxesTagPlain): void {
    if (this.#current || localName(tag) !== "DataFile" || this.#files.isFull) return;
    if (isEmbedded(tag)) this.#current = { tag, text: [] };
  }

  text(text: string): void {
    this.#current?.text.push(text);
  }

  close(tag: SaxesTagPlain): void {
    if (!this.#current || tag !== this.#current.tag) return;
    const { attributes } = this.#current.tag;
    const text = this.#current.text.join("");
    const isBase64 = attributes["ContentType"] === "EMBEDDED_BASE64";
    this.#current = undefined;
    this.#files.add(attributes["Filename"] ?? "", Buffer.from(text, isBase64 ? "base64" : "utf8"));
  }
}

function isEmbedded(tag: SaxesTagPlain): boolean {
  const type = tag.attributes["ContentType"];
  return type === "EMBEDDED_BASE64" || type === "EMBEDDED";
}

function localName(tag: SaxesTagPlain): string {
  return tag.name.slice(tag.name.indexOf(":") + 1);
}

/** The encoding of the XML declaration where it is a known one; otherwise UTF-8, as for all XML. */
function encodingOf(bytes: Buffer): string {
  const declared = /^<\?xml[^>]*encoding=["']([\w.-]+)/.exec(bytes.toString("latin1", 0, 200))?.[1];
  try {
    return new TextDecoder(declared ?? "utf-8").encoding;
  } catch {
    return "utf-8";
  }
}
