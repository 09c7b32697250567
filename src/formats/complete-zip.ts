import { crc32, createInflateRaw } from "node:zlib";
import { COMPLETE, type Judged, type Judgement, notWritten, unfinished } from "./completeness.ts";
import { inflated, isDamage, LARGE } from "./deflated.ts";
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
const DEFLATED = 8;
/** Of a larger entry its checksum is not looked at. */
const CHECKED_BYTES_MAX = 256 << 20;
const ENCRYPTED = 1;

/** Where the entries are listed. */
type Place = { readonly entries: number; readonly bytes: number; readonly at: number };

/**
 * A ZIP ends with a record that says where the directory of its entries lies. A ZIP stored inside
 * a ZIP brings such a record, too; but counted from the front of the outer file it leads nowhere.
 */
export async function completenessOfZip({ file, gaps, loose }: Judged): Promise<Judgement> {
  const from = Math.max(0, file.size - END_BYTES - COMMENT_BYTES_MAX);
  const tail = await file.read(from, file.size - from);
  let at = tail.lastIndexOf(END_MARK);
  for (; at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(END_MARK, at - 1)) {
    if (at + END_BYTES > tail.length) continue;
    if (at + END_BYTES + tail.readUInt16LE(at + 20) > tail.length) continue;
    const place = await directoryOf(file, tail.subarray(at, at + END_BYTES), from + at);
    if (!place) continue;
    const sound = new SoundEntries(file, place);
    for (const gap of gaps)
      if (gap.from < place.at && (await sound.holds(gap.from)) !== true) return notWritten(gap);
    for (const run of loose)
      if (run.from < place.at && (await sound.holds(run.from)) === false) return notWritten(run);
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

type Entry = {
  readonly method: number;
  readonly flags: number;
  readonly sum: number;
  readonly packed: number;
  readonly bytes: number;
  /** Where its own head is. */
  readonly local: number;
};

/** The entries of a ZIP, by the checksums in its directory. */
class SoundEntries {
  readonly #file: RandomAccess;
  readonly #place: Place;
  #entries: readonly Entry[] | undefined;
  readonly #sound = new Map<Entry, boolean | undefined>();

  constructor(file: RandomAccess, place: Place) {
    this.#file = file;
    this.#place = place;
  }

  /** Whether what is at `at` belongs to an entry whose checksum is right; undefined: it cannot be told. */
  async holds(at: number): Promise<boolean | undefined> {
    this.#entries ??= await entriesOf(this.#file, this.#place);
    const entry = this.#entries.findLast(({ local }) => local <= at);
    if (!entry) return false;
    if (!this.#sound.has(entry)) this.#sound.set(entry, await isSound(this.#file, entry));
    return this.#sound.get(entry);
  }
}

/** In the order in which they are in the file. */
async function entriesOf(file: RandomAccess, place: Place): Promise<readonly Entry[]> {
  const directory = await file.read(place.at, Math.min(place.bytes, DIRECTORY_BYTES_MAX));
  const entries: Entry[] = [];
  for (let at = 0; at + ENTRY_BYTES <= directory.length; ) {
    entries.push({
      flags: directory.readUInt16LE(at + 8),
      method: directory.readUInt16LE(at + 10),
      sum: directory.readUInt32LE(at + 16),
      packed: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      local: directory.readUInt32LE(at + 42),
    });
    const [name, extra, comment] = [28, 30, 32].map((from) => directory.readUInt16LE(at + from));
    at += ENTRY_BYTES + (name ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  return entries.sort((one, other) => one.local - other.local);
}

/** Whether an entry's data are those of its checksum; undefined: encrypted, too large, or packed in another way. */
async function isSound(file: RandomAccess, entry: Entry): Promise<boolean | undefined> {
  const { method, flags, packed, bytes } = entry;
  if (flags & ENCRYPTED || bytes > CHECKED_BYTES_MAX) return undefined;
  if (method !== STORED && method !== DEFLATED) return undefined;
  const head = await file.read(entry.local, LOCAL_BYTES);
  if (head.length < LOCAL_BYTES) return false;
  const from = entry.local + LOCAL_BYTES + head.readUInt16LE(26) + head.readUInt16LE(28);
  let [sum, length] = [0, 0];
  try {
    for await (const piece of data(file, from, from + packed, method)) {
      sum = crc32(piece, sum);
      length += piece.length;
      if (length > bytes) return false;
    }
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
  return sum === entry.sum && length === bytes;
}

async function* data(file: RandomAccess, from: number, to: number, method: number) {
  if (method === DEFLATED) yield* inflated(file, from, to, createInflateRaw(LARGE));
  else for await (const { bytes } of pieces(file, from, to)) yield bytes;
}
