/**
 * Where the objects of a PDF are (ISO 32000-1, 7.5): tables and streams of cross-references, and
 * objects within streams. Reads a few pieces of the file, whatever its size. Files that were
 * damaged, encrypted or made for old and new readers at once are left to a whole engine.
 */
import { inflateSync } from "node:zlib";
import type { RandomAccess } from "./random-access.ts";
import { NotPdf, type PdfDictionary, PdfParser, type PdfValue } from "./pdf-syntax.ts";

const TAIL_BYTES = 2048;
/** What is read first of an object, and at most. */
const PIECE_BYTES = 8 << 10;
const OBJECT_BYTES_MAX = 1 << 20;
/** Read and unpacked of one file: cross-references of a million objects. Hostile ones could keep us busy for minutes. */
const LOOKED_BYTES_MAX = 8 << 20;
/** Updates of one file that are followed. */
const SECTIONS_MAX = 100;
const ENTRY_BYTES = 20;

/** Where an object is: in the file, or within the stream of another object. */
type Place = { readonly offset: number } | { readonly stream: number; readonly index: number };

/** One table or stream of cross-references: the place of an object, if it knows it. */
type Section = (id: number) => Promise<Place | undefined>;

export class PdfObjects {
  readonly #file: RandomAccess;
  readonly #sections: Section[] = [];
  #root: PdfValue | undefined;
  /** Bytes that may still be looked at. */
  #left = LOOKED_BYTES_MAX;

  private constructor(file: RandomAccess) {
    this.#file = file;
  }

  /** Rejects with `NotPdf`. */
  static async open(file: RandomAccess): Promise<PdfObjects> {
    const objects = new PdfObjects(file);
    const from = Math.max(0, file.size - TAIL_BYTES);
    const tail = (await file.read(from, TAIL_BYTES)).toString("latin1");
    const start = /.*startxref\s+(\d{1,12})\s/s.exec(tail)?.[1];
    const seen = new Set<number>();
    for (let at: PdfValue | undefined = Number(start); at !== undefined; ) {
      if (typeof at !== "number" || !(at >= 0) || seen.has(at) || seen.size >= SECTIONS_MAX)
        throw new NotPdf("no cross-references");
      seen.add(at);
      at = await objects.#readSection(at);
    }
    return objects;
  }

  /** The catalogue. */
  async root(): Promise<PdfDictionary> {
    return this.dictionary(this.#root);
  }

  /** What a reference leads to, which must be a dictionary; else it rejects with `NotPdf`. */
  async dictionary(value: PdfValue | undefined): Promise<PdfDictionary> {
    if (value instanceof Map) return value;
    if (typeof value !== "object" || !("ref" in value)) throw new NotPdf("no reference");
    const place = await this.#placeOf(value.ref);
    if ("offset" in place) return (await this.#objectAt(place.offset, value.ref)).dictionary;
    const holder = await this.#placeOf(place.stream);
    if (!("offset" in holder)) throw new NotPdf("a stream within a stream");
    const { dictionary, bytes } = await this.#streamAt(holder.offset, place.stream);
    const text = bytes.toString("latin1");
    const header = new PdfParser(text);
    for (let pair = 0; pair < 2 * place.index; pair++) header.token();
    if (Number(header.token()) !== value.ref) throw new NotPdf("another object");
    return new PdfParser(text, numberOf(dictionary, "First") + Number(header.token())).dictionary();
  }

  async #placeOf(id: number): Promise<Place> {
    for (const section of this.#sections) {
      const place = await section(id);
      if (place) return place;
    }
    throw new NotPdf(`no object ${id}`);
  }

  /** Reads the section at `at`; returns where the one before it is. */
  async #readSection(at: number): Promise<PdfValue | undefined> {
    const isTable = (await this.#text(at, 4)) === "xref";
    const trailer = isTable ? await this.#readTable(at + 4) : await this.#readStream(at);
    // What is encrypted does not say, and what is hybrid says it twice.
    if (trailer.has("Encrypt") || trailer.has("XRefStm")) throw new NotPdf("not plain");
    this.#root ??= trailer.get("Root");
    return trailer.get("Prev");
  }

  async #readTable(from: number): Promise<PdfDictionary> {
    const parts: { first: number; count: number; at: number }[] = [];
    for (let at = from; parts.length < SECTIONS_MAX; ) {
      const text = await this.#text(at, 64);
      if (/^\s*trailer/.test(text)) {
        this.#sections.push((id) => this.#entryOf(id, parts));
        return this.#dictionaryAt(at + text.indexOf("trailer") + 7);
      }
      const header = /^\s*(\d{1,10})\s+(\d{1,10})[ \t]*(?:\r\n|\r|\n)/.exec(text);
      if (!header) break;
      const count = Number(header[2]);
      parts.push({ first: Number(header[1]), count, at: at + header[0].length });
      at += header[0].length + count * ENTRY_BYTES;
    }
    throw new NotPdf("no table");
  }

