import type { Completeness } from "./completeness.ts";
import type { RandomAccess } from "./random-access.ts";

const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const END_MARK = Buffer.from("PK\x05\x06", "latin1");
const ENTRY_MARK = Buffer.from("PK\x01\x02", "latin1");
const LOCATOR_BYTES = 20;
const LOCATOR_MARK = Buffer.from("PK\x06\x07", "latin1");
const END64_BYTES = 56;
const END64_MARK = Buffer.from("PK\x06\x06", "latin1");

/**
 * A ZIP ends with a record that says where the directory of its entries lies. A ZIP stored inside
 * a ZIP brings such a record, too; but counted from the front of the outer file it leads nowhere.
 */
export async function completenessOfZip(file: RandomAccess): Promise<Completeness> {
  const from = Math.max(0, file.size - END_BYTES - COMMENT_BYTES_MAX);
  const tail = await file.read(from, file.size - from);
  let at = tail.lastIndexOf(END_MARK);
  for (; at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(END_MARK, at - 1)) {
    if (at + END_BYTES > tail.length) continue;
    if (at + END_BYTES + tail.readUInt16LE(at + 20) > tail.length) continue;
    if (await isEnd(file, tail.subarray(at, at + END_BYTES), from + at)) return "complete";
  }
  return "unfinished";
}

async function isEnd(file: RandomAccess, record: Buffer, at: number): Promise<boolean> {
  const directory = {
    entries: record.readUInt16LE(10),
    bytes: record.readUInt32LE(12),
    at: record.readUInt32LE(16),
  };
  const wide = directory.entries === 0xffff || [directory.bytes, directory.at].includes(0xffffffff);
  const place = wide ? ((await wideDirectory(file, at)) ?? directory) : directory;
  if (place.at + place.bytes > at) return false;
  if (place.entries === 0) return true;
  return (await file.read(place.at, 4)).equals(ENTRY_MARK);
}

/** The directory's place by ZIP64, whose records stand before the end record. */
async function wideDirectory(
  file: RandomAccess,
  endAt: number,
): Promise<{ entries: number; bytes: number; at: number } | undefined> {
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
