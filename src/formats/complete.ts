import { crc32 } from "node:zlib";
import {
  completenessOfBitmap,
  completenessOfGif,
  completenessOfHeic,
  completenessOfPkcs7,
  completenessOfWebp,
} from "./complete-container.ts";
import { completenessOfJpeg } from "./jpeg.ts";
import { completenessOfOle } from "./complete-ole.ts";
import { completenessOfPdf } from "./complete-pdf.ts";
import { completenessOfMail, completenessOfRtf, completenessOfXml } from "./complete-text.ts";
import { completenessOfZip } from "./complete-zip.ts";
import {
  COMPLETE,
  isZeros,
  type Judged,
  judgeEnd,
  type Judgement,
  notWritten,
  unfinished,
  UNKNOWN,
} from "./completeness.ts";
import { type ContentGap, gapWithin, type ZeroRuns } from "./gaps.ts";
import {
  breaksPromise,
  type FileFormat,
  isNamedText,
  isOle,
  isZip,
  kindOf,
  promisesBeginning,
} from "./file-format.ts";
import { pieces, type RandomAccess } from "./random-access.ts";
import { readTiff } from "./tiff.ts";

const HEAD_BYTES = 4096;

/**
 * Whether the file is finished by its own format: anyone who writes it may still be at work.
 *
 * Reads a few pieces only of most files, however large they are; all of a JPEG or PNG that has something behind its
 * end. It judges the structure, not the content: a complete file may still be damaged inside. Rejects only with
 * what `file.read` rejects with.
 *
 * @param zeros of its bytes, found by anyone who has read them all
 */
export async function judge(
  file: RandomAccess,
  filename: string,
  zeros: ZeroRuns,
): Promise<Judgement> {
  const { gaps, loose } = zeros;
  if (file.size === 0) return unfinished("it is empty");
  const head = await file.read(0, HEAD_BYTES);
  if (isZeros(head) && (promisesBeginning(filename) || isBlank(file, gaps)))
    return unfinished("it begins with zeros: space set aside, but not written yet");
  const kind = kindOf(head, filename);
  if (breaksPromise(kind, filename)) return unfinished("it does not begin as its name promises");
  const judge = isOle(head) ? completenessOfOle : JUDGES[kind];
  const judged = (await judge?.({ file, head, gaps, loose })) ?? UNKNOWN;
  if (judged.completeness === "unfinished") return judged;
  // One whose first bytes alone have come is of no kind.
  const hasNoZeros = HAS_NO_ZEROS.has(kind) || (kind === "unknown" && isNamedText(filename));
  const isText = hasNoZeros && !isOle(head) && !isZip(head);
  const [run] = [...gaps, ...loose];
  if (isText && run) return notWritten(run);
  if (isOle(head) || !(isText || ENDS_WITHOUT_ZEROS.has(kind))) return judged;
  const end = await judgeEnd(file);
  return end.completeness === "unfinished" ? end : judged;
}

/** Whether the file is zeros from its first byte to its last one, given that its head is. */
function isBlank(file: RandomAccess, gaps: readonly ContentGap[]): boolean {
  const [gap] = gaps;
  return file.size <= HEAD_BYTES || (gap?.from === 0 && gap.to === file.size);
}

const HAS_NO_ZEROS: ReadonlySet<FileFormat> = new Set<FileFormat>([
  "text",
  "xml",
  "mail",
  "ddoc",
  "office",
]);
/** For the others their format itself says it. A bitmap's last rows may be black. */
const ENDS_WITHOUT_ZEROS: ReadonlySet<FileFormat> = new Set<FileFormat>([
  ...HAS_NO_ZEROS,
  "digidoc",
  "zip",
]);

type Judge = (judged: Judged) => Promise<Judgement>;

const JUDGES: Partial<Record<FileFormat, Judge>> = {
  pdf: completenessOfPdf,
  tiff: completenessOfTiff,
  jpeg: completenessOfJpeg,
  png: completenessOfPng,
  gif: completenessOfGif,
  webp: completenessOfWebp,
  bmp: completenessOfBitmap,
  heic: completenessOfHeic,
  zip: completenessOfZip,
  digidoc: completenessOfZip,
  office: (judged) => (isZip(judged.head) ? completenessOfZip(judged) : completenessOfRtf(judged)),
  ddoc: completenessOfXml,
  xml: completenessOfXml,
  mail: completenessOfMail,
  unknown: completenessOfPkcs7,
};

async function completenessOfTiff({ file, ...zeros }: Judged): Promise<Judgement> {
  const { state, why } = await readTiff(file, zeros);
  if (state === "limit") return UNKNOWN;
  return state === "whole" ? COMPLETE : unfinished(why ?? "");
}

/** What may stand behind the end where it is looked for first. */
const TRAILER_BYTES = 1024;
/** Chunks followed one by one; writers make them as small as 8 KiB. A bound for hostile files. */
const CHUNKS_MAX = 500_000;

/** The end chunk: no data, its name, its checksum. No other chunk can look like it. */
const END = Buffer.from("0000000049454e44ae426082", "hex");

/** A PNG is a row of chunks, the last of them IEND. What is behind that does not matter. */
async function completenessOfPng({ file, gaps, loose }: Judged): Promise<Judgement> {
  const from = Math.max(0, file.size - TRAILER_BYTES - END.length);
  const zeros = [...gaps, ...loose];
  if (zeros.length === 0 && (await file.read(from, file.size - from)).includes(END))
    return COMPLETE;
  let at = 8;
  for (let chunks = 0; chunks < CHUNKS_MAX; chunks++) {
    const head = await file.read(at, 8);
    if (head.length < 8) break;
    const dataTo = at + 8 + head.readUInt32BE(0);
    const gap = gapWithin(zeros, at, dataTo);
    // Zeros of a picture that was packed without being compressed are as they should be.
    if (gap && !(await isSound(file, at + 4, dataTo))) return notWritten(gap);
    const name = head.toString("latin1", 4, 8);
    if (dataTo + 4 > file.size || !/^[A-Za-z]{4}$/.test(name)) break;
    if (name === "IEND") return COMPLETE;
    at = dataTo + 4;
  }
  return unfinished("its last chunk, IEND, is missing");
}

/** Whether the checksum behind the bytes is theirs. */
async function isSound(file: RandomAccess, from: number, to: number): Promise<boolean> {
  let sum = 0;
  for await (const { bytes } of pieces(file, from, to)) sum = crc32(bytes, sum);
  const stated = await file.read(to, 4);
  return stated.length === 4 && stated.readUInt32BE(0) === sum;
}
