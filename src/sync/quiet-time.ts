/** Whether a file was quiet for as long as the clock says. */
import type { ClockGap } from "../domain/clock-gaps.ts";
import type { Document } from "../domain/document.ts";
import type { Change, Note } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { SetForward } from "./clock-skew.ts";

/**
 * A file is quiet from when it was last seen to change, whatever made it due. What the clock says of how long
 * that is holds only while it was not set: not across a setting that was noticed, nor across a time in which
 * nobody was there to notice.
 */
export class QuietTime {
  readonly #clock: Clock;
  readonly #setForward: SetForward;
  /** Now, and by the monotonic clock: how long ago that was no clock that is set can hide. */
  readonly #startedAt: { readonly now: number; readonly monotonic: number };

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#setForward = new SetForward(clock);
    this.#startedAt = { now: clock.now(), monotonic: clock.monotonic() };
  }

  /** What the clock skipped, as far as that was noticed; call it every now and then. */
  look(): readonly ClockGap[] {
    return this.#setForward.look();
  }

  /** The change by which a file that is not known to have been quiet for `quietMs` is put off; undefined: it is. */
  onceMore({ id, changedAt }: Document, quietMs: number): Change | undefined {
    const at = this.#clock.now();
    const later = (dueAt: number, why: string, set: Note = {}): Change => {
      return { type: "note", id, at, why, set: { ...set, dueAt } };
    };
    if (changedAt > at) {
      // When it changed by the clock as it is now, nobody knows: not later than this.
      const why = "seen by a clock that ran ahead: it has to be quiet once more";
      return later(at + quietMs, why, { changedAt: at });
    }
    const quietAt = changedAt + quietMs;
    if (at < quietAt) return later(quietAt, "not quiet for `settle` yet");
    const { now, monotonic } = this.#startedAt;
    const leftMs = quietMs - (this.#clock.monotonic() - monotonic);
    if (changedAt < now && leftMs > 0) {
      const why = "seen before the daemon was started: it has to be quiet once more";
      return later(at + leftMs, why);
    }
    const unsetAt = (this.look().at(-1)?.to ?? Number.NEGATIVE_INFINITY) + quietMs;
    if (at >= unsetAt) return undefined;
    return later(unsetAt, "the clock was set forward: it has to be quiet once more");
  }
}
