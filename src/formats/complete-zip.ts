import { crc32 } from "node:zlib";
import { COMPLETE, type Judged, type Judgement, notWritten, unfinished } from "./completeness.ts";
import { pieces, type RandomAccess } from "./random-access.ts";

const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const END_MARK = Buffer.from("PK\x05\x06", "latin1");
const ENTRY_MARK = Buffer.from("PK\x01\x02", "latin1");
const LOCATOR_BYTES = 20;
const LOCATOR_MARK = Buffer.from("PK\x06\x07", "latin1");
const END64_BYTES = 56;
const END64_MARK = Buffer.from("PK\x06\x06", "latin1");
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
/** Of a larger directory it is not asked which entry lies where. */
const DIRECTORY_BYTES_MAX = 4 << 20;
const STORED = 0;

/** Where the entries are listed. */
type Place = { readonly entries: number; readonly bytes: number; readonly at: number };

/**
 * A ZIP ends with a record that says where the directory of its entries lies. A ZIP stored inside
 * a ZIP brings such a record, too; but counted from the front of the outer file it leads nowhere.
 */
export async function completenessOfZip({ file, gaps }: Judged): Promise<Judgement> {
  const from = Math.max(0, file.size - END_BYTES - COMMENT_BYTES_MAX);
  const tail = await file.read(from, file.size - from);
  let at = tail.lastIndexOf(END_MARK);
  for (; at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(END_MARK, at - 1)) {
    if (at + END_BYTES > tail.length) continue;
    if (at + END_BYTES + tail.readUInt16LE(at + 20) > tail.length) continue;
    const place = await directoryOf(file, tail.subarray(at, at + END_BYTES), from + at);
    if (!place) continue;
    for (const gap of gaps)
      if (gap.from < place.at && !(await isSoundAt(file, place, gap.from))) return notWritten(gap);
    return COMPLETE;
  }
  return unfinished("the list of what is in it, at its end, is missing");
}

async function directoryOf(
  file: RandomAccess,
  record: Buffer,
  at: number,
): Promise<Place | undefined> {
  const directory = {
    entries: record.readUInt16LE(10),
    bytes: record.readUInt32LE(12),
    at: record.readUInt32LE(16),
  };
  const wide = directory.entries === 0xffff || [directory.bytes, directory.at].includes(0xffffffff);
  const place = wide ? ((await wideDirectory(file, at)) ?? directory) : directory;
  if (place.at + place.bytes > at) return undefined;
  if (place.entries === 0) return place;
  return (await file.read(place.at, 4)).equals(ENTRY_MARK) ? place : undefined;
}

/** The directory's place by ZIP64, whose records stand before the end record. */
async function wideDirectory(file: RandomAccess, endAt: number): Promise<Place | undefined> {
  if (endAt < LOCATOR_BYTES) return undefined;
  const locator = await file.read(endAt - LOCATOR_BYTES, LOCATOR_BYTES);
  if (!locator.subarray(0, 4).equals(LOCATOR_MARK)) return undefined;
  const record = await file.read(Number(locator.readBigUInt64LE(8)), END64_BYTES);
  if (record.length < END64_BYTES || !record.subarray(0, 4).equals(END64_MARK)) return undefined;
  return {
    entries: Number(record.readBigUInt64LE(32)),
    bytes: Number(record.readBigUInt64LE(40)),
    at: Number(record.readBigUInt64LE(48)),
  };
}

/** Whether what is at `at` belongs to an entry that is stored as it is, and whose checksum is right. */
async function isSoundAt(file: RandomAccess, place: Place, at: number): Promise<boolean> {
  const directory = await file.read(place.at, Math.min(place.bytes, DIRECTORY_BYTES_MAX));
  let found: { method: number; sum: number; bytes: number; local: number } | undefined;
  for (let entry = 0; entry + ENTRY_BYTES <= directory.length; ) {
    const local = directory.readUInt32LE(entry + 42);
    if (local <= at && (!found || local > found.local)) {
      const method = directory.readUInt16LE(entry + 10);
      const [sum, bytes] = [directory.readUInt32LE(entry + 16), directory.readUInt32LE(entry + 20)];
      found = { method, sum, bytes, local };
    }
    const [name, extra, comment] = [28, 30, 32].map((from) => directory.readUInt16LE(entry + from));
    entry += ENTRY_BYTES + (name ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  if (found?.method !== STORED) return false;
  const head = await file.read(found.local, LOCAL_BYTES);
  if (head.length < LOCAL_BYTES) return false;
  const from = found.local + LOCAL_BYTES + head.readUInt16LE(26) + head.readUInt16LE(28);
  let sum = 0;
  for await (const { bytes } of pieces(file, from, from + found.bytes)) sum = crc32(bytes, sum);
  return sum === found.sum;
}
