import { type Judged, type Judgement, judgeEnd, UNKNOWN, unfinished } from "./completeness.ts";
import { beginningOf, type RandomAccess } from "./random-access.ts";

const HEADER_BYTES = 512;
/** Places of the first tables are in the header itself. */
const IN_HEADER = 109;
/** Numbers from here on name no sector. */
const SECTOR_MAX = 0xfffffffa;
const FREE = 0xffffffff;

/**
 * An OLE file (MS-CFB) is a row of sectors, and tables that say of each what follows it. The last sector that a table
 * gives away must begin inside the file, and may not end in zeros: what is behind it is free. Whether what is in the
 * others was written, nothing tells.
 */
export async function completenessOfOle({ file, head }: Judged): Promise<Judgement> {
  if (head.length < HEADER_BYTES) return unfinished("it is shorter than its header");
  const shift = head.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) return UNKNOWN;
  const sectors = new Sectors(file, 2 ** shift);
  if (head.readUInt32LE(44) > sectors.tablesMax)
    return unfinished(`it has ${file.size} bytes and says that it is more than twice as long`);
  const tables = await tablesOf(head, sectors);
  if (!tables) return unfinished("a table of its sectors is not there");
  const last = await lastOf(tables, sectors);
  if (last === undefined) return unfinished("a table of its sectors is not written yet");
  // Those where the directory and the table of small streams begin; a file without the latter names none.
  const begins = [48, 60]
    .map((at) => head.readUInt32LE(at))
    .filter((sector) => sector < SECTOR_MAX);
  const from = sectors.placeOf(Math.max(last, ...begins, ...tables));
  return from < file.size
    ? judgeEnd(beginningOf(file, from + sectors.bytes))
    : unfinished(`it has ${file.size} bytes and says that it is longer than ${from}`);
}

class Sectors {
  readonly #file: RandomAccess;
  readonly bytes: number;

  constructor(file: RandomAccess, bytes: number) {
    this.#file = file;
    this.bytes = bytes;
  }

  /** As many as a file of twice the size needs, and the header names: a bound for hostile files, too. */
  get tablesMax(): number {
    return IN_HEADER + (this.#file.size * 2) / this.bytes / (this.bytes / 4);
  }

  /** The header has the place of one. */
  placeOf(sector: number): number {
    return (sector + 1) * this.bytes;
  }

  /** Undefined: it is not, or not all, inside the file. */
  async read(sector: number): Promise<Buffer | undefined> {
    const bytes = await this.#file.read(this.placeOf(sector), this.bytes);
    return bytes.length === this.bytes ? bytes : undefined;
  }
}

/** The sectors that hold the tables, in order; undefined: the list of them is not all there. */
async function tablesOf(head: Buffer, sectors: Sectors): Promise<number[] | undefined> {
  const count = head.readUInt32LE(44);
  const listed = numbersIn(head.subarray(76, HEADER_BYTES)).slice(0, IN_HEADER);
  let next = head.readUInt32LE(68);
  while (listed.length < count && next < SECTOR_MAX) {
    const more = await sectors.read(next);
    if (!more) return undefined;
    const numbers = numbersIn(more);
    next = numbers.pop() ?? FREE;
    listed.push(...numbers);
  }
  const tables = listed.slice(0, count);
  return tables.every((sector) => sector < SECTOR_MAX) ? tables : undefined;
}

/**
 * The last sector that another one leads to, or that leads to another one: some writers fill up the last table with
 * ends, or with zeros. Undefined: a table is not there, or is nothing but zeros.
 */
async function lastOf(tables: readonly number[], sectors: Sectors): Promise<number | undefined> {
  let last = -1;
  for (const [index, sector] of tables.entries()) {
    const numbers = numbersIn((await sectors.read(sector)) ?? Buffer.alloc(0));
    if (numbers.every((number) => number === 0)) return undefined;
    for (const [at, next] of numbers.entries())
      if (next > 0 && next < SECTOR_MAX)
        last = Math.max(last, next, index * (sectors.bytes / 4) + at);
  }
  return last;
}

function numbersIn(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length >> 2 }, (_, index) => bytes.readUInt32LE(index * 4));
}
