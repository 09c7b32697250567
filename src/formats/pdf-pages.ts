import { numberOf, PdfObjects } from "./pdf-objects.ts";
import { NotPdf, type PdfArray } from "./pdf-syntax.ts";
import type { RandomAccess } from "./random-access.ts";

/** Branches of the page tree's root that are looked at; writers make some ten of them. */
const BRANCHES_MAX = 32;

/** More pages than any document has; a bound for hostile files, whose numbers add up all the same. */
const PAGES_MAX = 1_000_000;

/** A number of pages that a PDF states, unless nobody could have written so many. */
export function believed(pages: number): number | undefined {
  return pages <= PAGES_MAX ? pages : undefined;
}

/**
 * The number of pages that a sound PDF states of itself, found with a few short reads; undefined
 * where that takes a whole engine: damaged, encrypted and unusual files, and those whose own numbers
 * do not add up. Rejects with what `file` rejects with.
 */
export async function statedPages(file: RandomAccess): Promise<number | undefined> {
  try {
    const objects = await PdfObjects.open(file);
    const catalogue = await objects.root();
    const tree = await objects.dictionary(catalogue.get("Pages"));
    const count = numberOf(tree, "Count");
    const kids = tree.get("Kids");
    if (!Array.isArray(kids) || kids.length === 0 || tree.get("Type") !== "/Pages")
      return undefined;
    return (await isTrue(objects, kids, count)) ? believed(count) : undefined;
  } catch (error) {
    if (error instanceof NotPdf) return undefined;
    throw error;
  }
}

/** Whether the branches of the tree's root have so many pages, as far as they say themselves. */
async function isTrue(objects: PdfObjects, kids: PdfArray, count: number): Promise<boolean> {
  if (kids.length === count) return true;
  if (kids.length > BRANCHES_MAX) return false;
  let sum = 0;
  for (const kid of kids) {
    const branch = await objects.dictionary(kid);
    sum += branch.get("Type") === "/Pages" ? numberOf(branch, "Count") : 1;
  }
  return sum === count;
}
