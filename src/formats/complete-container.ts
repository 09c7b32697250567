import {
  COMPLETE,
  type Judged,
  type Judgement,
  notWritten,
  UNKNOWN,
  unfinished,
} from "./completeness.ts";
import { type ContentGap, gapWithin } from "./gaps.ts";

/** Zeros behind the end mark of a GIF that are put up with. */
const PADDING_BYTES = 1024;
/** No compressed picture of a HEIF file ends with so many zeros. */
const BLANK_BYTES = 64;
/** Boxes at the top of a HEIF file: a handful; a bound for hostile files. */
const BOXES_MAX = 1000;

/** A GIF ends with an empty block and the trailer 3B. */
export async function completenessOfGif({ file, gaps, loose }: Judged): Promise<Judgement> {
  const from = Math.max(0, file.size - PADDING_BYTES - 2);
  const tail = await file.read(from, file.size - from);
  const last = tail.findLastIndex((byte) => byte !== 0);
  if (tail[last] !== 0x3b || tail[last - 1] !== 0) return unfinished("its end mark is missing");
  // Its data are in blocks of 255 bytes at most, behind their lengths.
  const [run] = [...gaps, ...loose];
  return run ? notWritten(run) : COMPLETE;
}

/** A RIFF file states its length at its front. A blank page may end with 100 KB of zeros. */
export async function completenessOfWebp({ file, head, gaps }: Judged): Promise<Judgement> {
  const end = head.length < 8 ? Number.POSITIVE_INFINITY : head.readUInt32LE(4) + 8;
  if (end > file.size) return unfinished("it is shorter than it says");
  const gap = gapWithin(gaps, 0, end);
  return gap ? notWritten(gap) : COMPLETE;
}

/** The compressions of bitmaps that leave the rows as they are: none, and with masks of colours. */
const RAW_ROWS: readonly number[] = [0, 3];
/** The second one of OS/2, which counts its compressions otherwise. */
const OS2_HEADER = 64;
/** Behind its last row some writers leave the padding out. */
const ROW_PADDING = 3;

/** A bitmap states where its rows begin, how many there are, and how long one is, or all of them where they are packed. */
export async function completenessOfBitmap({ file, head }: Judged): Promise<Judgement> {
  const isWindows = head.length >= 54 && head.toString("latin1", 0, 2) === "BM";
  const header = isWindows ? head.readUInt32LE(14) : 0;
  // Older headers name no compression.
  if (header < 40) return UNKNOWN;
  const row = Math.ceil((head.readInt32LE(18) * head.readUInt16LE(28)) / 32) * 4;
  const isRaw = header !== OS2_HEADER && RAW_ROWS.includes(head.readUInt32LE(30));
  const rows = isRaw ? row * Math.abs(head.readInt32LE(22)) : head.readUInt32LE(34);
  const end = head.readUInt32LE(10) + rows;
  return end - ROW_PADDING > file.size ? unfinished("its last rows are missing") : UNKNOWN;
}

/**
 * A HEIF file is a row of boxes that state their lengths: the data, and what says where in them the image is
 * (`meta`), or the images of a sequence (`moov`).
 */
export async function completenessOfHeic(judged: Judged): Promise<Judgement> {
  const { file } = judged;
  const names = new Set<string>();
  let at = 0;
  for (let boxes = 0; boxes < BOXES_MAX && at < file.size; boxes++) {
    const head = await file.read(at, 16);
    if (head.length < 8) return unfinished("it ends within a box");
    const stated = head.readUInt32BE(0);
    const name = head.toString("latin1", 4, 8);
    // Length 0 means up to the end of the file, wherever that is.
    if (stated === 0) return name === "\0\0\0\0" ? unfinished("a box has no name") : UNKNOWN;
    if (stated === 1 && head.length < 16) return unfinished("it ends within a box");
    const length = stated === 1 ? Number(head.readBigUInt64BE(8)) : stated;
    if (length < 8) return unfinished("a box is shorter than its own head");
    const blank = name === "mdat" ? await blankIn(judged, at, at + length) : undefined;
    if (blank) return notWritten(blank);
    names.add(name);
    at += length;
  }
  if (at !== file.size) return unfinished("it is shorter than its boxes say");
  const isImage = names.has("mdat") && (names.has("meta") || names.has("moov"));
  return isImage ? COMPLETE : unfinished("a box that makes it an image is missing");
}

/** A part of a box's data that was not written: in the middle, or at its end. */
async function blankIn(
  { file, gaps }: Judged,
  from: number,
  to: number,
): Promise<ContentGap | undefined> {
  const tailFrom = Math.max(from, to - BLANK_BYTES);
  const tail = await file.read(tailFrom, to - tailFrom);
  if (tail.every((byte) => byte === 0)) return { from: tailFrom, to, begins: false };
  return gapWithin(gaps, from, to);
}

/** How PKCS #7 names itself (1.2.840.113549.1.7), as DER. */
const PKCS7 = Buffer.from("06092a864886f70d0107", "hex");
const SEQUENCE = 0x30;
/** Its length is not stated: it ends with an empty element. */
const INDEFINITE = 0x80;

/** What was signed or encrypted by PKCS #7 (`.p7m`, `.p7s`): one element, which states its length (X.690, 8.1.3). */
export async function completenessOfPkcs7({ file, head }: Judged): Promise<Judgement> {
  const stated = head[1] ?? 0;
  const bytes = stated > INDEFINITE && stated <= INDEFINITE + 6 ? stated - INDEFINITE : 0;
  const begin = 2 + bytes;
  if (head[0] !== SEQUENCE || !head.subarray(begin).subarray(0, PKCS7.length).equals(PKCS7))
    return UNKNOWN;
  const length = bytes > 0 ? head.readUIntBE(2, bytes) : stated;
  if (stated !== INDEFINITE)
    return begin + length > file.size ? unfinished("it is shorter than it says") : COMPLETE;
  const tail = await file.read(file.size - 2, 2);
  return tail.every((byte) => byte === 0) ? COMPLETE : unfinished("its end mark is missing");
}
