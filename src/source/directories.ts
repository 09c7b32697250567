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

/** From this look on one listing is quicker than to ask for names, unless there are more entries. */
const LISTED_FROM = 2;
const ENTRIES_MAX = 1_000;

/** Keeps the last directory open until the turn of the event loop ends. */
export class DirectoriesOfTurn implements Directories {
  #last: KeptDirectory | undefined;

  use<T>(source: string, path: RawPath, look: (dir: OpenDirectory) => T): T {
    const dir = dirOf(path);
    if (!this.#last?.isOpen) setImmediate(() => this.#last?.close());
    if (!this.#last?.isOf(source, dir)) {
      this.#last?.close();
      this.#last = new KeptDirectory(source, dir);
    }
    return look(this.#last.open(path));
  }
}

class KeptDirectory {
  readonly #source: string;
  readonly #dir: RawPath;
  #fd: number | undefined;
  #looks = 0;
  #names: ReadonlySet<string> | undefined;
  #isLarge = false;

  constructor(source: string, dir: RawPath) {
    this.#source = source;
    this.#dir = dir;
  }

  get isOpen(): boolean {
    return this.#fd !== undefined;
  }

  isOf(source: string, dir: RawPath): boolean {
    return this.#dir === dir && this.#source === source;
  }

  open(path: RawPath): OpenDirectory {
    const fd = (this.#fd ??= opened(this.#source, path));
    return { fd, hasEntry: () => this.#hasEntry(fd) };
  }

  #hasEntry(fd: number): (name: RawPath) => boolean {
    this.#looks += 1;
    if (this.#looks === LISTED_FROM && !this.#isLarge) {
      this.#names = namesIn(fd);
      this.#isLarge = this.#names === undefined;
    }
    const names = this.#names;
    return names ? (name) => names.has(keyOf(name)) : MAYBE;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#names = undefined;
    this.#looks = 0;
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
