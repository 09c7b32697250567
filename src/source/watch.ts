/**
 * Tells early where to look. Hints only: whatever is missed here, the scan finds.
 *
 * The kernel is asked about directories, never about single files: one watch a directory, one
 * FSWatcher a top directory, opened one after another (a single one over a million files takes ten
 * times the memory). The raw events name the files. Holes, and what fills them:
 *
 * - files that came before the watch of their directory, new or in another's place: it is listed, later once more;
 * - events the kernel's queue had no room for: the sweep of directory mtimes, and a full scan;
 * - directories that could not be watched, or whose names are not UTF-8: the sweep; the former are tried again;
 * - a file written through a memory map or through another hard link: the scheduled scan.
 */
import { readFileSync, realpathSync } from "node:fs";
import type { Clock } from "../std/clock.ts";
import { codeOf } from "../std/fault.ts";
import { joinRaw, type RawPath, ROOT, rawOfText } from "../std/raw-path.ts";
import { type CompanionUse, documentOfCompanion } from "./companions.ts";
import { Coalescer } from "./coalescer.ts";
import { companionUse, type Eligibility, eligibility } from "./eligible.ts";
import { SourceOffline, systemText } from "./file-fault.ts";
import type { SourceSettings } from "./source.ts";
import { DirectorySweep, topmost } from "./sweep.ts";
import { type TopSinks, TopWatchers } from "./top-watchers.ts";

/** Where a watch tells what it noticed. Called from the event loop, never after `close`. */
export type WatchSinks = {
  /** These may have changed, come or gone; some may be directories. */
  hint(paths: RawPath[]): void;
  /** List this directory now and, where `below` is set, everything below it too. */
  directory(dir: RawPath, below: boolean): void;
  /** These are not there any more, with all that was below them; what is so is for a scan to tell. */
  vanished(dirs: RawPath[]): void;
  /** Something was, or may have been, missed: a full scan is needed. */
  doubt(why: string): void;
};

/** How often the watch looks after itself; milliseconds. */
export type WatchTiming = {
  /** Between sweeps while there are events, or where a sweep takes no time to speak of. */
  readonly sweepMs: number;
  readonly beatMs: number;
  /** A beat this late means that the event loop stood still and the kernel's queue may be full. */
  readonly stallMs: number;
};

const TIMING: WatchTiming = { sweepMs: 2500, beatMs: 1000, stallMs: 2000 };
/**
 * Where nothing happens, sweeps take no more than this share of the time: the kernel's queue does
 * not overflow on its own, and ten thousand directories every 2.5 s would be 1 % of a core for ever.
 */
const IDLE_SHARE = 1 / 1000;
const IDLE_SWEEP_MAX_MS = 60_000;
/** The first of several is looked at soon; a file that is being written is not looked at all the time. */
const HINT = { windowMs: 50, firstMs: 10, delayMs: 0 };
/** A new directory is announced before it is watched, and listed when it surely is. */
const SOON = { windowMs: 50, delayMs: 200 };
const LATER = { windowMs: 50, delayMs: 1950 };

export class DirectoryWatch implements AsyncDisposable {
  /** Events of all watches: they share one queue in the kernel. */
  static #events = 0;

  readonly #sinks: WatchSinks;
  readonly #clock: Clock;
  readonly #timing: WatchTiming;
  readonly #eligible: Eligibility;
  readonly #companions: CompanionUse;
  readonly #sweeper: DirectorySweep;
  readonly #stop = new AbortController();
  readonly #tops: TopWatchers;
  readonly #hints: Coalescer<RawPath>;
  readonly #dirty: Coalescer<RawPath>;
  readonly #soon: Coalescer<RawPath>;
  readonly #later: Coalescer<RawPath>;
  /** Directories that had an event since the last sweep. */
  #touched = new Set<RawPath>();
  #sweptAtEvent = 0;
  #burst = false;
  #closed: Promise<void> | undefined;

  private constructor(
    settings: SourceSettings,
    sinks: WatchSinks,
    clock: Clock,
    timing: WatchTiming,
  ) {
    this.#sinks = sinks;
    this.#clock = clock;
    this.#timing = timing;
    this.#eligible = eligibility(settings);
    this.#companions = companionUse(settings);
    this.#sweeper = new DirectorySweep(settings, clock);
    const stopping = this.#stop.signal;
    this.#hints = new Coalescer(clock, HINT, (paths) => sinks.hint(paths), stopping);
    const listEach = (dirs: RawPath[]) => dirs.forEach((dir) => sinks.directory(dir, false));
    this.#dirty = new Coalescer(clock, HINT, listEach, stopping);
    this.#soon = new Coalescer(clock, SOON, (dirs) => this.#list(dirs), stopping);
    this.#later = new Coalescer(clock, LATER, (dirs) => this.#list(dirs), stopping);
    const topSinks: TopSinks = {
      event: (dir, name) => this.#onEvent(dir, name),
      appeared: (dir) => this.#announce(dir),
      vanished: (dir) => this.#onVanished(dir),
      failed: (error) => this.#doubt(`watching failed: ${systemText(error)}`),
    };
    this.#tops = new TopWatchers(settings, realpathOf(settings.source), topSinks, stopping);
  }

