import type { RandomAccess } from "./random-access.ts";
import {
  type Dialect,
  type Directory,
  type Field,
  type TableBudget,
  unsigned,
  widthOf,
} from "./tiff-directory.ts";

/** `whole`: everything is inside the file; `broken`: it is not; `limit`: not looked any further. */
export type TiffState = "whole" | "broken" | "limit";

/** Tags that say where an image's data are, and how many bytes: strips, tiles, old-style JPEG. */
const PLACES = [
  [273, 279],
  [324, 325],
  [513, 514],
] as const;

/** What a value is counted as at least: it takes its time however narrow it is. */
const VALUE_BYTES_MIN = 8;

/** Values of one table read at a time. */
const VALUES_AT_ONCE = 8192;

/** Whether the data of this directory's image are all inside the file. */
export async function stateOfImage(
  file: RandomAccess,
  dialect: Dialect,
  directory: Directory,
  budget: TableBudget,
): Promise<TiffState> {
  for (const [offsetsTag, lengthsTag] of PLACES) {
    const offsets = directory.fields.find(({ tag }) => tag === offsetsTag);
    const lengths = directory.fields.find(({ tag }) => tag === lengthsTag);
    if (!offsets) continue;
    const state = await stateOfPieces(file, dialect, { offsets, lengths }, budget);
    if (state !== "whole") return state;
  }
  return "whole";
}

/** Old writers leave the lengths out for a single uncompressed strip. */
type Pieces = { offsets: Field; lengths: Field | undefined };

async function stateOfPieces(
  file: RandomAccess,
  dialect: Dialect,
  { offsets, lengths }: Pieces,
  budget: TableBudget,
): Promise<TiffState> {
  const count = Math.min(offsets.count, lengths?.count ?? offsets.count);
  for (let from = 0; from < count; from += VALUES_AT_ONCE) {
    if (budget.spent) return "limit";
    const many = Math.min(VALUES_AT_ONCE, count - from);
    const places = await valuesOf(file, dialect, offsets, from, many, budget);
    const sizes = lengths && (await valuesOf(file, dialect, lengths, from, many, budget));
    // A strip at 0 is one whose place is not written yet: there the header is.
    const present = places.every((at, i) => at > 0 && at + (sizes?.[i] ?? 1) <= file.size);
    if (!present) return "broken";
  }
  return "whole";
}

async function valuesOf(
  file: RandomAccess,
  dialect: Dialect,
  field: Field,
  from: number,
  many: number,
  budget: TableBudget,
): Promise<number[]> {
  const width = widthOf(field);
  budget.spend(many * Math.max(VALUE_BYTES_MIN, width));
  const bytes = await file.read(field.at + from * width, many * width);
  const count = width === 0 ? 0 : Math.floor(bytes.length / width);
  return Array.from({ length: count }, (_, index) =>
    unsigned(bytes, index * width, width, dialect),
  );
}
