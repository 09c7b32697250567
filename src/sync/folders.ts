/**
 * Archive folders by path. The interface can neither create a folder nor look one up by path, so
 * the tree is read level by level with paged lists and remembered until `forget`.
 */
import type { Archive } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import { allFolders } from "../archive/paging.ts";
import type { Problem } from "../domain/document.ts";
import { walkOf } from "../domain/naming.ts";
import type { Clock } from "../std/clock.ts";
import { type FolderDetail, LIMITS } from "../wire/shapes.ts";
import { FOLDER_CODES } from "../domain/code-sets.ts";
import type { LiveMirror } from "./context.ts";

/** Where a folder path leads. */
export type Resolved =
  | { readonly kind: "found"; readonly folderId: number }
  | {
      readonly kind: "unusable";
      readonly problem: Problem;
      /** The deepest folder on the way that is there. */
      readonly nearestId: number | null;
    };

/** The folders in a folder, by their names in composed form, and when they were read, by the monotonic clock. */
type Level = { readonly at: number; readonly named: ReadonlyMap<string, readonly FolderDetail[]> };

/** A folder on the way, and when it was read to be there. */
type Step = { readonly folder: FolderDetail; readonly at: number };

/**
 * What is remembered is not relied upon for longer: a folder may have been renamed, and another made under its
 * name; and what is missing, another daemon may know better.
 */
const STALE_MS = 10_000;

export class Folders {
  readonly #archive: Archive;
  readonly #clock: Pick<Clock, "monotonic"> | undefined;
  readonly #isShared: boolean;
  /** When everything was last forgotten, by the monotonic clock. */
  #forgottenAt = Number.NEGATIVE_INFINITY;
  #levels = new Map<number, Promise<Level>>();
  #starts = new Map<number | null, Promise<number>>();
  /** Folders that were asked for since they were read: when, and whether they are as they were read. */
  #confirmed = new Map<number, { readonly at: number; readonly isSo: Promise<boolean> }>();

  /**
   * With a clock, a folder that was read a while ago is confirmed before it is used again. `isShared`: so is
   * what is unusable: where several daemons share a journal, another one may have found it and let its
   * documents go on.
   */
  constructor(archive: Archive, clock?: Pick<Clock, "monotonic">, isShared = false) {
    this.#archive = archive;
    this.#clock = clock;
    this.#isShared = isShared;
  }

  /** Everything is looked up again from now on. */
  forget(): void {
    this.#forgottenAt = this.#now();
    this.#levels = new Map();
    this.#confirmed = new Map();
    this.#starts = new Map();
  }

