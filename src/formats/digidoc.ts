import { promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from "yauzl";
import { SaxesParser, type SaxesTagPlain } from "saxes";
import type { FileFormat } from "./file-format.ts";
import { STEERING } from "../std/printable.ts";

/**
 * The documents inside a digidoc container, in its order: the data files of ASiC-E, ASiC-S, BDOC
 * and EDOC (ZIP), and those embedded in a DDOC (XML). None for any other kind.
 *
 * Containers come from anywhere: entries, decoded bytes and compression are bounded, names are
 * reduced to their last part, entities are not expanded. Never rejects: a broken container gives
 * what could be read. Signatures are not checked.
 */
export async function listDigidoc(bytes: Buffer, kind: FileFormat): Promise<DataFile[]> {
  const files = new DataFiles();
  try {
    if (kind === "digidoc") await listAsic(bytes, files);
    if (kind === "ddoc") listDdoc(bytes, files);
  } catch {
    // Broken from here on; what came before it is still worth listing.
  }
  return files.list;
}

const inflate = promisify(inflateRaw);

/** Entries looked at, signatures among them. */
const ENTRIES_MAX = 1000;
/** Above this size an entry that shrank by more than this factor is taken for a trap. Guesses. */
const RATIO_FREE_BYTES = 1024 * 1024;
const RATIO_MAX = 250;

const STORED = 0;
const DEFLATED = 8;

/** Adds the data files of a ZIP-based container: all but `mimetype` and what is in `META-INF/`. */
async function listAsic(bytes: Buffer, files: DataFiles): Promise<void> {
  // Names stay bytes, for otherwise one bad name would end the whole list.
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false });
  let entries = 0;
  for await (const entry of zip.eachEntry()) {
    entries += 1;
    if (entries > ENTRIES_MAX) break;
    const name = nameOf(entry);
    if (name === "mimetype" || /^META-INF\//i.test(name) || name.endsWith("/")) continue;
    const content = await contentOf(bytes, zip, entry, files.room);
    if (content) files.add(name, content);
  }
}

/** Many writers forget the flag that says UTF-8, so what can be UTF-8 is. */
function nameOf(entry: Entry): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(entry.fileNameRaw);
  } catch {
    const { generalPurposeBitFlag: flags, fileNameRaw, extraFields } = entry;
    return getFileNameLowLevel(flags, fileNameRaw, extraFields, true);
  }
}

/** The entry's content; undefined when it is damaged, encrypted, too large or suspicious. */
async function contentOf(
  bytes: Buffer,
  zip: ZipFile,
  entry: Entry,
  room: number,
): Promise<Buffer | undefined> {
  const { compressedSize, uncompressedSize, compressionMethod } = entry;
  if (entry.isEncrypted() || uncompressedSize > room) return undefined;
  if (uncompressedSize > RATIO_FREE_BYTES && uncompressedSize > compressedSize * RATIO_MAX)
    return undefined;
  try {
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const packed = bytes.subarray(fileDataStart, fileDataStart + compressedSize);
    const content = await unpacked(packed, compressionMethod, uncompressedSize);
    if (content?.length !== uncompressedSize || crc32(content) !== entry.crc32) return undefined;
    return content;
  } catch {
    // Damage in one entry leaves the others readable.
    return undefined;
  }
}

async function unpacked(packed: Buffer, method: number, size: number): Promise<Buffer | undefined> {
  // A copy, so that a small data file does not keep the whole container in memory.
  if (method === STORED) return Buffer.from(packed);
  if (method !== DEFLATED) return undefined;
  return inflate(packed, { maxOutputLength: Math.max(1, size) });
}

/** Bytes given to the parser at a time. */
const PIECE_BYTES = 64 * 1024;

/**
 * Adds the data files of a DDOC: SK-XML 1.0 and DIGIDOC-XML 1.0 to 1.3. Those that are only
 * referred to (`DETATCHED`, as the format spells it, and `HASHCODE`) have no content here and are
 * left out. The parser knows the five entities of XML and rejects any other.
 *
 * @throws what the parser rejects; the data files before that are added
 */
function listDdoc(bytes: Buffer, files: DataFiles): void {
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

/** A document inside a digidoc container. */
type DataFile = {
  /** Its last part only, without control characters; never empty, `.` or `..`. */
  name: string;
  /** As the container has it: for comparing only, since it may lead anywhere. */
  path: string;
  /** Bytes. */
  size: number;
  bytes: Buffer;
};

/** Decoded bytes of one container; a guess at what a server can hold in memory. */
const TOTAL_BYTES_MAX = 256 * 1024 * 1024;
/** Data files of one container. */
const FILES_MAX = 1000;
/** Longer names fit no file system. Characters. */
const NAME_LENGTH_MAX = 255;
/** Nor paths; a container may have one as long as itself. Characters. */
const PATH_LENGTH_MAX = 4096;

/** Collects the data files of a container and keeps them within bounds. */
class DataFiles {
  readonly list: DataFile[] = [];
  #left = TOTAL_BYTES_MAX;

  /** No more are taken. */
  get isFull(): boolean {
    return this.list.length >= FILES_MAX;
  }

  /** Decoded bytes that there is still room for. */
  get room(): number {
    return this.#left;
  }

  /** Adds a data file; one that is too large for what is left, or one too many, is passed over. */
  add(name: string, bytes: Buffer): void {
    if (this.isFull || bytes.length > this.#left) return;
    this.#left -= bytes.length;
    this.list.push({ name: safeName(name), path: name, size: bytes.length, bytes });
  }
}

/** The last part of the name, without control characters and marks that turn the text around. */
function safeName(name: string): string {
  const parts = name.slice(-PATH_LENGTH_MAX).split(/[/\\]/);
  const last = parts.findLast((part) => part !== "") ?? "";
  const plain = last.replace(STEERING, "").trim();
  const cut = Array.from(plain).slice(0, NAME_LENGTH_MAX).join("");
  return cut === "" || cut === "." || cut === ".." ? "unnamed" : cut;
}
