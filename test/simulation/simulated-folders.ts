import type { FolderDetail } from "../../src/wire/shapes.ts";

/** Where a path leads, as a person who looks at the archive would say. */
export type Whereto = { readonly id: number } | "missing" | "twins" | "case";

/** The folders of an archive: names may stand twice, be spelt again, and go. */
export class SimulatedFolders {
  readonly #folders = new Map<number, FolderDetail>();
  /** Paths that they do not have any more, in small letters, and since when. */
  readonly #former: { readonly id: number; readonly path: string; readonly until: number }[] = [];
  /** The names that they were made with. */
  readonly #names = new Map<number, string>();
  readonly #newId: () => number;
  readonly #now: () => number;

  /** `now`: by the monotonic clock. */
  constructor(newId: () => number, now: () => number) {
    this.#newId = newId;
    this.#now = now;
    this.#folders.set(1, { id: 1, name: "", createdDate: 0, root: true });
  }

  get(id: number): FolderDetail | undefined {
    return this.#folders.get(id);
  }

  childrenOf(parentId: number): FolderDetail[] {
    return [...this.#folders.values()].filter((each) => each.parentId === parentId);
  }

  /** Makes the folder of a path, and those above it, where they are missing. */
  add(path: string): number {
    let at = 1;
    for (const name of partsOf(path)) {
      const same = this.childrenOf(at).find((each) => each.name === name);
      at = same?.id ?? this.#make(at, name);
    }
    return at;
  }

  /** Another folder of the same name next to one. */
  twin(path: string): void {
    const id = this.usable(path);
    const folder = id === undefined ? undefined : this.#folders.get(id);
    if (folder?.parentId !== undefined) this.#make(folder.parentId, folder.name);
  }

  /** Someone spells a folder's name in capitals. */
  respell(path: string): void {
    const id = this.usable(path);
    const folder = id === undefined ? undefined : this.#folders.get(id);
    if (!folder || folder.root) return;
    this.#folders.set(folder.id, { ...folder, name: folder.name.toUpperCase() });
  }

  /** Someone gives a folder another name, which nobody changes back. */
  rename(path: string, name: string): void {
    const id = this.usable(path);
    const folder = id === undefined ? undefined : this.#folders.get(id);
    if (!folder || folder.root) return;
    this.#leave(folder.id);
    this.#folders.set(folder.id, { ...folder, name });
    this.#names.set(folder.id, name);
  }

  /** Someone spells all names as they were, and gives twins names of their own. */
  tidy(): void {
    const seen = new Set<string>();
    for (const folder of this.#folders.values()) {
      const name = this.#names.get(folder.id) ?? folder.name;
      const key = `${folder.parentId}/${name}`;
      const own = seen.has(key) ? `${name} ${folder.id}` : name;
      seen.add(key);
      if (own.toLowerCase() !== folder.name.toLowerCase()) this.#leave(folder.id);
      this.#folders.set(folder.id, { ...folder, name: own });
    }
  }

  /** A folder goes, with everything below it; their ids are returned. */
  remove(id: number): number[] {
    if (id === 1 || !this.#folders.has(id)) return [];
    this.#former.push({ id, path: this.pathOf(id), until: this.#now() });
    this.#folders.delete(id);
    return [id, ...this.childrenOf(id).flatMap((child) => this.remove(child.id))];
  }

  resolve(path: string): Whereto {
    let at = 1;
    for (const name of partsOf(path)) {
      const children = this.childrenOf(at);
      const same = children.filter((each) => each.name === name);
      const [only] = same;
      if (same.length > 1) return "twins";
      const folded = name.toLowerCase();
      if (!only)
        return children.some((each) => each.name.toLowerCase() === folded) ? "case" : "missing";
      at = only.id;
    }
    return { id: at };
  }

  /** The one folder that a path names. */
  usable(path: string): number | undefined {
    const whereto = this.resolve(path);
    return typeof whereto === "string" ? undefined : whereto.id;
  }

  /** Paths that a folder has, or had since then, in small letters. */
  pathsSince(id: number, since: number): string[] {
    const former = this.#former.filter((each) => each.id === id && each.until >= since);
    const now = this.#folders.has(id) ? [this.pathOf(id)] : [];
    return [...now, ...former.map(({ path }) => path)];
  }

  /** Where a folder is, in small letters; "" for the root. */
  pathOf(id: number): string {
    const folder = this.#folders.get(id);
    if (folder?.parentId === undefined) return "";
    return `${this.pathOf(folder.parentId)}/${folder.name.toLowerCase()}`;
  }

  /** A folder, and all below it, will not be where they are. */
  #leave(id: number): void {
    this.#former.push({ id, path: this.pathOf(id), until: this.#now() });
    for (const child of this.childrenOf(id)) this.#leave(child.id);
  }

  #make(parentId: number, name: string): number {
    const id = this.#newId();
    this.#folders.set(id, { id, parentId, name, createdDate: 0, root: false });
    this.#names.set(id, name);
    return id;
  }
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}
