/** Listings that are journaled while hints of files in the same directory are: which of the two saw it later is not known. */
import { dirOf, type RawPath } from "../std/raw-path.ts";

/** A listing that is being journaled. */
export type Overlap = { readonly isDisturbed: boolean };

export class Overlaps {
  readonly #listings = new Set<{ readonly place: string; isDisturbed: boolean }>();
  readonly #hints = new Set<ReadonlySet<string>>();

  /** Journals a listing of `dir`, which learns whether a hint comes between. */
  async listing<T>(
    mirrorId: number,
    dir: RawPath,
    journaled: (own: Overlap) => Promise<T>,
  ): Promise<T> {
    const place = placeOf(mirrorId, dir);
    const own = { place, isDisturbed: [...this.#hints].some((places) => places.has(place)) };
    this.#listings.add(own);
    try {
      return await journaled(own);
    } finally {
      this.#listings.delete(own);
    }
  }

  /** Journals hints of these files. */
  async hint(
    mirrorId: number,
    files: readonly { readonly path: RawPath }[],
    journaled: () => Promise<unknown>,
  ): Promise<void> {
    const places = new Set(files.map(({ path }) => placeOf(mirrorId, dirOf(path))));
    for (const each of this.#listings) if (places.has(each.place)) each.isDisturbed = true;
    this.#hints.add(places);
    try {
      await journaled();
    } finally {
      this.#hints.delete(places);
    }
  }
}

function placeOf(mirrorId: number, dir: RawPath): string {
  return `${mirrorId}/${dir}`;
}
