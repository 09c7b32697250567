/**
 * Schedules by cron expressions (seconds allowed), in the host's time zone.
 *
 * The library says which moments an expression means. When to look is decided here: its own timers
 * wait for one moment of the wall clock, which a clock set back moves hours or years away, and pass
 * over a moment that they are late for, say after the host slept.
 */
import { createTask, parse } from "node-cron";
import type { Clock } from "../std/clock.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A clock that was set is noticed this late at most. */
const MAX_SLEEP_MS = 10 * MINUTE;

/** So many seconds or minutes are gone through when a look comes late: a day, for most schedules. */
const MISSED_MAX = 1_440;

/** Days on which a moment is looked for: between two leap days there may be eight years. */
const DAYS_MAX = 8 * 366;

export class Schedule implements Disposable {
  readonly #expression: string;
  #task: ReturnType<typeof createTask> | undefined;
  readonly #fields: ReturnType<typeof parse>;
  readonly #unitMs: number;
  readonly #ending = new AbortController();

  /** `expression` is valid; see `config/cron.ts`. */
  constructor(expression: string) {
    this.#expression = expression;
    this.#fields = parse(expression);
    const [second, ...more] = this.#fields.second;
    this.#unitMs = second === 0 && more.length === 0 ? MINUTE : SECOND;
  }

  /**
   * Calls `run` at every moment of `expression`, until disposed. Of moments that were missed it
   * makes one. A moment that the clock skips in spring comes at the end of the gap. In an hour that
   * the clock repeats, what is meant for every hour comes again and what is meant for some does not.
   */
  static start(expression: string, run: () => void, clock: Clock): Schedule {
    const schedule = new Schedule(expression);
    void schedule.#live(run, clock).catch((error: unknown) => {
      if (!schedule.#ending.signal.aborted) throw error;
    });
    return schedule;
  }

  /** The next moment after `at`, epoch milliseconds; null when there is none. */
  next(at: number): number | null {
    const times = this.#timesOfDay();
    const [first = 0] = times;
    const from = wallClock(at);
    const midnight = from - (from % DAY);
    for (let day = midnight; day < midnight + DAYS_MAX * DAY; day += DAY) {
      // Whether a day is meant does not depend on the time of day.
      if (!this.#isMeant(day + first)) continue;
      const time = times.find((each) => day + each > from);
      if (time === undefined) continue;
      const moment = atWallClock(day + time);
      // The second of two that the clock shows alike.
      return moment > at ? moment : at + (day + time - from);
    }
    return null;
  }

  [Symbol.dispose](): void {
    this.#ending.abort(new Error("the schedule ends"));
  }

  async #live(run: () => void, clock: Clock): Promise<void> {
    const everyHour = this.#fields.hour.length === 24;
    // Up to here all moments are dealt with, by the wall clock.
    let seen = wallClock(clock.now());
    for (;;) {
      await clock.sleep(this.#maxSleepMs(clock.now()), this.#ending.signal);
      const now = wallClock(clock.now());
      // A leap second or a correction is waited out; so is a repeated hour, unless each one counts.
      if (seen - now > (everyHour ? MINUTE : 2 * HOUR)) seen = now - 1;
      const isDue = this.#hasMoment(Math.max(seen, now - MISSED_MAX * this.#unitMs), now);
      seen = Math.max(seen, now);
      if (isDue) run();
    }
  }

  /** All times of a day that are meant, in milliseconds since midnight, earliest first. */
  #timesOfDay(): number[] {
    const { hour, minute, second } = this.#fields;
    return hour
      .flatMap((h) => minute.flatMap((m) => second.map((s) => h * HOUR + m * MINUTE + s * SECOND)))
      .sort((a, b) => a - b);
  }

  /** Until the next moment that may be one, or the longest sleep. */
  #maxSleepMs(at: number): number {
    const start = at - (at % this.#unitMs);
    for (let next = start + this.#unitMs; next - at < MAX_SLEEP_MS; next += this.#unitMs)
      if (this.#mayBe(wallClock(next))) return next - at;
    return MAX_SLEEP_MS;
  }

  /** True when there is a moment after `from` and up to `to`. */
  #hasMoment(from: number, to: number): boolean {
    const first = from - (from % this.#unitMs) + this.#unitMs;
    for (let moment = first; moment <= to; moment += this.#unitMs)
      if (this.#mayBe(moment) && this.#isMeant(moment)) return true;
    return false;
  }

  /** Asked about wall-clock time as if it were UTC: there every moment exists, and exists once. */
  #isMeant(moment: number): boolean {
    this.#task ??= taskOf(this.#expression);
    return this.#task.match(new Date(moment));
  }

  /** Cheap, where asking the library is not. */
  #mayBe(moment: number): boolean {
    const { hour, minute, second } = this.#fields;
    const inDay = moment % DAY;
    return (
      second.includes(Math.floor((inDay % MINUTE) / SECOND)) &&
      minute.includes(Math.floor((inDay % HOUR) / MINUTE)) &&
      hour.includes(Math.floor(inDay / HOUR))
    );
  }
}

/** Made when it is first asked: the names of months and days take a tenth of a second to load. */
function taskOf(expression: string): ReturnType<typeof createTask> {
  const task = createTask(expression, () => {}, { timezone: "UTC" });
  // It is only asked; the library would keep every task for ever that is not destroyed.
  void task.destroy();
  return task;
}

/** What the host's wall clock shows at `at`, as the epoch milliseconds at which UTC shows the same. */
function wallClock(at: number): number {
  return at - new Date(at).getTimezoneOffset() * MINUTE;
}

/** The first moment at which the wall clock shows this, or has just skipped it. */
function atWallClock(shown: number): number {
  const at = new Date(shown);
  return new Date(
    at.getUTCFullYear(),
    at.getUTCMonth(),
    at.getUTCDate(),
    at.getUTCHours(),
    at.getUTCMinutes(),
    at.getUTCSeconds(),
  ).getTime();
}