  /**
   * Begins to watch a source and resolves once every directory is watched. A full scan should
   * follow: what happened before is not told.
   *
   * @throws `SourceOffline` when there is no source to watch
   */
  static async open(
    settings: SourceSettings,
    sinks: WatchSinks,
    clock: Clock,
    timing: WatchTiming = TIMING,
  ): Promise<DirectoryWatch> {
    const watch = new DirectoryWatch(settings, sinks, clock, timing);
    await watch.#start();
    return watch;
  }

  /** Directories that are looked after, by events or by sweep. */
  get directories(): number {
    return this.#sweeper.directories;
  }

  /** Why some of them are not watched; undefined: all are. */
  get problem(): string | undefined {
    const { failure } = this.#tops;
    if (failure === undefined) return undefined;
    return codeOf(failure) === "ENOSPC"
      ? "the limit of watched directories is reached (fs.inotify.max_user_watches)"
      : systemText(failure);
  }

  /** Lists what changed without an event since the last sweep. Called on its own every `sweepMs`. */
  async sweep(): Promise<void> {
    const touched = this.#touched;
    this.#touched = new Set();
    const overflowed = this.#countBurst();
    const { changed, replaced, added, gone } = await this.#sweeper.sweep(this.#stop.signal);
    if (this.#stop.signal.aborted) return;
    for (const dir of [...added, ...replaced]) this.#announce(dir);
    for (const dir of changed) {
      if (overflowed || !touched.has(dir)) this.#sinks.directory(dir, false);
    }
    if (gone.length > 0) this.#sinks.vanished(topmost(gone));
    if (changed.includes(ROOT)) this.#tops.match();
    this.#tops.reopen(replaced);
    this.#tops.retry(this.#clock.monotonic());
  }

  /** Idempotent; resolves once nothing is watched any more. */
  close(): Promise<void> {
    this.#stop.abort();
    this.#closed ??= this.#tops.close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #start(): Promise<void> {
    await this.#tops.open();
    await this.#sweeper.learn(ROOT, this.#stop.signal);
    this.#sweptAtEvent = DirectoryWatch.#events;
    void this.#sweepOnAndOn();
    void this.#beat();
  }

  #onEvent(dir: RawPath, name: string | null): void {
    DirectoryWatch.#events += 1;
    this.#touched.add(dir);
    // A replacement character stands for bytes that cannot be told any more.
    if (name === null || name.includes("\ufffd")) {
      this.#dirty.add(dir);
      return;
    }
    const path = joinRaw(dir, rawOfText(name));
    // What stands next to a document is a hint that there is something new to look at.
    const meant = documentOfCompanion(path, this.#companions) ?? path;
    if (this.#eligible.file(meant)) this.#hints.add(meant);
  }

  #onVanished(dir: RawPath): void {
    if (dir === ROOT) return this.#doubt("the source is gone");
    this.#soon.add(dir);
  }

  #announce(dir: RawPath): void {
    this.#soon.add(dir);
    this.#later.add(dir);
  }

  #list(dirs: RawPath[]): void {
    for (const dir of topmost(dirs)) {
      // Learnt before it is listed, so that a change in between is not missed.
      this.#sweeper
        .learn(dir, this.#stop.signal)
        .catch(() => {})
        .finally(() => {
          if (!this.#stop.signal.aborted) this.#sinks.directory(dir, true);
        });
    }
  }

  #doubt(why: string): void {
    if (!this.#stop.signal.aborted) this.#sinks.doubt(why);
  }

  /** True while events come so fast that the queue may be overflowing; doubts once that is over. */
  #countBurst(): boolean {
    const events = DirectoryWatch.#events - this.#sweptAtEvent;
    this.#sweptAtEvent = DirectoryWatch.#events;
    const isBurst = events >= QUEUED_EVENTS_MAX / 2;
    if (this.#burst && !isBurst) this.#doubt("events came faster than the kernel may keep");
    this.#burst = isBurst;
    return isBurst;
  }

  async #sweepOnAndOn(): Promise<void> {
    const { sweepMs } = this.#timing;
    let dueAt = this.#clock.monotonic() + sweepMs;
    await this.#every(sweepMs, async () => {
      const begun = this.#clock.monotonic();
      const isQuiet = DirectoryWatch.#events === this.#sweptAtEvent && !this.#burst;
      if (isQuiet && begun < dueAt) return;
      await this.sweep();
      const ended = this.#clock.monotonic();
      dueAt = ended + Math.min((ended - begun) / IDLE_SHARE, IDLE_SWEEP_MAX_MS);
    });
  }

  async #beat(): Promise<void> {
    let before = this.#clock.monotonic();
    await this.#every(this.#timing.beatMs, async () => {
      const now = this.#clock.monotonic();
      const lateMs = now - before - this.#timing.beatMs;
      before = now;
      if (lateMs > this.#timing.stallMs)
        this.#doubt(`the process stood still for ${Math.round(lateMs)} ms`);
    });
  }

  async #every(ms: number, step: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    try {
      while (!signal.aborted) {
        await this.#clock.sleep(ms, signal);
        await step();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

const QUEUED_EVENTS_MAX = queuedEventsMax();

function queuedEventsMax(): number {
  try {
    return Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8")) || 16_384;
  } catch {
    return 16_384;
  }
}

function realpathOf(source: string): string {
  try {
    return realpathSync(source);
  } catch (error) {
    throw new SourceOffline(`${source}: ${systemText(error)}`, { cause: error });
  }
}
