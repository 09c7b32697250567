import type { RawPath } from "../std/raw-path.ts";

/**
 * Which files an after-action has in hand. Until it is over, such a file is not under its name, whether
 * it goes or, having other content by now, gets its name back: nobody may take it for moved, or removed.
 */
export class AfterActions {
  readonly #inHand = new Set<string>();
  readonly #notices = new Set<Set<string>>();

  /** Runs an after-action on a file, until what became of it is journaled. */
  async of<T>(mirrorId: number, path: RawPath, work: () => Promise<T>): Promise<T> {
    const key = keyOf(mirrorId, path);
    this.#inHand.add(key);
    for (const notice of this.#notices) notice.add(key);
    try {
      return await work();
    } finally {
      this.#inHand.delete(key);
    }
  }

  /** Whether it is in hand now. */
  has(mirrorId: number, path: RawPath): boolean {
    return this.#inHand.has(keyOf(mirrorId, path));
  }

  /** Runs a look at files, and says of each path whether it was in hand at any moment of it. */
  async during<T>(look: () => Promise<T>): Promise<[T, (id: number, path: RawPath) => boolean]> {
    const notice = new Set(this.#inHand);
    this.#notices.add(notice);
    try {
      return [await look(), (mirrorId, path) => notice.has(keyOf(mirrorId, path))];
    } finally {
      this.#notices.delete(notice);
    }
  }
}

function keyOf(mirrorId: number, path: RawPath): string {
  return `${mirrorId}/${path}`;
}