  async #entryOf(
    id: number,
    parts: readonly { first: number; count: number; at: number }[],
  ): Promise<Place | undefined> {
    const part = parts.find(({ first, count }) => id >= first && id < first + count);
    if (!part) return undefined;
    const entry = await this.#text(part.at + (id - part.first) * ENTRY_BYTES, ENTRY_BYTES);
    const offset = /^(\d{10}) \d{5} n/.exec(entry)?.[1];
    if (offset === undefined) throw new NotPdf(`object ${id} is not in use`);
    return { offset: Number(offset) };
  }

  async #readStream(at: number): Promise<PdfDictionary> {
    const { dictionary, bytes } = await this.#streamAt(at);
    const [type = 0, place = 0, index = 0] = numbersOf(dictionary.get("W"));
    const parts = dictionary.has("Index")
      ? numbersOf(dictionary.get("Index"))
      : [0, numberOf(dictionary, "Size")];
    this.#sections.push(async (id) => {
      for (let part = 0, before = 0; part + 1 < parts.length; part += 2) {
        const { [part]: first = 0, [part + 1]: count = 0 } = parts;
        if (id >= first && id < first + count) {
          const entry = (before + id - first) * (type + place + index);
          const kind = type === 0 ? 1 : uintOf(bytes, entry, type);
          const where = uintOf(bytes, entry + type, place);
          if (kind === 1) return { offset: where };
          if (kind === 2)
            return { stream: where, index: uintOf(bytes, entry + type + place, index) };
          throw new NotPdf(`object ${id} is not in use`);
        }
        before += count;
      }
      return undefined;
    });
    return dictionary;
  }

  /** The dictionary of the object at `offset`, and where its stream would begin. */
  async #objectAt(
    offset: number,
    id?: number,
  ): Promise<{ dictionary: PdfDictionary; end: number }> {
    for (let length = PIECE_BYTES; ; length *= 16) {
      const text = await this.#text(offset, length);
      const header = /^\s*(\d{1,10})\s+\d{1,5}\s+obj\b/.exec(text);
      if (!header || (id !== undefined && Number(header[1]) !== id)) throw new NotPdf("no object");
      const parser = new PdfParser(text, header[0].length);
      try {
        return { dictionary: parser.dictionary(), end: offset + parser.at };
      } catch (error) {
        if (!(error instanceof NotPdf) || length >= OBJECT_BYTES_MAX) throw error;
        if (offset + length >= this.#file.size) throw error;
      }
    }
  }

  async #streamAt(
    offset: number,
    id?: number,
  ): Promise<{ dictionary: PdfDictionary; bytes: Buffer }> {
    const { dictionary, end } = await this.#objectAt(offset, id);
    const begin = /^stream(?:\r\n|\n)/.exec(await this.#text(end, 8))?.[0];
    const length = numberOf(dictionary, "Length");
    if (begin === undefined) throw new NotPdf("no stream");
    const packed = await this.#piece(end + begin.length, length);
    const bytes = unpacked(packed, dictionary, this.#left);
    this.#spend(bytes.length);
    return { dictionary, bytes };
  }

  async #dictionaryAt(at: number): Promise<PdfDictionary> {
    return new PdfParser(await this.#text(at, PIECE_BYTES)).dictionary();
  }

  async #text(at: number, length: number): Promise<string> {
    return (await this.#piece(at, length)).toString("latin1");
  }

  async #piece(at: number, length: number): Promise<Buffer> {
    if (length > this.#left) throw new NotPdf("too much to look at");
    const piece = await this.#file.read(at, length);
    this.#spend(piece.length);
    return piece;
  }

  #spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new NotPdf("too much to look at");
  }
}

/** A number of the dictionary, 0 or more; throws `NotPdf` where it is not there. */
export function numberOf(dictionary: PdfDictionary, key: string): number {
  const value = dictionary.get(key);
  if (typeof value !== "number" || value < 0) throw new NotPdf(`no ${key}`);
  return value;
}

function numbersOf(value: PdfValue | undefined): number[] {
  if (!Array.isArray(value)) throw new NotPdf("no numbers");
  return value.map((item: PdfValue) => {
    if (typeof item !== "number" || item < 0) throw new NotPdf("no number");
    return item;
  });
}

function uintOf(bytes: Buffer, at: number, length: number): number {
  if (length > 6 || at + length > bytes.length) throw new NotPdf("no entry");
  return length === 0 ? 0 : bytes.readUIntBE(at, length);
}

function unpacked(bytes: Buffer, dictionary: PdfDictionary, bytesMax: number): Buffer {
  const filter = dictionary.get("Filter");
  if (filter === undefined) return bytes;
  if (filter !== "/FlateDecode") throw new NotPdf("another filter");
  const plain = inflated(bytes, bytesMax);
  const how = dictionary.get("DecodeParms");
  if (how === undefined) return plain;
  if (!(how instanceof Map)) throw new NotPdf("no parameters");
  const predictor = how.has("Predictor") ? numberOf(how, "Predictor") : 1;
  if (predictor === 1) return plain;
  if (predictor < 10 || how.has("Colors") || how.has("BitsPerComponent"))
    throw new NotPdf("another predictor");
  return withoutUp(plain, how.has("Columns") ? numberOf(how, "Columns") : 1);
}

function inflated(bytes: Buffer, bytesMax: number): Buffer {
  try {
    return inflateSync(bytes, { maxOutputLength: Math.max(1, bytesMax) });
  } catch {
    throw new NotPdf("cannot be unpacked");
  }
}

/** Undoes the predictors of PNG that tables are written with: none, and the row above. */
function withoutUp(bytes: Buffer, columns: number): Buffer {
  const rows = Math.floor(bytes.length / (columns + 1));
  const plain = Buffer.alloc(rows * columns);
  for (let row = 0; row < rows; row++) {
    const from = row * (columns + 1);
    const how = bytes[from];
    if (how !== 0 && how !== 2) throw new NotPdf("another predictor");
    for (let column = 0; column < columns; column++) {
      const above = how === 2 && row > 0 ? (plain[(row - 1) * columns + column] ?? 0) : 0;
      plain[row * columns + column] = ((bytes[from + 1 + column] ?? 0) + above) & 0xff;
    }
  }
  return plain;
}
