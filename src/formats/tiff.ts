import type { ZeroRuns } from "./gaps.ts";
import type { RandomAccess } from "./random-access.ts";
import { ImageData, type TiffState } from "./tiff-data.ts";
import { type Dialect, dialectOf, readDirectory, TableBudget } from "./tiff-directory.ts";

/**
 * Walks a TIFF's chain of directories, one a page. A scanner that appends page by page writes a
 * page's data, then its directory, then the pointer that leads there; a file whose chain leads
 * beyond its end, or to data that is not there, is still being written or was cut off.
 *
 * It does not look into the EXIF directory, and a
 * file caught exactly between two pages is a whole, shorter TIFF: only waiting tells it apart, or what is appended later.
 */
export type TiffFacts = {
  /** Directories that are pages: not previews of others, not masks. */
  pages: number;
  state: TiffState;
  /** What is missing of a broken one. */
  why?: string;
};

/** More pages than any scan has; a bound for hostile files. */
const DIRECTORIES_MAX = 100_000;

/**
 * Reads the chain of directories.
 *
 * @param zeros of the file; with them it is looked, too, whether every strip and tile is in the file and written
 */
export async function readTiff(file: RandomAccess, zeros?: ZeroRuns): Promise<TiffFacts> {
  const dialect = await dialectOf(file);
  if (!dialect) return { pages: 0, state: "broken", why: "its head is not all there" };
  const { previews, images, state, why } = await readChain(file, dialect, zeros);
  return { pages: images > 0 ? images : previews, state, ...(why === undefined ? {} : { why }) };
}

/** Bytes of a file, from `from` to before `to`. */
export type Stretch = { readonly from: number; readonly to: number };

/**
 * Anyone who appends a page to a TIFF of `size` bytes puts its place where the chain ended, which read as zeros before:
 * that stretch. Undefined where nothing was appended in that way.
 */
export async function appendedPointer(
  file: RandomAccess,
  size: number,
): Promise<Stretch | undefined> {
  const dialect = await dialectOf(file);
  if (!dialect) return undefined;
  const seen = new Set<number>();
  const budget = new TableBudget();
  const bytes = dialect.big ? 8 : 4;
  let pointer = { at: bytes, value: dialect.first };
  while (pointer.value !== 0 && pointer.value < size) {
    const { value } = pointer;
    if (seen.size >= DIRECTORIES_MAX || budget.spent || seen.has(value)) return undefined;
    seen.add(value);
    const directory = await readDirectory(file, dialect, value, budget);
    if (!directory) return undefined;
    pointer = { at: directory.nextAt, value: directory.next };
  }
  const isThere = pointer.value >= size && pointer.at + bytes <= size;
  return isThere ? { from: pointer.at, to: pointer.at + bytes } : undefined;
}

type Chain = { previews: number; images: number; state: TiffState; why?: string };

async function readChain(
  file: RandomAccess,
  dialect: Dialect,
  zeros: ZeroRuns | undefined,
): Promise<Chain> {
  const seen = new Set<number>();
  const budget = new TableBudget();
  const data = zeros && new ImageData(file, dialect, zeros, budget);
  const chain: Chain = { previews: 0, images: 0, state: "whole" };
  const broken = (why: string): Chain => ({ ...chain, state: "broken", why });
  for (let at = dialect.first; at !== 0; ) {
    if (seen.size >= DIRECTORIES_MAX || budget.spent) return { ...chain, state: "limit" };
    // A chain that bites its own tail has no end, so the file is not whole.
    if (seen.has(at)) return broken("its directories lead around in a circle");
    seen.add(at);
    const directory = await readDirectory(file, dialect, at, budget);
    if (!directory) return broken(`the directory of its page ${seen.size} is not there`);
    if (directory.auxiliary) chain.previews += 1;
    else chain.images += 1;
    const state = await data?.stateOf(directory);
    if (state === "limit") return { ...chain, state };
    if (state !== undefined && state !== "whole") return broken(`page ${seen.size}: ${state.why}`);
    at = directory.next;
  }
  if (seen.size === 0) return broken("it has no directory yet");
  const why = await data?.whyTheLastIsNotWritten();
  return why === undefined ? chain : broken(why);
}
