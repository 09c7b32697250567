import type { Archive } from "../../src/archive/archive.ts";
import type { Applied, Journal } from "../../src/journal/journal.ts";
import type { Clock } from "../../src/std/clock.ts";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import type { MemoryStore } from "../fakes/memory-store.ts";
import type { Dice } from "./dice.ts";

/** Waits without an end: what a life waits for that is over. */
const never = (): Promise<never> => new Promise(() => {});

/** Commits take up to this long. */
const COMMIT_MS_MAX = 4;

const WRITES: readonly string[] = [
  "mirror",
  "setDevice",
  "endFirstRun",
  "apply",
  "setGate",
  "setPace",
  "tidy",
  "setPaused",
  "setContents",
] satisfies (keyof Journal)[];

/**
 * One life of the daemon's process. Everything it does to the world goes through handles that die
 * with it: a call that is under way then is never answered, and may or may not have been done; a
 * call that is made later does nothing.
 */
export class Life {
  readonly #clock: Clock;
  readonly #dice: Dice;
  readonly #stopping = new AbortController();
  readonly #crashed: () => void;
  #isOver = false;
  /** Calls until it crashes, begin and end of each counted. */
  #fuse = Number.POSITIVE_INFINITY;
  #commits: Promise<unknown> = Promise.resolve();
  #written = Promise.withResolvers<void>();

  constructor(clock: Clock, dice: Dice, crashed: () => void) {
    this.#clock = clock;
    this.#dice = dice;
    this.#crashed = crashed;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Asks its loops to end. */
  stop(): void {
    this.#stopping.abort(new Error("the daemon stops"));
  }

  /** The process ends as by SIGKILL. */
  crash(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopping.abort(new Error("the process was killed"));
    this.#crashed();
  }

  /** It will crash at one of its next calls: before that is done, or before it is answered. */
  lightFuse(calls: number): void {
    this.#fuse = calls;
  }

  /** Another process has written to the journal. */
  wroteOutside(): void {
    this.#written.resolve();
    this.#written = Promise.withResolvers();
  }

  /** Lets time pass, in this life. */
  async pause(ms: number): Promise<void> {
    await this.#clock.sleep(ms, new AbortController().signal);
    if (this.#isOver) await never();
  }

  /** One call to the world outside. */
  async call<T>(effect: () => T | Promise<T>): Promise<T> {
    if (this.#burns()) return never();
    try {
      return await effect();
    } finally {
      if (this.#burns()) await never();
    }
  }

  /** The archive, for as long as this life lasts. */
  archive(archive: Archive): Archive {
    return guarded(archive, (_, effect) => this.call(effect));
  }

  /** A journal on this store: commits take their time and keep their order, reads wait for them. */
  journal(store: MemoryStore, onApplied: (applied: readonly Applied[]) => void): Journal {
    const inner = new MemoryJournal({
      store,
      onApplied: (applied) => {
        if (!this.#isOver) onApplied(applied);
      },
    });
    let told: number | undefined;
    return guarded<Journal>(inner, async (name, effect) => {
      if (name === "outsideWrites") {
        while ((await inner.outsideWrites()) === told) await this.#nextOutsideWrite();
        told = await inner.outsideWrites();
      }
      if (!WRITES.includes(name)) {
        await this.#commits;
        return this.call(effect);
      }
      const commit = this.#commits.then(async () => {
        const ms = this.#dice.int(-COMMIT_MS_MAX, COMMIT_MS_MAX);
        if (ms > 0) await this.pause(ms);
        return this.call(effect);
      });
      this.#commits = commit.catch(() => {});
      return commit;
    });
  }

  /** Instead of asking again and again, which costs a simulation most of its time. */
  async #nextOutsideWrite(): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(this.stopping.reason);
    this.stopping.addEventListener("abort", abort, { once: true });
    if (this.stopping.aborted) abort();
    await Promise.race([this.#written.promise, aborted.promise]);
  }

  #burns(): boolean {
    this.#fuse -= 1;
    if (this.#fuse <= 0) this.crash();
    return this.#isOver;
  }
}

/** The same object, every method of which goes through `call`; properties are as they are. */
export function guarded<T extends object>(
  target: T,
  call: (name: string, effect: () => Promise<unknown>) => Promise<unknown>,
): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...parameters: unknown[]) =>
        call(String(name), () => Reflect.apply(value, target, parameters) as Promise<unknown>);
    },
  });
}
