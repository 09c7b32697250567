/**
 * Finds directories that changed without an event: the kernel's queue overflowed, a watch could
 * not be placed, a directory's name is not UTF-8. A directory's mtime changes with every name that
 * comes, goes or is renamed in it; a look at ten thousand directories takes some 30 ms. It does
 * not see a file that is written in place: that is for the scan.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import { setImmediate as nextTick } from "node:timers/promises";
import type { Clock } from "../std/clock.ts";
import { bytesOf, joinRaw, type RawPath } from "../std/raw-path.ts";
import { type Eligibility, eligibility } from "./eligible.ts";
import type { SourceSettings } from "./source.ts";
import { entriesOf, walk } from "./walk.ts";

/** A time stamp this fresh may be shared by a change that is still to come. */
const FRESH_MS = 50;
const LOOKS_A_TICK = 5000;
/** Never equal to a real one: the directory counts as changed at the next sweep. */
const UNSETTLED = -1n;

/** What a directory was when it was last swept. */
type Mark = { readonly mtimeNs: bigint; readonly inode: bigint };

/** What a sweep found. */
export type Swept = {
  /** Directories whose names changed. */
  readonly changed: readonly RawPath[];
  /** Directories that are another directory of the same name now. */
  readonly replaced: readonly RawPath[];
  /** Directories that were not known; what is below them is new too. */
  readonly added: readonly RawPath[];
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
    for await (const { dir } of walk(this.#settings, signal, from)) this.#mark(dir);
  }

  /** Compares every known directory with what it was; new ones below a changed one are learnt. */
  async sweep(signal: AbortSignal): Promise<Swept> {
    const changed: RawPath[] = [];
    const replaced: RawPath[] = [];
    const added: RawPath[] = [];
    let looks = 0;
    for (const [dir, before] of Array.from(this.#marks)) {
      looks += 1;
      if (looks % LOOKS_A_TICK === 0) {
        await nextTick();
        signal.throwIfAborted();
      }
      const now = this.#mark(dir);
      // A directory that went shows in its parent.
      if (!now) continue;
      if (now.inode !== before.inode) replaced.push(dir);
      if (now.inode !== before.inode || now.mtimeNs !== before.mtimeNs) {
        changed.push(dir);
        added.push(...(await this.#learnBelow(dir, signal)));
      }
    }
    return { changed, replaced, added };
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
   * Remembers a directory as it is now; forgets it when it is none. Looked at by its plain path:
   * a link on the way could do no more than cause a listing, and that does not follow links.
   */
  #mark(dir: RawPath): Mark | undefined {
    const stat = lookAt(this.#settings.source, dir);
    if (!stat?.isDirectory()) {
      this.#marks.delete(dir);
      return undefined;
    }
    const inode = this.#settings.network ? 0n : stat.ino;
    const isFresh = Math.abs(this.#clock.now() - Number(stat.mtimeMs)) < FRESH_MS;
    const known = this.#marks.get(dir);
    // Ten thousand marks made anew at each sweep are ten thousand that V8 has to clear away.
    if (!isFresh && known?.mtimeNs === stat.mtimeNs && known.inode === inode) return known;
    this.#marks.set(dir, { mtimeNs: isFresh ? UNSETTLED : stat.mtimeNs, inode });
    return { mtimeNs: stat.mtimeNs, inode };
  }
}

function lookAt(source: string, dir: RawPath): BigIntStats | undefined {
  // The source itself may be a link: with a slash behind it, it is followed.
  const path = Buffer.concat([Buffer.from(`${source}/`), bytesOf(dir)]);
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
