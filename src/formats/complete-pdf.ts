import { constants, createInflate, type Inflate } from "node:zlib";
import { COMPLETE, type Judged, type Judgement, notWritten, unfinished } from "./completeness.ts";
import { inflated, isDamage, LARGE } from "./deflated.ts";
import { PDF_HEADER_WITHIN } from "./file-format.ts";
import { BLOCK_BYTES } from "./gaps.ts";
import { cannotHoldZeros } from "./jpeg.ts";
import { fromOn, lastIndexOf, type RandomAccess } from "./random-access.ts";

/** What leads to the end mark must lie within so many bytes before it. */
const TAIL_BYTES = 2048;
/** Readers of this world look for a first object so far behind the header. */
const GARBAGE_BYTES = 1024;
/** Padding behind the end is put up with to this length: copiers write in blocks, and some set much aside. */
const PADDING_BYTES_MAX = 4 << 20;
/** As is a web server's page, or a signature. */
const APPENDED_BYTES_MAX = 256 << 10;
/** A picture that is not compressed is looked back over no further. */
const STREAM_BYTES_MAX = 64 << 20;
/** Deflated data are inflated no further. */
const INFLATED_BYTES_MAX = 256 << 20;
/** A dictionary may hold a palette. */
const DICTIONARY_BYTES = 16 << 10;
/** By as many characters data are known as text. A guess. */
const TEXT_BYTES = 64;
const PIECE_BYTES = 64 << 10;

const END_MARK = "%%EOF";

/**
 * A PDF ends with `startxref`, the place of its cross-reference table, `%%EOF`; the place must fit. An updated PDF has
 * several such ends, and the last one counts; behind it there may be anything but the beginning of a further
 * update: an object or a table. A linearized PDF has an end near its front, too, but
 * states its length there, so that a piece of it is not taken for the whole.
 */
export async function completenessOfPdf({ file, head, gaps, loose }: Judged): Promise<Judgement> {
  const stated = linearizedLength(head);
  if (stated !== undefined && stated > file.size)
    return unfinished(`it has ${file.size} bytes and says that it is ${stated} long`);
  const contentEnd = await endWithoutPadding(file);
  const end = await lastIndexOf(file, END_MARK, contentEnd, APPENDED_BYTES_MAX);
  if (end === undefined) return unfinished(`its end mark ${END_MARK} is missing`);
  const behind = await file.read(end + END_MARK.length, contentEnd - end - END_MARK.length);
  if (isUpdate(behind.toString("latin1")))
    return unfinished(`an update behind its last ${END_MARK} does not end`);
  if (!(await isLedTo(file, end))) return unfinished("its cross-reference table is not there");
  const sound: SoundStreams = new Map();
  for (const gap of gaps)
    if (gap.from < end && (await mayHoldZeros(file, gap.from, sound)) !== true)
      return notWritten(gap);
  for (const run of loose)
    if (run.from < end && (await mayHoldZeros(file, run.from, sound)) === false)
      return notWritten(run);
  return COMPLETE;
}

/** The length of the whole file, which a linearized PDF states in its first object. */
function linearizedLength(head: Buffer): number | undefined {
  const front = head.toString("latin1", 0, PDF_HEADER_WITHIN + GARBAGE_BYTES);
  const dictionary = /<<[^>]*\/Linearized\b[^>]*>>/.exec(front)?.[0];
  const length = dictionary && /\/L\s+(\d{1,16})\b/.exec(dictionary)?.[1];
  return length === undefined ? undefined : Number(length);
}

/** Where zeros and white space begin that are all there is up to the end of the file. */
async function endWithoutPadding(file: RandomAccess): Promise<number> {
  const floor = Math.max(0, file.size - PADDING_BYTES_MAX);
  for (let to = file.size; to > floor; ) {
    const from = Math.max(floor, to - PIECE_BYTES);
    const last = (await file.read(from, to - from)).findLastIndex((byte) => !isPadding(byte));
    if (last >= 0) return from + last + 1;
    to = from;
  }
  return floor;
}

function isPadding(byte: number): boolean {
  return byte === 0 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x20;
}

/**
 * An update begins with an object or with a table; of the very first word there may be only a part. The end of
 * an object tells that the mark was one inside it: an attached PDF has its own.
 */
function isUpdate(behind: string): boolean {
  return (
    /(?:^|[^\d])\d{1,10}\s+\d{1,5}\s+obj\b|(?:^|\s)xref\b|startxref|\bendobj\b|^\s*endstream\b/.test(
      behind,
    ) || /^\s*(?:\d+(?:\s+\d+(?:\s+ob?)?)?|xr?e?|e\w{0,8})$/.test(behind)
  );
}

/** Whether the place that is named before the end mark is in front of it. */
async function isLedTo(file: RandomAccess, end: number): Promise<boolean> {
  const from = Math.max(0, end - TAIL_BYTES);
  const tail = (await file.read(from, end - from)).toString("latin1");
  const start = tail.lastIndexOf("startxref");
  // Not as it should be, but nobody stops writing by chance behind an end mark.
  if (start < 0) return true;
  const place = /^startxref\s+(\d{1,16})\s/.exec(tail.slice(start))?.[1];
  return place !== undefined && Number(place) < from + start;
}

