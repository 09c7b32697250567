import { legible } from "./printable.ts";

/**
 * File names are bytes. A `RawPath` holds them one byte a character (latin1), so that it can be a
 * map's key, is compact, and crosses processes unchanged; it is never shown to anyone as it is.
 * Paths are relative, parts joined by `/`, the root is the empty string.
 */
export type RawPath = string & { readonly __raw: unique symbol };

/** The empty path: a mirror's source itself. */
export const ROOT = "" as RawPath;

/** The raw path of these bytes. */
export function rawOf(bytes: Uint8Array): RawPath {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    "latin1",
  ) as RawPath;
}

/** The raw path of text that a person typed (UTF-8). */
export function rawOfText(text: string): RawPath {
  return Buffer.from(text, "utf8").toString("latin1") as RawPath;
}

/** The bytes, for the file system and the journal. */
export function bytesOf(raw: RawPath): Buffer {
  return Buffer.from(raw, "latin1");
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The name as text when its bytes are UTF-8, else undefined. */
export function textOf(raw: RawPath): string | undefined {
  // Plain ASCII is the common case and needs no decoding.
  if (!/[^\p{ASCII}]/u.test(raw)) return raw;
  try {
    return utf8.decode(bytesOf(raw));
  } catch {
    return undefined;
  }
}

/**
 * The name as it is shown: text where the bytes are UTF-8, bytes that are not as `\xHH`, control
 * characters escaped, so that a hostile name cannot write over a terminal or split a log line.
 */
export function shown(raw: RawPath): string {
  return legible(textOf(raw) ?? escapeInvalid(bytesOf(raw)));
}

/**
 * The name for programs, which JSON keeps whole: text as it is, so that it is found on disk under
 * it; where the bytes are not UTF-8, as it is shown.
 */
export function exact(raw: RawPath): string {
  return textOf(raw) ?? shown(raw);
}

/** Valid UTF-8 runs stay text; every other byte becomes `\xHH`. */
function escapeInvalid(bytes: Buffer): string {
  let out = "";
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      out += `\\x${(bytes[at] ?? 0).toString(16).padStart(2, "0")}`;
      at += 1;
    } else {
      out += bytes.toString("utf8", at, at + length);
      at += length;
    }
  }
  return out;
}

/** How many bytes the UTF-8 sequence at `at` takes, or 0 when there is none. */
function sequenceLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    try {
      utf8.decode(bytes.subarray(at, at + length));
      return length;
    } catch {
      // Not a whole sequence yet; a longer one may be.
    }
  }
  return 0;
}

/** `a/b` from `a` and `b`; the root vanishes. */
export function joinRaw(dir: RawPath, name: RawPath): RawPath {
  return (dir === "" ? name : `${dir}/${name}`) as RawPath;
}

/** The directory part; the root for a name at the top. */
export function dirOf(path: RawPath): RawPath {
  const slash = path.lastIndexOf("/");
  return (slash < 0 ? "" : path.slice(0, slash)) as RawPath;
}

/** The last part. */
export function nameOf(path: RawPath): RawPath {
  return path.slice(path.lastIndexOf("/") + 1) as RawPath;
}

/** The parts, top first; none for the root. */
export function partsOf(path: RawPath): RawPath[] {
  return path === "" ? [] : (path.split("/") as RawPath[]);
}
