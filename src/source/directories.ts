/**
 * The directory that a file is looked at in. Files of one directory come one after another: it is opened once for all
 * that are looked at in one turn of the event loop, and no longer, as it may be renamed or unmounted.
 */
import { closeSync, opendirSync } from "node:fs";
import { dirOf, type RawPath } from "../std/raw-path.ts";
import { descend, entryOf, openRoot } from "./directory-fd.ts";
import { fileFault } from "./file-fault.ts";

/** An open directory of a source. */
export type OpenDirectory = {
  /** Good for naming its entries only. */
  readonly fd: number;
  /**
   * False where it had no entry of this name when its files began to be looked at, in whatever case, as shares tell none
   * apart. Asked once a look.
   */
  hasEntry(): (name: RawPath) => boolean;
};

/** Calls `look` with the directory of a file. Throws what `openInside` throws where it cannot be opened. */
export type Directories = {
  use<T>(source: string, path: RawPath, look: (dir: OpenDirectory) => T): T;
};

/** Not known: the entry itself is to be looked at. */
const MAYBE = () => true;

/** Opens the directory for one look. */
export const OPENED_FOR_EACH: Directories = {
  use(source, path, look) {
    const fd = opened(source, path);
    try {
      return look({ fd, hasEntry: () => MAYBE });
    } finally {
      closeSync(fd);
    }
  },
};

/** To list so many takes as long as to ask what is next to one file. */
const ENTRIES_A_LOOK = 100;
/** A larger directory is not listed. */
const ENTRIES_MAX = 2_000;

/** So many are open at a time at most, and of so many is remembered how large they are. */
const OPEN_MAX = 16;
const KNOWN_MAX = 256;

/** Keeps directories open until the turn of the event loop ends. */
export class DirectoriesOfTurn implements Directories {
  readonly #known = new Map<string, KeptDirectory>();
  readonly #open = new Set<KeptDirectory>();

  use<T>(source: string, path: RawPath, look: (dir: OpenDirectory) => T): T {
    if (this.#open.size === 0) setImmediate(() => this.#close());
    const key = `${source}\0${dirOf(path)}`;
    let kept = this.#known.get(key);
    if (!kept) this.#known.set(key, (kept = new KeptDirectory()));
    if (!this.#open.has(kept)) {
      if (this.#open.size >= OPEN_MAX) this.#close();
      kept.open(opened(source, path));
      this.#open.add(kept);
    }
    return look(kept);
  }

  #close(): void {
    for (const kept of this.#open) kept.close();
    this.#open.clear();
    if (this.#known.size > KNOWN_MAX) this.#known.clear();
  }
}

class KeptDirectory implements OpenDirectory {
  fd = -1;
  #looks = 0;
  /** As it was when it was listed last. */
  #entries = ENTRIES_A_LOOK;
  #names: ReadonlySet<string> | undefined;

  open(fd: number): void {
    this.fd = fd;
    this.#looks = 0;
  }

  close(): void {
    closeSync(this.fd);
    this.#names = undefined;
  }

  hasEntry(): (name: RawPath) => boolean {
    this.#looks += 1;
    if (!this.#names && this.#looks > this.#entries / ENTRIES_A_LOOK) {
      this.#names = namesIn(this.fd);
      this.#entries = this.#names?.size ?? Number.POSITIVE_INFINITY;
    }
    const names = this.#names;
    return names ? (name) => names.has(keyOf(name)) : MAYBE;
  }
}

function opened(source: string, path: RawPath): number {
  let root: number;
  try {
    root = openRoot(source);
  } catch (error) {
    throw fileFault(error, path);
  }
  const dir = dirOf(path);
  try {
    return descend(root, dir);
  } finally {
    if (dir !== "") closeSync(root);
  }
}

/** The same for names of which a share holds one. */
function keyOf(name: string): string {
  return name.toLowerCase();
}

/** Keys of all names; undefined where there are too many, or it cannot be listed: each is asked for then. */
function namesIn(fd: number): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  try {
    using dir = opendirSync(entryOf(fd), { encoding: "latin1", bufferSize: ENTRIES_MAX });
    for (let entry = dir.readSync(); entry; entry = dir.readSync()) {
      if (names.size === ENTRIES_MAX) return undefined;
      names.add(keyOf(entry.name));
    }
    return names;
  } catch {
    return undefined;
  }
}
