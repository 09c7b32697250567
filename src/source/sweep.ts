/**
 * Finds directories that changed without an event: the kernel's queue overflowed, a watch could
 * not be placed, a directory's name is not UTF-8. A directory's mtime changes with every name that
 * comes, goes or is renamed in it; a look at ten thousand directories takes some 30 ms. It does
 * not see a file that is written in place: that is for the scan.
 */
import { closeSync, type Stats } from "node:fs";
import { setImmediate as nextTick } from "node:timers/promises";
import type { Clock } from "../std/clock.ts";
import { bytesOf, dirOf, joinRaw, type RawPath, ROOT } from "../std/raw-path.ts";
import { openRoot, statsOf, workingIn } from "./directory-fd.ts";
import { type Eligibility, eligibility } from "./eligible.ts";
import type { SourceSettings } from "./source.ts";
import { entriesOf, walk } from "./walk.ts";

/** A time stamp this fresh may be shared by a change that is still to come. */
const FRESH_MS = 50;
const LOOKS_A_TICK = 5000;
/** Never equal to a real one, nor to itself: the directory counts as changed at the next sweep. */
const UNSETTLED = Number.NaN;

/** The source itself, from within. */
const HERE = "." as RawPath;

/**
 * What a directory was when it was last swept. Plain numbers, which tell times a quarter of a microsecond
 * apart: ten thousand looks in bigints are megabytes that V8 has to clear away, for years.
 */
type Mark = { readonly mtimeMs: number; readonly inode: number };

/** A directory that is not what it was. */
type Changed = { readonly dir: RawPath; readonly became: "another" | "changed" | "gone" };

/** What a sweep found. */
export type Swept = {
  /** Directories whose names changed. */
  readonly changed: readonly RawPath[];
  /** Directories that are another directory of the same name now. */
  readonly replaced: readonly RawPath[];
  /** Directories that were not known; what is below them is new too. */
  readonly added: readonly RawPath[];
  /** Directories that are not there under their names any more, or have become something else. */
  readonly gone: readonly RawPath[];
};

export class DirectorySweep {
  readonly #settings: SourceSettings;
  readonly #eligible: Eligibility;
  readonly #clock: Clock;
  readonly #marks = new Map<RawPath, Mark>();

  constructor(settings: SourceSettings, clock: Clock) {
    this.#settings = settings;
    this.#eligible = eligibility(settings);
    this.#clock = clock;
  }

  /** Directories that are swept. */
  get directories(): number {
    return this.#marks.size;
  }

  /** Learns the directories at and below one, without calling them changed. */
  async learn(from: RawPath, signal: AbortSignal): Promise<void> {
    const { source } = this.#settings;
    // The source itself may be a link: with a slash behind it, it is followed.
    const path = (dir: RawPath) => Buffer.concat([Buffer.from(`${source}/`), bytesOf(dir)]);
    for await (const { dir } of walk(this.#settings, signal, from))
      this.#mark(dir, statsOf(path(dir)));
  }

  /** Compares every known directory with what it was; new ones below a changed one are learnt. */
  async sweep(signal: AbortSignal): Promise<Swept> {
    const changed: RawPath[] = [];
    const replaced: RawPath[] = [];
    const added: RawPath[] = [];
    const gone: RawPath[] = [];
    const dirs = Array.from(this.#marks.keys());
    for (let at = 0; at < dirs.length; at += LOOKS_A_TICK) {
      if (at > 0) await nextTick();
      signal.throwIfAborted();
      for (const { dir, became } of this.#compare(dirs.slice(at, at + LOOKS_A_TICK))) {
        if (became === "gone") {
          gone.push(dir);
          continue;
        }
        if (became === "another") replaced.push(dir);
        changed.push(dir);
        added.push(...(await this.#learnBelow(dir, signal)));
      }
    }
    return { changed, replaced, added, gone };
  }

  async #learnBelow(dir: RawPath, signal: AbortSignal): Promise<RawPath[]> {
    const added: RawPath[] = [];
    for (const { name, isDirectory } of entriesOf(this.#settings.source, dir)) {
      const path = joinRaw(dir, name);
      if (!isDirectory || this.#marks.has(path) || !this.#eligible.directory(path)) continue;
      await this.learn(path, signal);
      added.push(path);
    }
    return added;
  }

  /**
   * Which of these are not what they were, looked at from within the source by their plain paths: a
   * link on the way could do no more than cause a listing, and that does not follow links.
   */
  #compare(dirs: readonly RawPath[]): Changed[] {
    const changed: Changed[] = [];
    const compare = (dir: RawPath, stat: Stats | undefined) => {
      const before = this.#marks.get(dir);
      const now = this.#mark(dir, stat);
      if (!before) return;
      if (!now) changed.push({ dir, became: "gone" });
      else if (now.inode !== before.inode) changed.push({ dir, became: "another" });
      else if (now.mtimeMs !== before.mtimeMs) changed.push({ dir, became: "changed" });
    };
    const root = rootOf(this.#settings.source);
    // Gone for now, or too many files are open: what is remembered is compared when it is back.
    if (root === undefined) return [];
    try {
      workingIn(root, (entry) => {
        for (const dir of dirs) compare(dir, statsOf(entry(dir === ROOT ? HERE : dir)));
      });
    } finally {
      closeSync(root);
    }
    return changed;
  }

  /** Remembers a directory as it is now; forgets it when it is none. */
  #mark(dir: RawPath, stat: Stats | undefined): Mark | undefined {
    if (!stat?.isDirectory()) {
      this.#marks.delete(dir);
      return undefined;
    }
    const { mtimeMs } = stat;
    const inode = this.#settings.network ? 0 : stat.ino;
    const isFresh = Math.abs(this.#clock.now() - mtimeMs) < FRESH_MS;
    const known = this.#marks.get(dir);
    // Ten thousand marks made again at each sweep would be as many to clear away.
    if (!isFresh && known?.mtimeMs === mtimeMs && known.inode === inode) return known;
    this.#marks.set(dir, { mtimeMs: isFresh ? UNSETTLED : mtimeMs, inode });
    return { mtimeMs, inode };
  }
}

/** Without those that are below another one. */
export function topmost(dirs: readonly RawPath[]): RawPath[] {
  const all = new Set(dirs);
  return dirs.filter((dir) => {
    for (let at = dir; at !== ROOT; ) {
      at = dirOf(at);
      if (all.has(at)) return false;
    }
    return true;
  });
}

/** The source, open; undefined where it is not there. The caller closes it. */
function rootOf(source: string): number | undefined {
  try {
    return openRoot(source);
  } catch {
    return undefined;
  }
}
