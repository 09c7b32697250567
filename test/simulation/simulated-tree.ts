import type { Seen } from "../../src/domain/document.ts";
import type { Completeness } from "../../src/formats/completeness.ts";
import type { Listing } from "../../src/source/source.ts";
import type { Clock } from "../../src/std/clock.ts";
import type { Eligibility } from "../../src/source/eligible.ts";
import { ROOT, type RawPath, dirOf, joinRaw, nameOf } from "../../src/std/raw-path.ts";
import { documentOfCompanion, markerOf } from "../../src/source/companions.ts";

/** A file as it is now. Never changed in place. */
export type SimulatedFile = {
  /** Names the bytes: two files of one content are byte for byte the same. */
  readonly content: string;
  readonly seen: Seen;
  /** False while its writer is at it. */
  readonly whole: boolean;
  readonly unreadable: boolean;
  /** It was renamed, or changed without a write, since it was last written: its change time is later than its time. */
  readonly renamed: boolean;
  /** Its bytes were written again. */
  readonly touched: boolean;
  /** When it was last written, by the monotonic clock. */
  readonly writtenAt: number;
};

/** The bytes of a file that is written. */
export type Bytes = { readonly content: string; readonly sizeBytes: number };

/** How often a content came to a path as a whole file. */
export type Appearances = ReadonlyMap<string, number>;

/**
 * The files below one source. It remembers how often each content appeared where, which is how
 * often the archive may have it at most.
 */
export class SimulatedTree {
  readonly #clock: Clock;
  /** Inode and change time cannot be trusted: stamps hold size and mtime alone. */
  readonly #network: boolean;
  readonly #files = new Map<RawPath, SimulatedFile>();
  readonly #directories = new Set<RawPath>([ROOT]);
  readonly #appearances = new Map<string, number>();
  /** How often a content was written, wherever it was moved since. */
  readonly #births = new Map<string, number>();
  /** Whole files whose marker was put next to them, as `appearance` writes them. */
  readonly #marked = new Set<string>();
  /** The same of those that were not written in place. */
  readonly #renamed = new Set<string>();
  /** When whole files were written, as `appearance` writes them; the first time. */
  readonly #writtenAt = new Map<string, number>();
  /** Whole contents that ever were at a path. */
  readonly #contents = new Map<RawPath, Set<string>>();
  readonly #changed: (path: RawPath) => void;
  readonly #eligible: Eligibility;
  readonly #eligibles = new Map<RawPath, boolean>();
  /** Files that an after-action has put aside, by the name that they had. */
  readonly #aside = new Map<RawPath, SimulatedFile>();
  /** Directories that cannot be read. */
  readonly #denied = new Set<RawPath>();
  /** Until anything changes. */
  #listings = new Map<RawPath, Listing>();
  #sorted: RawPath[] | undefined;
  #ticks = 0;
  #inodes: number;
  #lastModifiedAt = 0;

  /** `inodes`: from where on it has its own, of those of its disk. */
  constructor(
    clock: Clock,
    network: boolean,
    eligible: Eligibility,
    changed: (path: RawPath) => void,
    inodes = 0,
  ) {
    this.#clock = clock;
    this.#inodes = inodes;
    this.#eligible = eligible;
    this.#network = network;
    this.#changed = changed;
  }

