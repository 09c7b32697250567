import type { FolderDetail } from "../../src/wire/shapes.ts";

/** Where a path leads, as a person who looks at the archive would say. */
export type Whereto = { readonly id: number } | "missing" | "twins" | "case";

/** The folders of an archive: names may stand twice, be spelt anew, and go. */
export class SimulatedFolders {
  readonly #folders = new Map<number, FolderDetail>();
  /** The paths that they were made at, in small letters. */
  readonly #paths = new Map<number, string>();
  /** The names that they were made with. */
  readonly #names = new Map<number, string>();
  readonly #newId: () => number;

  constructor(newId: () => number) {
    this.#newId = newId;
    this.#folders.set(1, { id: 1, name: "", createdDate: 0, root: true });
    this.#paths.set(1, "/");
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

  /** Another folder of the same name beside one. */
  twin(path: string): void {
    const id = this.usable(path);
    const folder = id === undefined ? undefined : this.#folders.get(id);
    if (folder?.parentId !== undefined) this.#make(folder.parentId, folder.name);
  }

  /** Somebody spells a folder's name in capitals. */
  respell(path: string): void {
    const id = this.usable(path);
    const folder = id === undefined ? undefined : this.#folders.get(id);
    if (!folder || folder.root) return;
    this.#folders.set(folder.id, { ...folder, name: folder.name.toUpperCase() });
  }

  /** Somebody spells all names as they were, and gives twins names of their own. */
  tidy(): void {
    const seen = new Set<string>();
    for (const folder of this.#folders.values()) {
      const name = this.#names.get(folder.id) ?? folder.name;
      const key = `${folder.parentId}/${name}`;
      const own = seen.has(key) ? `${name} ${folder.id}` : name;
      seen.add(key);
      this.#folders.set(folder.id, { ...folder, name: own });
    }
  }

  /** A folder goes, with everything below it; their ids are returned. */
  remove(id: number): number[] {
    if (id === 1 || !this.#folders.delete(id)) return [];
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

  /** True when a folder was made at this path. */
  hadPath(id: number, path: string): boolean {
    return this.#paths.get(id) === (path === "" ? "/" : path).toLowerCase();
  }

  #make(parentId: number, name: string): number {
    const id = this.#newId();
    this.#folders.set(id, { id, parentId, name, createdDate: 0, root: false });
    this.#names.set(id, name);
    this.#paths.set(id, this.#pathOf(id).toLowerCase());
    return id;
  }

  #pathOf(id: number): string {
    const folder = this.#folders.get(id);
    if (folder?.parentId === undefined) return "";
    return `${this.#pathOf(folder.parentId)}/${folder.name}`;
  }
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}
