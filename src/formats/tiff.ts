import type { RandomAccess } from "./random-access.ts";
import { type TiffState, stateOfImage } from "./tiff-data.ts";
import { type Dialect, dialectOf, readDirectory, TableBudget } from "./tiff-directory.ts";

/**
 * Walks a TIFF's chain of directories, one a page. A scanner that appends page by page writes a
 * page's data, then its directory, then the pointer that leads there; a file whose chain leads
 * beyond its end, or to data that is not there, is still being written or was cut off.
 *
 * It does not look into directories below directories (EXIF, previews of raw photographs), and a
 * file caught exactly between two pages is a whole, shorter TIFF: only waiting tells it apart.
 */
export type TiffFacts = {
  /** Directories that are pages: not previews of others, not masks. */
  pages: number;
  state: TiffState;
};

/** More pages than any scan has; a bound for hostile files. */
const DIRECTORIES_MAX = 100_000;

/** Reads the chain of directories; `withData` looks, too, if every strip and tile is in the file. */
export async function readTiff(file: RandomAccess, withData: boolean): Promise<TiffFacts> {
  const dialect = await dialectOf(file);
  if (!dialect) return { pages: 0, state: "broken" };
  const { previews, images, state } = await readChain(file, dialect, withData);
  return { pages: images > 0 ? images : previews, state };
}

type Chain = { previews: number; images: number; state: TiffState };

async function readChain(file: RandomAccess, dialect: Dialect, withData: boolean): Promise<Chain> {
  const seen = new Set<number>();
  const budget = new TableBudget();
  const chain: Chain = { previews: 0, images: 0, state: "whole" };
  for (let at = dialect.first; at !== 0 && chain.state === "whole"; ) {
    if (seen.size >= DIRECTORIES_MAX || budget.spent) return { ...chain, state: "limit" };
    // A chain that bites its own tail has no end, so the file is not whole.
    if (seen.has(at)) return { ...chain, state: "broken" };
    seen.add(at);
    const directory = await readDirectory(file, dialect, at, budget);
    if (!directory) return { ...chain, state: "broken" };
    if (directory.auxiliary) chain.previews += 1;
    else chain.images += 1;
    if (withData) chain.state = await stateOfImage(file, dialect, directory, budget);
    at = directory.next;
  }
  return seen.size > 0 ? chain : { ...chain, state: "broken" };
}
