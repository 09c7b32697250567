import type { Stats } from "node:fs";
import { basename, join } from "node:path";
import { codeOf, messageOf } from "../std/fault.ts";
import { type RawPath, ROOT, rawOfText, textOf } from "../std/raw-path.ts";
import { statsOf } from "./directory-fd.ts";
import { DirectoryWatcher, watchedPathOf } from "./directory-watcher.ts";
import { type Eligibility, eligibility } from "./eligible.ts";
import { GONE } from "./file-fault.ts";
import type { SourceSettings } from "./source.ts";
import { listedIn } from "./walk.ts";

/**
 * How soon what could not be watched is tried once more: the walk of a whole top directory, and a listing of
 * it, may be for nothing again. What works is tried with the others at once.
 */
const RETRY = { firstMs: 60_000, maxMs: 3_600_000 };

/** What cannot be listed. */
const FORBIDDEN: ReadonlySet<string> = new Set(["EACCES", "EPERM"]);

/** What the watchers tell; paths relative to the source. */
export type TopSinks = {
  /** An event in a directory; `name` is null, or has replacement characters, when it is not known. */
  event(dir: RawPath, name: string | null): void;
  /**
   * There is a new directory, or may be: where one is made in place of another at once, only the old one's own
   * end is reported, and what was written before the new one is watched by nothing.
   */
  appeared(dir: RawPath): void;
  vanished(dir: RawPath): void;
  /** Watchers could not be opened or closed as they should be. */
  failed(error: unknown): void;
};

/**
 * One FSWatcher for each top directory of a source and all below it, one for the source's own
 * entries. They are opened and closed one after another: opened together, over a million files,
 * they would take ten times the memory, and keep it.
 */
export class TopWatchers {
  readonly #settings: SourceSettings;
  readonly #real: string;
  readonly #sinks: TopSinks;
  readonly #stopping: AbortSignal;
  readonly #eligible: Eligibility;
  readonly #tops = new Map<RawPath, DirectoryWatcher>();
  /**
   * Those in which something could not be watched, the one tried longest ago first, and why; undefined: it cannot be
   * listed, which the scan reports.
   */
  readonly #failed = new Map<RawPath, unknown>();
  /** Why the one that is tried again just now could not be watched. */
  #retried: unknown;
  #retry = { waitMs: RETRY.firstMs, dueAt: 0 };
  /** The source could not be listed when its top directories were to be matched. */
  #isUnmatched = false;
  #queue: Promise<void> = Promise.resolve();

  /**
   * @param real the source's path without links: a link itself would not be watched
   * @param stopping once it aborts, nothing more is opened
   */
  constructor(settings: SourceSettings, real: string, sinks: TopSinks, stopping: AbortSignal) {
    this.#settings = settings;
    this.#real = real;
    this.#sinks = sinks;
    this.#stopping = stopping;
    this.#eligible = eligibility(settings);
  }

  /** Why some directories are not watched, though they can be listed; undefined: all are. */
  get failure(): unknown {
    return this.#retried ?? [...this.#failed.values()].find((error) => error !== undefined);
  }

  /** Resolves once the source's entries and every top directory are watched. */
  open(): Promise<void> {
    this.#enqueue(() => this.#open(ROOT));
    this.match();
    return this.#queue;
  }

  /** Sees to it that exactly the top directories are watched that there are. */
  match(): void {
    this.#enqueue(() => this.#match());
  }