  get paths(): RawPath[] {
    return [...this.#files.keys()];
  }

  get directories(): RawPath[] {
    this.#sorted ??= [...this.#directories].sort();
    return this.#sorted;
  }

  get appearances(): Appearances {
    return this.#appearances;
  }

  at(path: RawPath): SimulatedFile | undefined {
    return this.#files.get(path);
  }

  /** How often a content was written, wherever it was moved since. */
  births(content: string): number {
    return this.#births.get(content) ?? 0;
  }

  /** True when its marker stood next to this content of a file. */
  wasMarked(path: RawPath, content: string): boolean {
    return this.#marked.has(appearance(path, content));
  }

  /** True when this content of a file was renamed into its place. */
  wasRenamed(path: RawPath, content: string): boolean {
    return this.#renamed.has(appearance(path, content));
  }

  /** When this content of a file was written, by the monotonic clock; the first time. */
  writtenAt(path: RawPath, content: string): number {
    return this.#writtenAt.get(appearance(path, content)) ?? Number.NEGATIVE_INFINITY;
  }

  /** Whole contents that ever were at a path. */
  contentsAt(path: RawPath): ReadonlySet<string> {
    return this.#contents.get(path) ?? new Set();
  }

  /** False for what the mirror's rules leave out. */
  isEligible(path: RawPath): boolean {
    const known = this.#eligibles.get(path);
    if (known !== undefined) return known;
    const eligible = this.#eligible.file(path);
    this.#eligibles.set(path, eligible);
    return eligible;
  }

  /** False while a directory on the way cannot be read. */
  isOpen(dir: RawPath): boolean {
    for (const denied of this.#denied) if (isAtOrBelow(dir, denied)) return false;
    return true;
  }

  deny(dir: RawPath): void {
    this.#denied.add(dir);
  }

  allow(dir: RawPath): void {
    this.#denied.delete(dir);
  }

  /** What a file's own format says; only `.pdf` says anything. */
  completeness(path: RawPath): Completeness {
    if (this.#files.get(path)?.seen.sizeBytes === 0) return "unfinished";
    if (!path.endsWith(".pdf")) return "unknown";
    const { whole = false, content = "" } = this.#files.get(path) ?? {};
    return whole && !isLeft(path, content) ? "complete" : "unfinished";
  }

  /** Other bytes in a file, new or not. */
  write(path: RawPath, { content, sizeBytes }: Bytes, whole = true): void {
    const modifiedAt = Math.max(this.#clock.now(), this.#lastModifiedAt + 1);
    this.#lastModifiedAt = modifiedAt;
    const size = { sizeBytes, modifiedAt };
    const there = this.#files.get(path)?.seen;
    const seen = there
      ? this.#touched({ ...there, ...size })
      : this.#seen(size, (this.#inodes += 1));
    const writtenAt = this.#clock.monotonic();
    const file = { content, seen, whole, unreadable: false, renamed: false, touched: false };
    this.#put(path, { ...file, writtenAt });
    if (!whole) return;
    this.#births.set(content, this.births(content) + 1);
    this.#appear(path, content);
  }

  /** The same bytes, written again. */
  touch(path: RawPath): void {
    const file = this.#files.get(path);
    if (!file) return;
    const modifiedAt = Math.max(this.#clock.now(), this.#lastModifiedAt + 1);
    this.#lastModifiedAt = modifiedAt;
    const seen = this.#touched({ ...file.seen, modifiedAt });
    this.#put(path, { ...file, seen, renamed: false, touched: true });
    if (file.renamed) this.#disguised(file);
  }

  /** Its change time alone is another one, as when it was renamed and back. */
  setUnreadable(path: RawPath, unreadable: boolean): void {
    const file = this.#files.get(path);
    if (!file) return;
    this.#put(path, { ...file, unreadable, seen: this.#touched(file.seen), renamed: true });
  }

  remove(path: RawPath): void {
    this.#forget();
    this.#files.delete(path);
    this.#changed(path);
  }

  /** The first step of an after-action: nobody opens it by its name any more. */
  putAside(path: RawPath): void {
    const file = this.#files.get(path);
    if (!file) return;
    this.#aside.set(path, file);
    this.remove(path);
  }

  /** The last step: it goes for good. */
  dropAside(path: RawPath): void {
    this.#aside.delete(path);
  }

  /** Gives it its name back; another one where that was taken meanwhile. */
  putBack(path: RawPath): void {
    const file = this.#aside.get(path);
    if (!file) return;
    this.#aside.delete(path);
    let to = path;
    for (let number = 2; this.#files.has(to); number++) {
      to = path.replace(/(\.[^./]*)$/, `-${number}$1`) as RawPath;
    }
    this.#put(to, { ...file, seen: this.#touched(file.seen), renamed: true });
    if (to !== path) this.#appear(to, file.content);
  }

  /** What an interrupted after-action left behind. */
  recover(): void {
    for (const path of this.#aside.keys()) this.putBack(path);
  }

  /** Renames or moves a file over whatever is at `to`. */
  move(from: RawPath, to: RawPath): void {
    const file = this.#files.get(from);
    if (!file || from === to) return;
    this.#forget();
    this.#files.delete(from);
    this.#put(to, { ...file, seen: this.#touched(file.seen), renamed: true });
    if (file.whole) this.#appear(to, file.content);
    if (file.touched) this.#disguised(file);
    this.#changed(from);
  }

  /** Moves a file to another source on the same disk, over whatever is there; `isNews`: to be sent from there by right. */
  moveOut(from: RawPath, other: SimulatedTree, to: RawPath, isNews = false): void {
    const file = this.#files.get(from);
    if (!file) return;
    this.remove(from);
    if (isNews) other.#births.set(file.content, other.births(file.content) + 1);
    other.#bringIn(to, file);
  }

  #bringIn(path: RawPath, file: SimulatedFile): void {
    const inode = file.seen.stamp.split(".")[3];
    // Two of one size that were written in the same millisecond were not in the same nanosecond.
    const there = this.#files.get(path)?.seen.modifiedAt;
    const { sizeBytes, modifiedAt } = file.seen;
    const written = { sizeBytes, modifiedAt: modifiedAt + (there === modifiedAt ? 1 : 0) };
    const seen = this.#seen(written, inode === undefined ? (this.#inodes += 1) : Number(inode));
    this.#put(path, { ...file, seen, renamed: true });
    if (file.whole) this.#appear(path, file.content);
  }

  /** Moves a directory and all files below it; their own stamps stay as they are. */
  moveDirectory(from: RawPath, to: RawPath): void {
    if (this.#directories.has(to)) return;
    const { directories } = this;
    this.#forget();
    for (const dir of directories.filter((each) => isAtOrBelow(each, from))) {
      this.#directories.delete(dir);
      this.#directories.add((to + dir.slice(from.length)) as RawPath);
    }
    for (const dir of [...this.#denied].filter((each) => isAtOrBelow(each, from))) {
      this.#denied.delete(dir);
      this.#denied.add((to + dir.slice(from.length)) as RawPath);
    }
    for (const path of this.paths.filter((each) => each.startsWith(`${from}/`))) {
      const file = this.#files.get(path);
      const there = (to + path.slice(from.length)) as RawPath;
      this.#files.delete(path);
      if (!file) continue;
      this.#files.set(there, file);
      this.#remember(there, file);
      if (file.whole) this.#appear(there, file.content);
      this.#changed(path);
      this.#changed(there);
    }
  }

  /** Removes a directory and everything below it. */
  removeDirectory(dir: RawPath): void {
    for (const path of this.paths) if (path.startsWith(`${dir}/`)) this.remove(path);
    for (const each of this.directories) if (isAtOrBelow(each, dir)) this.#directories.delete(each);
    for (const each of this.#denied) if (isAtOrBelow(each, dir)) this.#denied.delete(each);
    this.#forget();
  }

  listing(dir: RawPath): Listing {
    const listing = this.#listings.get(dir) ?? this.#listed(dir);
    this.#listings.set(dir, listing);
    return listing;
  }

  #listed(dir: RawPath): Listing {
    const files = [...this.#files]
      .filter(([path]) => dirOf(path) === dir && this.isEligible(path))
      .map(([path, { seen }]) => ({ name: nameOf(path), seen }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const fingerprint = ["listed", ...files.map(({ name, seen }) => `${name}:${seen.stamp}`)].join(
      "|",
    );
    return { dir, fingerprint, files };
  }

  #forget(): void {
    this.#listings = new Map();
    this.#sorted = undefined;
  }

  #put(path: RawPath, file: SimulatedFile): void {
    this.#forget();
    for (let dir = dirOf(path); dir !== ROOT; dir = dirOf(dir)) this.#directories.add(dir);
    this.#files.set(path, file);
    this.#remember(path, file);
    this.#changed(path);
  }

  /** What is next to each other now. */
  #remember(path: RawPath, { content, whole, renamed, writtenAt }: SimulatedFile): void {
    if (!whole) return;
    const key = appearance(path, content);
    if (renamed) this.#renamed.add(key);
    this.#writtenAt.set(key, Math.min(writtenAt, this.#writtenAt.get(key) ?? writtenAt));
    this.#contents.set(path, (this.#contents.get(path) ?? new Set()).add(content));
    const document = documentOfCompanion(path, { sidecars: false, markers: true }) ?? path;
    const file = this.#files.get(document);
    if (file?.whole && this.#files.has(markerOf(document)) && isMarked(this, document))
      this.#marked.add(appearance(document, file.content));
  }

  /** With another name and time only its inode tells which file it was, which shares do not. */
  #disguised({ content }: SimulatedFile): void {
    if (this.#network) this.#births.set(content, this.births(content) + 1);
  }

  /** The same inode, of another change time. */
  #touched(seen: Seen): Seen {
    return this.#seen(seen, Number(seen.stamp.split(".")[3]));
  }

  #seen({ sizeBytes, modifiedAt }: Omit<Seen, "stamp">, inode: number): Seen {
    this.#ticks += 1;
    const local = this.#network ? "" : `.${this.#ticks}.${inode}`;
    return { sizeBytes, modifiedAt, stamp: `${sizeBytes}.${modifiedAt}${local}` };
  }

  #appear(path: RawPath, content: string): void {
    if (!this.isEligible(path)) return;
    const key = appearance(path, content);
    this.#appearances.set(key, (this.#appearances.get(key) ?? 0) + 1);
  }
}

/** The key of a content at a path. */
export function appearance(path: RawPath | string, content: string): string {
  return `${path}\0${content}`;
}

/** True when the marker of a document was put there after its last write. */
export function isMarked(tree: Pick<SimulatedTree, "at">, path: RawPath): boolean {
  const marker = tree.at(markerOf(path))?.seen.modifiedAt ?? 0;
  return marker >= (tree.at(path)?.seen.modifiedAt ?? 0);
}

/** True for a file that its writer has left half-written, by its format. */
export function isLeft(path: RawPath, content: string): boolean {
  return path.endsWith(".pdf") && content.startsWith("left");
}

/** Stands for the SHA-256 of a content; hexadecimal, as that is. */
export function digestOf(content: string): string {
  return Buffer.from(content).toString("hex");
}

/** The content of such a digest. */
export function contentOf(digest: string): string {
  return Buffer.from(digest, "hex").toString();
}

/** The path of a name in a directory. */
export function pathIn(dir: string, name: string): RawPath {
  return joinRaw(dir as RawPath, name as RawPath);
}

function isAtOrBelow(dir: RawPath, top: RawPath): boolean {
  return dir === top || dir.startsWith(`${top}/`);
}
