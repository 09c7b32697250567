/**
 * Mirrors whose files cannot be moved or deleted just now: the disk for finished ones is full, or may not be
 * written to. Each try asks the archive and reads a file, so a few are tried, and the rest wait with them.
 */
import { lastingMs } from "../domain/backoff.ts";
import { REFUSED } from "./waits.ts";

/** So many files in a row, and it is not for one file's sake. */
const IN_A_ROW = 3;

/** Files of a mirror that are remembered as refused. A guess: those that are tried in a week of rests. */
const REMEMBERED_MAX = 1_000;

/** In a row, of one mirror. Times are by the monotonic clock: nothing rests longer for a clock that is set. */
type Streak = {
  readonly since: number;
  readonly until: number;
  /** When one that was not refused is to be tried; no sooner than the rest is over. */
  readonly otherAt: number;
  readonly message: string;
  /** The documents whose files were refused, each once. */
  readonly ids: Set<number>;
};

/** What tells a file, and whose it is. */
type File = { readonly id: number; readonly mirrorId: number };

/** Not journaled: after a restart a few are tried again. */
export class Refusals {
  readonly #streaks = new Map<number, Streak>();

  /** Why the mirror's files stay where they are, and how long none is tried; undefined: they may be. */
  restOf(mirrorId: number, monotonic: number): { leftMs: number; message: string } | undefined {
    const streak = this.#streaks.get(mirrorId);
    if (!streak || streak.ids.size < IN_A_ROW) return undefined;
    const leftMs = streak.until - monotonic;
    return leftMs > 0 ? { leftMs: Math.ceil(leftMs), message: streak.message } : undefined;
  }

  /**
   * What is tried after a rest, and refused, begins the next one on its own. A file that is refused again and
   * again is one: whatever stands against it alone keeps no other from being tried.
   */
  refused({ id, mirrorId }: File, message: string, monotonic: number): void {
    const { since, ids } = this.#streaks.get(mirrorId) ?? { since: monotonic, ids: new Set() };
    if (ids.size < REMEMBERED_MAX) ids.add(id);
    const until = monotonic + lastingMs(REFUSED, monotonic - since);
    this.#streaks.set(mirrorId, { since, until, otherAt: until, message, ids });
  }

  /** A file of a mirror that rests is not moved or deleted for a reason of its own, and goes by its own patience. */
  met({ id, mirrorId }: File): void {
    const { ids } = this.#streaks.get(mirrorId) ?? {};
    if (ids && ids.size >= IN_A_ROW && ids.size < REMEMBERED_MAX) ids.add(id);
  }

  /**
   * Takes the mirrors of which one that was not refused is to be tried, as their rest is over, and of how many files
   * each it is known that they were. Where that try comes to nothing, the next one is no sooner than after the first rest.
   */
  takeRested(monotonic: number): { mirrorId: number; met: number }[] {
    const rested = [...this.#streaks].filter(
      ([, { ids, otherAt }]) => ids.size >= IN_A_ROW && otherAt <= monotonic,
    );
    return rested.map(([mirrorId, streak]) => {
      this.#streaks.set(mirrorId, { ...streak, otherAt: monotonic + REFUSED.initialMs });
      return { mirrorId, met: streak.ids.size };
    });
  }

  /** Whether this very file was refused. */
  isMet({ id, mirrorId }: File): boolean {
    return this.#streaks.get(mirrorId)?.ids.has(id) === true;
  }

  /** The same files, those last that were refused: after a rest one is tried, and another may be moved or deleted. */
  othersFirst<F extends File>(files: readonly F[]): F[] {
    return files.toSorted((a, b) => Number(this.isMet(a)) - Number(this.isMet(b)));
  }

  /** It may be fixed: one more is tried, and refused again, ends it. */
  recheck(): void {
    for (const [mirrorId, streak] of this.#streaks)
      this.#streaks.set(mirrorId, { ...streak, until: 0, otherAt: 0 });
  }

  /** One was moved or deleted: whatever it was is over. */
  accepted(mirrorId: number): void {
    this.#streaks.delete(mirrorId);
  }
}
