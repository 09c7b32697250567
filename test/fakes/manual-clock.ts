import { type Clock, sleepOn } from "../../src/std/clock.ts";

/** Wake-ups at one and the same moment after which a loop is taken to spin. */
const SPIN_MAX = 2_000;

type Sleeper = { readonly at: number; readonly order: number; readonly wake: () => void };

/**
 * A clock that moves by hand. Nothing that sleeps on it wakes but by `advance` or `settle`, in the
 * order of the times asked for; between two of them everything that can go on without time does.
 *
 * What is tested on it must not wait for anything but this clock and what is in memory: a real
 * timer or socket is not waited for.
 */
export class ManualClock implements Clock {
  #now: number;
  #monotonic = 0;
  #order = 0;
  readonly #sleepers = new Set<Sleeper>();

  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Sleeps, come what may. */
  pass(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.alarm(ms, resolve);
    });
  }

  alarm(ms: number, notify: () => void): () => void {
    const sleeper = { at: this.#monotonic + Math.max(0, ms), order: this.#order++, wake: notify };
    this.#sleepers.add(sleeper);
    return () => this.#sleepers.delete(sleeper);
  }

  /** Lets `ms` pass: wakes all who wanted to sleep no longer, each at its own moment. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    let woken = 0;
    for (;;) {
      await goOn();
      const next = this.#next();
      if (!next || next.at > end) break;
      woken = next.at > this.#monotonic ? 0 : woken + 1;
      if (woken > SPIN_MAX) throw new Error(`a loop spins: woken ${woken} times at ${this.#now}`);
      this.#moveTo(next.at);
      this.#sleepers.delete(next);
      next.wake();
    }
    this.#moveTo(end);
  }

  /** Lets everything go on that needs no time. */
  settle(): Promise<void> {
    return this.advance(0);
  }

  /** Sets the wall clock forward or back, as an operator or NTP may; nobody wakes by it. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** Few sleep at a time: to look at all of them costs less than to keep them in order. */
  #next(): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const each of this.#sleepers) {
      if (!next || each.at < next.at || (each.at === next.at && each.order < next.order)) {
        next = each;
      }
    }
    return next;
  }

  #moveTo(monotonic: number): void {
    this.#now += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }
}

/** All promises that could resolve by then have: ticks have their turn when no promise has. */
function goOn(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}