/** By the place of a deflated stream: whether its data are as their checksum says; undefined: it cannot be told. */
type SoundStreams = Map<number, boolean | undefined>;

/**
 * Whether the zeros of this block may be content: of a picture, a font or an attached file that is not compressed, or of
 * deflated data whose checksum is right; undefined: it cannot be told, as of most JPEGs, of what is compressed otherwise,
 * or neither compressed nor text nor one of these.
 */
async function mayHoldZeros(
  file: RandomAccess,
  block: number,
  sound: SoundStreams,
): Promise<boolean | undefined> {
  const at = await firstOfZeros(file, block);
  const stream = await lastIndexOf(file, "stream", at, STREAM_BYTES_MAX);
  if (stream === undefined) return false;
  const from = Math.max(0, stream - DICTIONARY_BYTES);
  const before = (await file.read(from, stream - from)).toString("latin1");
  if (before.endsWith("end")) return false;
  const dictionary = before.slice(before.lastIndexOf("obj"));
  const filter = /\/Filter\s*(?:\[\s*)?(\/\w+)?/.exec(dictionary);
  const data = await dataBehind(file, stream);
  if (!filter) {
    if (/\/(?:Image|EmbeddedFile|Length[123])\b/.test(dictionary)) return true;
    return (await isTextUpTo(file, data, at)) ? false : undefined;
  }
  const way = filter[1] ?? "";
  if (WITHOUT_ZEROS.has(way)) return false;
  const magic = MAGIC.get(way);
  if (magic === undefined) return undefined;
  if (!magic(await file.read(data, 2))) return (await isEncrypted(file)) ? false : undefined;
  if (magic === isJpeg)
    return (await cannotHoldZeros(fromOn(file, data), at - data)) ? false : undefined;
  if (!sound.has(stream)) sound.set(stream, await isSound(file, data, at));
  return sound.get(stream);
}

/** Where the zeros begin that this block is full of. */
async function firstOfZeros(file: RandomAccess, block: number): Promise<number> {
  const from = Math.max(0, block - BLOCK_BYTES);
  const before = await file.read(from, block - from);
  return from + before.findLastIndex((byte) => byte !== 0) + 1;
}

/** Whether the data before `at` are drawing operators or the like, among which there are no zeros. */
async function isTextUpTo(file: RandomAccess, data: number, at: number): Promise<boolean> {
  const from = Math.max(data, at - TAIL_BYTES);
  const text = (await file.read(from, at - from)).toString("latin1");
  return text.length >= TEXT_BYTES && /^[\t\n\f\r -~]+$/.test(text);
}

const isJpeg = (bytes: Buffer): boolean => bytes[0] === 0xff && bytes[1] === 0xd8;
/** RFC 1950, 2.2. */
const isDeflated = (bytes: Buffer): boolean =>
  bytes.length === 2 && bytes.readUInt16BE() % 31 === 0 && ((bytes[0] ?? 0) & 0xf) === 8;
/** How data begin that are encoded so (ISO 32000-1, 7.4), and not encrypted. */
const MAGIC: ReadonlyMap<string, (bytes: Buffer) => boolean> = new Map([
  ["/FlateDecode", isDeflated],
  ["/Fl", isDeflated],
  ["/DCTDecode", isJpeg],
  ["/DCT", isJpeg],
]);
/** Texts, and codes that make no block of zeros whatever the content. */
const WITHOUT_ZEROS: ReadonlySet<string> = new Set(
  "/ASCIIHexDecode /AHx /ASCII85Decode /A85 /LZWDecode /LZW /CCITTFaxDecode /CCF".split(" "),
);

/** Whether the file's last or first trailer says that it is encrypted: what is makes no block of zeros. */
async function isEncrypted(file: RandomAccess): Promise<boolean> {
  const tail = Math.max(0, file.size - PIECE_BYTES);
  const parts = await Promise.all([0, tail].map((from) => file.read(from, PIECE_BYTES)));
  return parts.some((part) => /\/Encrypt[\s<]/.test(part.toString("latin1")));
}

/** Where the data of a stream begin: on the next line. */
async function dataBehind(file: RandomAccess, stream: number): Promise<number> {
  const mark = stream + "stream".length;
  const lineEnd = (await file.read(mark, 2)).toString("latin1");
  return mark + (lineEnd === "\r\n" ? 2 : 1);
}

/** Whether the deflated data from `from` on are as their checksum says; `at`: of which the bytes before are there. */
async function isSound(file: RandomAccess, from: number, at: number): Promise<boolean | undefined> {
  const begin = createInflate({ ...LARGE, finishFlush: constants.Z_SYNC_FLUSH });
  if (!(await isInflated(file, from, Math.min(at, from + PIECE_BYTES), begin))) return undefined;
  return isInflated(file, from, file.size, createInflate(LARGE));
}

async function isInflated(
  file: RandomAccess,
  from: number,
  to: number,
  inflate: Inflate,
): Promise<boolean | undefined> {
  let length = 0;
  try {
    for await (const piece of inflated(file, from, to, inflate)) {
      length += piece.length;
      if (length > INFLATED_BYTES_MAX) return undefined;
    }
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}
