/**
 * Mirrors whose files cannot be put away just now: the disk for finished ones is full, or may not be
 * written to. Each try asks the archive and reads a file, so a few are tried, and the rest wait with them.
 */
import { againMs } from "./behind.ts";

/** So many in a row, and it is not for the file's sake. */
const IN_A_ROW = 3;

/** So long such a mirror rests: at first, and at most. */
const FIRST_MS = 10_000;
const REST_MS_MAX = 3_600_000;

/** Each put-off is journaled, and there may be hundreds of thousands. */
const FILE_MS_MAX = 6 * 3_600_000;

/** In a row, of one mirror. Times are by the monotonic clock: nothing rests longer for a clock that is set. */
type Streak = { readonly since: number; readonly number: number; readonly until: number };

/** Not journaled: after a restart a few are tried again. */
export class Refusals {
  readonly #streaks = new Map<number, Streak & { readonly message: string }>();

  /** Why the mirror's files stay where they are, and how long none is tried; undefined: they may be. */
  restOf(mirrorId: number, monotonic: number): { leftMs: number; message: string } | undefined {
    const { number, until, message } = this.#streaks.get(mirrorId) ?? NONE;
    const leftMs = until - monotonic;
    return number >= IN_A_ROW && leftMs > 0 ? { leftMs: Math.ceil(leftMs), message } : undefined;
  }

  /** What is tried after a rest, and refused, begins the next one by itself. */
  refused(mirrorId: number, message: string, monotonic: number): void {
    const { since, number } = this.#streaks.get(mirrorId) ?? { since: monotonic, number: 0 };
    const until = monotonic + againMs(monotonic - since, FIRST_MS, REST_MS_MAX);
    this.#streaks.set(mirrorId, { since, number: number + 1, until, message });
  }

  /** It may be mended: one more is tried, and refused again, ends it. */
  recheck(): void {
    for (const [mirrorId, streak] of this.#streaks)
      this.#streaks.set(mirrorId, { ...streak, until: 0 });
  }

  /** One was put away: whatever it was is over. */
  accepted(mirrorId: number): void {
    this.#streaks.delete(mirrorId);
  }
}

const NONE = { number: 0, until: 0, message: "" };

/** Milliseconds until a file is tried again that was to be put away `lastedMs` ago. */
export function triedAgainMs(lastedMs: number): number {
  return againMs(lastedMs, FIRST_MS, FILE_MS_MAX);
}
