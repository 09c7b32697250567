import type { RandomAccess } from "./random-access.ts";

/** How a TIFF writes its numbers: byte order, and whether it is a BigTIFF (offsets of 8 bytes). */
export type Dialect = {
  little: boolean;
  big: boolean;
  /** Where the first directory is; 0 while none is written. */
  first: number;
};

/** One field of a directory. */
export type TiffField = {
  tag: number;
  type: number;
  /** Number of values. */
  count: number;
  /** Where the values are, in the file; they may be inside the directory itself. */
  at: number;
};

/** One directory of the chain: a page, a preview or a mask. */
export type Directory = {
  fields: TiffField[];
  /** Where the next directory is; 0 at the end of the chain. */
  next: number;
  /** Where in the file that is written. */
  nextAt: number;
  /** A preview or a mask of another page rather than a page. */
  auxiliary: boolean;
};

/** Directories have at most this many fields, also in BigTIFF, whose count could say more. */
const FIELDS_MAX = 65_535;
/** Bytes of tables read for one file: a million tiles take 16 MiB. A guess. */
const TABLE_BYTES_MAX = 64 * 1024 * 1024;
const NEW_SUBFILE_TYPE = 254;
/** Bits of NewSubfileType: reduced resolution, transparency mask. */
const AUXILIARY_BITS = 0b101;
/** What older writers say in its place (TIFF 6.0, section 8), and its value for a reduced resolution. */
const SUBFILE_TYPE = 255;
const REDUCED = 2;
/** Bytes a value, by field type (TIFF 6.0, section 2; BigTIFF adds 16, 17, 18). */
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];

/** What may still be read of a file's tables, so that a hostile one cannot keep us busy. */
export class TableBudget {
  #left = TABLE_BYTES_MAX;

  /** True once nothing more may be read; whether the file is whole then stays unknown. */
  get spent(): boolean {
    return this.#left <= 0;
  }

  /** Takes `bytes` off what is left. */
  spend(bytes: number): void {
    this.#left -= bytes;
  }
}

/** The dialect its header states; undefined when this is no TIFF or its header is not all there. */
export async function dialectOf(file: RandomAccess): Promise<Dialect | undefined> {
  const header = await file.read(0, 16);
  const order = header.toString("latin1", 0, 2);
  if ((order !== "II" && order !== "MM") || header.length < 8) return undefined;
  const dialect: Dialect = { little: order === "II", big: false, first: 0 };
  const version = u16(header, 0 + 2, dialect);
  if (version === 42) return { ...dialect, first: u32(header, 4, dialect) };
  if (version !== 43 || header.length < 16) return undefined;
  return { ...dialect, big: true, first: u64(header, 8, dialect) };
}

/** The directory at `at`; undefined when it, or a value it points to, is not all in the file. */
export async function readDirectory(
  file: RandomAccess,
  dialect: Dialect,
  at: number,
  budget: TableBudget,
): Promise<Directory | undefined> {
  const countBytes = dialect.big ? 8 : 2;
  const head = await file.read(at, countBytes);
  if (head.length < countBytes) return undefined;
  const count = dialect.big ? u64(head, 0, dialect) : u16(head, 0, dialect);
  if (count === 0 || count > FIELDS_MAX) return undefined;
  const fieldBytes = dialect.big ? 20 : 12;
  const length = count * fieldBytes + (dialect.big ? 8 : 4);
  budget.spend(length);
  const body = await file.read(at + countBytes, length);
  if (body.length < length) return undefined;
  const fields = Array.from({ length: count }, (_, index) =>
    fieldAt(body, index * fieldBytes, at + countBytes, dialect),
  );
  // Type 0 is none: it is what space set aside reads as.
  const present = (field: TiffField) => field.type !== 0 && field.at + bytesOf(field) <= file.size;
  if (!fields.every(present)) return undefined;
  const next = dialect.big ? u64(body, length - 8, dialect) : u32(body, length - 4, dialect);
  const nextAt = at + countBytes + count * fieldBytes;
  return { fields, next, nextAt, auxiliary: isAuxiliary(body, fields, at + countBytes, dialect) };
}

function fieldAt(body: Buffer, offset: number, bodyAt: number, dialect: Dialect): TiffField {
  const tag = u16(body, offset, dialect);
  const type = u16(body, offset + 2, dialect);
  const count = dialect.big ? u64(body, offset + 4, dialect) : u32(body, offset + 4, dialect);
  const value = offset + (dialect.big ? 12 : 8);
  const inline = count * (TYPE_BYTES[type] ?? 0) <= (dialect.big ? 8 : 4);
  if (inline) return { tag, type, count, at: bodyAt + value };
  return {
    tag,
    type,
    count,
    at: dialect.big ? u64(body, value, dialect) : u32(body, value, dialect),
  };
}

function isAuxiliary(body: Buffer, fields: TiffField[], bodyAt: number, dialect: Dialect): boolean {
  const valueOf = (wanted: number) => {
    const field = fields.find(({ tag }) => tag === wanted);
    // One value of two or four bytes; the standard has one for each tag, and writers mix them up.
    if (field?.count !== 1 || (field.type !== 3 && field.type !== 4)) return undefined;
    return unsigned(body, field.at - bodyAt, widthOf(field), dialect);
  };
  const bits = valueOf(NEW_SUBFILE_TYPE);
  // The newer tag says more, so where both stand it counts.
  return bits === undefined ? valueOf(SUBFILE_TYPE) === REDUCED : (bits & AUXILIARY_BITS) !== 0;
}

/** Bytes that the field's values take; 0 for a type we do not know. */
function bytesOf(field: TiffField): number {
  return field.count * widthOf(field);
}

/** Bytes a value of the field; 0 for a type we do not know. */
export function widthOf(field: TiffField): number {
  return TYPE_BYTES[field.type] ?? 0;
}

/** The unsigned number of `width` bytes at `at`. Beyond 2^53 it is only roughly right. */
export function unsigned(bytes: Buffer, at: number, width: number, dialect: Dialect): number {
  if (width === 8) return u64(bytes, at, dialect);
  if (width === 4) return u32(bytes, at, dialect);
  return width === 2 ? u16(bytes, at, dialect) : (bytes[at] ?? 0);
}

function u16(bytes: Buffer, at: number, { little }: Dialect): number {
  return little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
}

function u32(bytes: Buffer, at: number, { little }: Dialect): number {
  return little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
}

function u64(bytes: Buffer, at: number, { little }: Dialect): number {
  return Number(little ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
}
