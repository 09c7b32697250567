/** Formats that are text and have an end all the same: XML, RTF, and mail of several parts. */
import { COMPLETE, type Judged, type Judgement, UNKNOWN, unfinished } from "./completeness.ts";
import { lastIndexOf, pieces } from "./random-access.ts";

/**
 * What precedes or follows the root of an XML document: invoices have their licence there, and XMP leaves kilobytes of
 * room. A guess.
 */
const XML_AROUND_BYTES = 64 << 10;
/** Headers of a mail that crossed many servers have some 20 KB. */
const MAIL_HEADER_BYTES = 64 << 10;
/** What is put up with behind the last part of a mail. */
const EPILOGUE_BYTES = 1 << 20;
/** An RTF is read as far. */
const RTF_BYTES = 64 << 20;

/** XML ends with the end tag of its root, and a DDOC is XML. What does not begin as XML does, says nothing. */
export async function completenessOfXml({ file, head }: Judged): Promise<Judgement> {
  const start = ROOT.test(beginningOf(head)) ? head : await file.read(0, XML_AROUND_BYTES);
  const text = beginningOf(start);
  const root = ROOT.exec(text)?.[1];
  if (root === undefined) {
    const mayCome = text === "" || text.startsWith("<");
    const isRead = start.length === file.size;
    return isRead && mayCome ? unfinished("it ends before its first tag") : UNKNOWN;
  }
  const from = Math.max(0, file.size - XML_AROUND_BYTES);
  const tail = withoutNotes(charactersOf(await file.read(from, file.size - from)));
  if (tail === undefined) return UNKNOWN;
  const last = tail.slice(tail.lastIndexOf("<"));
  if (/^<\/([^\s>]+)\s*>$/.exec(last)?.[1] === root) return COMPLETE;
  const isItsOnly = text.startsWith(last) || !tail.includes("<");
  return isItsOnly && last.endsWith("/>") ? COMPLETE : unfinished("its last end tag is missing");
}

/** The tag of the root, with its name. */
const ROOT = /^<([^\s<>/!?]+)[\s/>]/;

/** From the root's tag on. */
function beginningOf(bytes: Buffer): string {
  const text = charactersOf(bytes);
  return text.slice(rootAt(text));
}

/** What is ASCII of it in any encoding; a NUL in UTF-16 says nothing here. */
function charactersOf(bytes: Buffer): string {
  return bytes.toString("latin1").replaceAll("\0", "");
}

/** Where the root's tag begins: behind the declaration, comments, and the document type with what it declares. */
function rootAt(text: string): number {
  const prolog =
    /(?:[\s\xef\xbb\xbf\xff\xfe]+|<\?[^]*?\?>|<!--[^]*?-->|<!DOCTYPE[^[>]*(?:\[[^]*?\]\s*)?>)/y;
  let at = 0;
  while (prolog.test(text)) at = prolog.lastIndex;
  return at;
}

/** Without what may follow the root; undefined where that begins before `text` does. */
function withoutNotes(text: string): string | undefined {
  let rest = text.trimEnd();
  for (;;) {
    const begin = rest.endsWith("-->") ? "<!--" : rest.endsWith("?>") ? "<?" : undefined;
    if (begin === undefined) return rest;
    const at = rest.lastIndexOf(begin);
    if (at < 0) return undefined;
    rest = rest.slice(0, at).trimEnd();
  }
}

const [BACKSLASH, OPEN, CLOSE] = Buffer.from("\\{}");

/** RTF is one group in braces, of which some programs write what their memory held behind. */
export async function completenessOfRtf({ file }: Judged): Promise<Judgement> {
  let depth = 0;
  let isEscaped = false;
  let hasBinary = false;
  for await (const { bytes } of pieces(file, 0, Math.min(file.size, RTF_BYTES))) {
    hasBinary ||= bytes.includes("\\bin");
    for (const byte of bytes) {
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === OPEN) depth += 1;
      else if (byte === CLOSE) depth -= 1;
      if (byte === CLOSE && depth === 0) return COMPLETE;
    }
  }
  // There may be braces in a picture's bytes.
  return hasBinary || file.size > RTF_BYTES ? UNKNOWN : unfinished("its last brace is missing");
}

/** Mail of several parts ends with a line that says so; mail of one part has no end, but its header has one. */
export async function completenessOfMail({ file, head }: Judged): Promise<Judgement> {
  const ends = HEADER_END.test(head.toString("latin1")) || file.size <= head.length;
  const bytes = ends ? head : await file.read(0, MAIL_HEADER_BYTES);
  const text = bytes.toString("latin1").trimStart();
  const length = text.search(HEADER_END);
  if (length < 0)
    return file.size > bytes.length ? UNKNOWN : unfinished("it ends within its header");
  const header = text.slice(0, length).replaceAll(/\r?\n[ \t]+/g, " ");
  const [, quoted, plain] = BOUNDARY.exec(header) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return UNKNOWN;
  const end = await lastIndexOf(file, `--${boundary.trimEnd()}--`, file.size, EPILOGUE_BYTES);
  return end === undefined ? unfinished("the end of its last part is missing") : COMPLETE;
}

/** An empty line. */
const HEADER_END = /\r?\n\r?\n/;
/** What stands between the parts, in a header of which no line is folded. */
const BOUNDARY =
  /^content-type:\s*multipart\/[^\n]*?;\s*boundary\s*=\s*(?:"([^"\n]+)"|([^\s;]+))/im;