  /** Watches top directories again that have been replaced by others of the same name. */
  reopen(dirs: readonly RawPath[]): void {
    for (const top of dirs) {
      if (!this.#tops.has(top)) continue;
      this.#enqueue(() => this.#close(top));
      this.#enqueue(() => this.#open(top));
    }
  }

  /**
   * Watches one again in which something could not be watched: a limit may have been raised, a right given.
   * Called after each sweep; `monotonic` says whether it is time. What could not be listed is at once.
   */
  retry(monotonic: number): void {
    if (this.#isUnmatched) this.match();
    const [top] = this.#failed.keys();
    if (top === undefined || monotonic < this.#retry.dueAt) return;
    this.#retried = this.#failed.get(top);
    this.#failed.delete(top);
    const { waitMs } = this.#retry;
    this.#retry = { waitMs: Math.min(2 * waitMs, RETRY.maxMs), dueAt: monotonic + waitMs };
    this.#enqueue(() => this.#close(top));
    this.#enqueue(() => this.#open(top));
    this.#enqueue(async () => {
      this.#retried = undefined;
      if (this.#stopping.aborted) return;
      if (!this.#failed.has(top)) this.#retry = { waitMs: RETRY.firstMs, dueAt: 0 };
      // For what happened while it was not watched.
      this.#sinks.appeared(top);
    });
  }

  async close(): Promise<void> {
    await this.#queue;
    await Promise.all([...this.#tops.values()].map((watcher) => watcher.close()));
    this.#tops.clear();
  }

  async #match(): Promise<void> {
    const entries = listedIn(this.#settings.source, ROOT);
    // Gone for a moment, or too many files are open: what is watched stays so.
    this.#isUnmatched = entries === undefined;
    if (!entries) return;
    const there = entries
      .filter(({ name, isDirectory }) => isDirectory && this.#eligible.directory(name))
      .map(({ name }) => name);
    const wanted = new Set<RawPath>([ROOT, ...there]);
    for (const top of this.#tops.keys()) if (!wanted.has(top)) await this.#close(top);
    for (const top of there) await this.#open(top);
  }

  async #open(top: RawPath): Promise<void> {
    const name = textOf(top);
    if (name === undefined || this.#tops.has(top) || this.#stopping.aborted) return;
    const watcher = new DirectoryWatcher({
      ignoreInitial: true,
      followSymlinks: false,
      // Would hold back, and for some names swallow, what it takes for an editor's saving.
      atomic: false,
      ignored: (path, stats) => this.#isIgnored(path, stats),
      ...(top === ROOT ? { depth: 0 } : {}),
    });
    this.#tops.set(top, watcher);
    watcher.on("raw", (event, entry, details) => this.#onRaw(event, entry, details));
    watcher.on("addDir", (path) => this.#onAddDir(top, path));
    watcher.on("unlinkDir", (path) => this.#onUnlinkDir(top, path));
    watcher.on("error", (error) => {
      const code = codeOf(error) ?? "";
      // What is gone is nobody's to watch.
      if (GONE.has(code)) return;
      this.#failed.set(top, this.#failed.get(top) ?? (FORBIDDEN.has(code) ? undefined : error));
    });
    watcher.add(top === ROOT ? this.#real : `${this.#prefix}${name}`);
    await this.#ready(watcher);
  }

  /** Not `events.once`: for that an `error` is the end, and for a watcher it is not. */
  async #ready(watcher: DirectoryWatcher): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onAbort = () => resolve();
    watcher.once("ready", () => resolve());
    this.#stopping.addEventListener("abort", onAbort, { once: true });
    await promise;
    this.#stopping.removeEventListener("abort", onAbort);
  }

  async #close(top: RawPath): Promise<void> {
    const watcher = this.#tops.get(top);
    this.#tops.delete(top);
    this.#failed.delete(top);
    await watcher?.close();
  }

  #enqueue(step: () => Promise<void>): void {
    this.#queue = this.#queue.then(step).catch((error: unknown) => {
      this.#sinks.failed(new Error(messageOf(error), { cause: error }));
    });
  }

  #isIgnored(path: string, stats: Stats | undefined): boolean {
    if (!stats) return false;
    if (!stats.isDirectory()) return true;
    const dir = this.#rawOf(path);
    return dir === undefined || !this.#eligible.directory(dir);
  }

  #onRaw(event: string, entry: string | null, details: unknown): void {
    const path = watchedPathOf(details);
    const dir = this.#rawOf(path);
    if (dir === undefined) return;
    this.#sinks.event(dir, entry);
    // The kernel reports a directory's own end by its own name.
    if (event === "rename" && entry === basename(path) && !statsOf(join(path, entry)))
      this.#sinks.appeared(dir);
  }

  #onAddDir(top: RawPath, path: string): void {
    const dir = this.#rawOf(path);
    if (dir === undefined || dir === ROOT) return;
    if (top === ROOT) this.#enqueue(() => this.#open(dir));
    this.#sinks.appeared(dir);
  }

  #onUnlinkDir(top: RawPath, path: string): void {
    const dir = this.#rawOf(path);
    if (dir === undefined) return;
    if (top === ROOT && dir !== ROOT) this.match();
    this.#sinks.vanished(dir);
  }

  get #prefix(): string {
    return this.#real === "/" ? "/" : `${this.#real}/`;
  }

  /** Of an absolute path as chokidar gives it; undefined for what is not in the source. */
  #rawOf(path: string): RawPath | undefined {
    if (path === this.#real) return ROOT;
    return path.startsWith(this.#prefix) ? rawOfText(path.slice(this.#prefix.length)) : undefined;
  }
}