  /**
   * Walks down to `targetPath` (`/a/b`, or `#17/b`). Twins and names that differ in case only are
   * reported, never guessed. `usesNearest`: the deepest folder that is there will be sent to. Rejects with
   * `ArchiveError` when the archive cannot be asked.
   */
  async resolve(targetPath: string, signal: AbortSignal, usesNearest = false): Promise<Resolved> {
    const begunAt = this.#now();
    for (let isAgain = false; ; ) {
      const levels = this.#levels;
      try {
        const { way, ...resolved } = await this.#walk(targetPath, signal);
        const isConfirmed =
          isAgain ||
          (resolved.kind !== "found" && !usesNearest) ||
          (await this.#isStill(way, signal));
        const isSo =
          isConfirmed &&
          (resolved.kind === "found" || (levels === this.#levels && !this.#isStale(begunAt)));
        if (isSo) return resolved;
      } catch (error) {
        if (!isMissing(error)) throw error;
        if (isAgain && levels === this.#levels) return deniedAt(targetPath);
      }
      // A folder on the way was removed or made since its parent was read: what is remembered is not true. Of those
      // who ask at the same time one forgets it, and by that the others know.
      if (levels !== this.#levels) continue;
      this.forget();
      isAgain = true;
    }
  }

  /** Whether what was remembered at this moment is too old; what was read since is not, however long that took. */
  #isStale(at: number): boolean {
    return this.#isShared && at - this.#forgottenAt > STALE_MS;
  }

  #now(): number {
    return this.#clock?.monotonic() ?? 0;
  }

  /** Whether every folder on the way is where it was read to be; each is asked about once in a while, anyone who asks. */
  async #isStill(way: readonly Step[], signal: AbortSignal): Promise<boolean> {
    if (!this.#clock) return true;
    const asked = await Promise.all(way.map((step) => this.#confirm(step, signal)));
    return asked.every(Boolean);
  }

  #confirm({ folder: { id, name, parentId }, at }: Step, signal: AbortSignal): Promise<boolean> {
    const asking = this.#now();
    if (asking - at <= STALE_MS) return Promise.resolve(true);
    const last = this.#confirmed.get(id);
    if (last && asking - last.at <= STALE_MS) return last.isSo;
    const isSo = this.#archive.folder(id, signal).then((now) => {
      const isIn = (now.parentId ?? parentId) === (parentId ?? now.parentId);
      return isIn && now.name.normalize("NFC") === name.normalize("NFC");
    });
    const asked = { at: asking, isSo };
    this.#confirmed.set(id, asked);
    isSo.catch(() => {
      if (this.#confirmed.get(id) === asked) this.#confirmed.delete(id);
    });
    return isSo;
  }

  async #walk(
    targetPath: string,
    signal: AbortSignal,
  ): Promise<Resolved & { readonly way: readonly Step[] }> {
    const { fromId, names } = walkOf(targetPath);
    const way: Step[] = [];
    let at: number;
    try {
      at = await this.#start(fromId, signal);
    } catch (error) {
      if (!isMissing(error)) throw error;
      const message = `the archive has no folder with id ${fromId}`;
      const problem = { code: "FOLDER_MISSING", message };
      return { kind: "unusable", problem, nearestId: null, way };
    }
    for (const name of names) {
      const level = await this.#levelOf(at, signal);
      const found = match(level.named, name);
      if ("problem" in found) {
        const { code, message } = found.problem;
        const problem = { code, message: `archive folder ${targetPath}: ${message}` };
        return { kind: "unusable", problem, nearestId: at, way };
      }
      way.push({ folder: found, at: level.at });
      at = found.id;
    }
    return { kind: "found", folderId: at, way };
  }

  #start(fromId: number | null, signal: AbortSignal): Promise<number> {
    return remembered(this.#starts, fromId, async () => {
      return (await this.#archive.folder(fromId ?? undefined, signal)).id;
    });
  }

  #levelOf(folderId: number, signal: AbortSignal): Promise<Level> {
    return remembered(this.#levels, folderId, async () => {
      const at = this.#now();
      const query = { folderId, paginationSize: LIMITS.paginationSize.folders };
      const folders = await Array.fromAsync(allFolders(this.#archive, query, signal));
      return { at, named: Map.groupBy(folders, ({ name }) => name.normalize("NFC")) };
    });
  }
}

function deniedAt(targetPath: string): Resolved {
  const message = `archive folder ${targetPath}: the archive denies a folder that it lists`;
  return { kind: "unusable", problem: { code: "FOLDER_MISSING", message }, nearestId: null };
}

function isMissing(error: unknown): boolean {
  return error instanceof ArchiveError && error.code === "FOLDER_NOT_EXISTS";
}

/** One look-up for all who ask at the same time; a failed one is not remembered. */
function remembered<K, V>(map: Map<K, Promise<V>>, key: K, look: () => Promise<V>): Promise<V> {
  const known = map.get(key);
  if (known) return known;
  const looking = look();
  map.set(key, looking);
  looking.catch(() => {
    if (map.get(key) === looking) map.delete(key);
  });
  return looking;
}

/** The one child of this name, or why there is none that can be used. */
function match(level: Level["named"], name: string): FolderDetail | { problem: Problem } {
  const wanted = name.normalize("NFC");
  const same = level.get(wanted) ?? [];
  const [only] = same;
  if (only && same.length === 1) return only;
  if (same.length > 1) {
    const ids = same.map(({ id }) => id).join(", ");
    return {
      problem: {
        code: "FOLDER_TWINS",
        message: `${same.length} folders are named ${name} (ids ${ids})`,
      },
    };
  }
  const folded = wanted.toLowerCase();
  const [alike] =
    level.entries().find(([composed]) => composed.toLowerCase() === folded)?.[1] ?? [];
  if (alike) {
    return {
      problem: {
        code: "FOLDER_CASE",
        message: `${name} is not there, but ${alike.name} (id ${alike.id}) is`,
      },
    };
  }
  return { problem: { code: "FOLDER_MISSING", message: `${name} does not exist` } };
}

/** Where a document goes: its own folder, or what `missingFolder` says where that is not there. */
export class Placement {
  readonly #folders: Folders;

  constructor(folders: Folders) {
    this.#folders = folders;
  }

  /** Rejects with `ArchiveError` when the archive cannot be asked. */
  async of(
    targetPath: string,
    mirror: { readonly settings: Pick<LiveMirror["settings"], "missingFolder"> },
    signal: AbortSignal,
  ): Promise<{ folderId: number } | { problem: Problem }> {
    const policy = mirror.settings.missingFolder;
    const wanted = await this.#folders.resolve(targetPath, signal, policy.kind === "nearest");
    if (wanted.kind === "found") return wanted;
    // Twins and spellings are for a person to sort out; only what is missing has a substitute.
    if (wanted.problem.code !== "FOLDER_MISSING") return wanted;
    switch (policy.kind) {
      case "hold":
        return wanted;
      case "nearest":
        return wanted.nearestId === null ? wanted : { folderId: wanted.nearestId };
      case "fallback": {
        const fallback = await this.#folders.resolve(policy.path, signal);
        if (fallback.kind === "found") return fallback;
        const message = `${wanted.problem.message}, nor its fallback ${policy.path}`;
        return { problem: { code: fallback.problem.code, message } };
      }
    }
  }

  /** The archive refused a folder we knew: what is remembered of the tree is no longer true. */
  doubted(code: string): void {
    if (FOLDER_CODES.includes(code)) this.#folders.forget();
  }
}
