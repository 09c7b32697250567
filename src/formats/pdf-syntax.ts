/**
 * The objects of a PDF's syntax, as far as its bookkeeping needs them (ISO 32000-1, 7.3): numbers,
 * names, references, arrays, dictionaries. Strings are passed over.
 */

/** A number, a name (`/Type`), a reference to an object, or several of them. */
export type PdfValue = number | string | { readonly ref: number } | PdfArray | PdfDictionary;
/** ISO 32000-1, 7.3.6. A string in it is only its `(`. */
export type PdfArray = readonly PdfValue[];
/** ISO 32000-1, 7.3.7. Keys are without their slash; of a key that comes twice the last value holds. */
export type PdfDictionary = ReadonlyMap<string, PdfValue>;

/** The bytes are not as the syntax has it; whoever is more patient may read them. */
export class NotPdf extends Error {}

/** Deeper than any bookkeeping; a bound for hostile files. */
const DEPTH_MAX = 32;

const BLANK = /(?:[\s\0]|%[^\r\n]*)*/y;
const TOKEN = /<<|>>|[[\]]|<[\dA-Fa-f\s]*>|\/[^\s\0<>[\](){}%/]*|[^\s\0<>[\](){}%/]+|\(/y;
const REFERENCE = /(\d{1,10})\s+\d{1,5}\s+R(?![^\s\0<>[\](){}%/])/y;

/** Reads the text (Latin-1) from a place on. Throws `NotPdf`. */
export class PdfParser {
  readonly #text: string;
  #at: number;

  constructor(text: string, at = 0) {
    this.#text = text;
    this.#at = at;
  }

  /** Where the next token begins. */
  get at(): number {
    this.#match(BLANK);
    return this.#at;
  }

  /** One value. */
  value(depth = 0): PdfValue {
    if (depth > DEPTH_MAX) throw new NotPdf("nested too deeply");
    this.#match(BLANK);
    const reference = this.#match(REFERENCE);
    if (reference) return { ref: Number(reference[1]) };
    const token = this.token();
    if (token === "<<") return this.#dictionary(depth);
    if (token === "[") return this.#array(depth);
    if (token === ">>" || token === "]") throw new NotPdf(`unexpected ${token}`);
    return /^[+-]?\d+$/.test(token) ? Number(token) : token;
  }

  /** One value, which must be a dictionary. */
  dictionary(): PdfDictionary {
    const value = this.value();
    if (!(value instanceof Map)) throw new NotPdf("no dictionary");
    return value;
  }

  /** One token; a string is all of its own. */
  token(): string {
    this.#match(BLANK);
    const token = this.#match(TOKEN)?.[0];
    if (token === undefined) throw new NotPdf("the text ends");
    if (token === "(") this.#passString();
    return token;
  }

  #dictionary(depth: number): PdfDictionary {
    const entries = new Map<string, PdfValue>();
    for (;;) {
      const key = this.token();
      if (key === ">>") return entries;
      if (!key.startsWith("/")) throw new NotPdf("a key is no name");
      entries.set(key.slice(1), this.value(depth + 1));
    }
  }

  #array(depth: number): PdfArray {
    const items: PdfValue[] = [];
    for (;;) {
      this.#match(BLANK);
      if (this.#text[this.#at] === "]") {
        this.#at += 1;
        return items;
      }
      items.push(this.value(depth + 1));
    }
  }

  /** Behind its opening parenthesis; parentheses in it come in pairs, or behind a backslash. */
  #passString(): void {
    for (let depth = 1; depth > 0; this.#at += 1) {
      const character = this.#text[this.#at];
      if (character === undefined) throw new NotPdf("a string without an end");
      if (character === "\\") this.#at += 1;
      else if (character === "(") depth += 1;
      else if (character === ")") depth -= 1;
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at = pattern.lastIndex;
    return match;
  }
}
