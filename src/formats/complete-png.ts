import { crc32 } from "node:zlib";
import { COMPLETE, type Judged, type Judgement, notWritten, unfinished } from "./completeness.ts";
import { gapWithin } from "./gaps.ts";
import { pieces, type RandomAccess } from "./random-access.ts";

/** What may stand behind the end where it is looked for first. */
const TRAILER_BYTES = 1024;
/** Chunks followed one by one; writers make them as small as 8 KiB. A bound for hostile files. */
const CHUNKS_MAX = 500_000;

/** The end chunk: no data, its name, its checksum. No other chunk can look like it. */
const END = Buffer.from("0000000049454e44ae426082", "hex");

/** A PNG is a row of chunks, the last of them IEND. What is behind that does not matter. */
export async function completenessOfPng({ file, gaps, loose }: Judged): Promise<Judgement> {
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
