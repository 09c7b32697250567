import { z } from "zod";
import type { Folder, FolderDetail, FolderSort } from "../wire/shapes.ts";
import type { Statements } from "../sqlite/statements.ts";
import { orderBy, select, type Slice, type Sliced } from "./slice.ts";

/** One row of the table `folder`; the root of an account has no parent. */
export type FolderRow = {
  id: number;
  account_id: number;
  parent_id: number | null;
  name: string;
  created_at: number;
  folder_index: string;
  description: string;
  keywords: string;
  expire_at: number | null;
};

const text = z.string().optional();

/** What a folder says of its own in addition to its name. */
export const FOLDER_DESCRIPTION = {
  index: text,
  description: text,
  keywords: text,
  /** Epoch milliseconds; null: none. */
  expireDate: z.int().nullable().optional(),
};
export type FolderDescription = z.output<z.ZodObject<typeof FOLDER_DESCRIPTION>>;

/** How each is set. An expiry date that is given, be it the same one, is noticed again. */
const SETTING: Record<keyof FolderDescription, string> = {
  index: "folder_index = ?",
  description: "description = ?",
  keywords: "keywords = ?",
  expireDate: "expiry_noticed = 0, expire_at = ?",
};

/** The name under which the root shows itself; the interface gives none. */
const ROOT_NAME = "/";

const ORDER: Record<FolderSort, string> = {
  NAME: "fold(name)",
  CREATED_DATE: "created_at",
};

/** The folders of all accounts. */
export class FolderTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** The root of an account's tree, made if missing. */
  root(accountId: number, now: number): number {
    const found = this.#sql
      .of<{ id: number }>("SELECT id FROM folder WHERE account_id = ? AND parent_id IS NULL")
      .get(accountId);
    return found?.id ?? this.#add(accountId, null, ROOT_NAME, now);
  }

  /** The folder at `/A/B`; undefined when there is none. */
  at(rootId: number, path: string): number | undefined {
    let id: number | undefined = rootId;
    for (const name of namesOf(path)) id &&= this.#child(id, name);
    return id;
  }

  /** The folder at `/A/B`, with all that is missing on the way made. */
  make(accountId: number, path: string, now: number): number {
    let id = this.root(accountId, now);
    for (const name of namesOf(path))
      id = this.#child(id, name) ?? this.#add(accountId, id, name, now);
    return id;
  }

  /** The account's folder with this id; another account's does not exist. */
  find(accountId: number, id: number): FolderRow | undefined {
    const row = this.byId(id);
    return row?.account_id === accountId ? row : undefined;
  }

  /** The folder with this id, of whatever account. */
  byId(id: number): FolderRow | undefined {
    return this.#sql.of<FolderRow>("SELECT * FROM folder WHERE id = ?").get(id);
  }

  /** `/A/B`; `/` for a root. */
  pathOf(id: number): string {
    const names: string[] = [];
    let row = this.byId(id);
    while (row && row.parent_id !== null) {
      names.unshift(row.name);
      row = this.byId(row.parent_id);
    }
    return `/${names.join("/")}`;
  }

  /** One slice of the folders directly below `parentId`, and how many there are in all. */
  below(parentId: number, sort: FolderSort, slice: Slice): Sliced<FolderRow> {
    const order = orderBy(ORDER[sort], slice);
    return select(this.#sql, "FROM folder WHERE parent_id = ?", [parentId], order, slice);
  }

  /** Every folder of the account with its path, parents first. */
  tree(accountId: number): { id: number; path: string; depth: number }[] {
    return this.#sql
      .of<{ id: number; path: string; depth: number }>(
        `WITH RECURSIVE tree (id, path, depth) AS (
           SELECT id, '', 0 FROM folder WHERE account_id = ? AND parent_id IS NULL
           UNION ALL
           SELECT folder.id, tree.path || '/' || folder.name, depth + 1
           FROM folder JOIN tree ON folder.parent_id = tree.id)
         SELECT id, iif(path = '', '/', path) AS path, depth FROM tree
         ORDER BY replace(path, '/', char(1))`,
      )
      .all(accountId);
  }

  /** What is not given stays. */
  describe(id: number, given: FolderDescription): void {
    for (const name of Object.keys(SETTING) as (keyof FolderDescription)[]) {
      const value = given[name];
      if (value === undefined) continue;
      this.#sql.of(`UPDATE folder SET ${SETTING[name]} WHERE id = ?`).run(value, id);
    }
  }

  #child(parentId: number, name: string): number | undefined {
    return this.#sql
      .of<{ id: number }>("SELECT id FROM folder WHERE parent_id = ? AND name = ?")
      .get(parentId, name)?.id;
  }

  #add(accountId: number, parentId: number | null, name: string, now: number): number {
    const { lastInsertRowid } = this.#sql
      .of("INSERT INTO folder (account_id, parent_id, name, created_at) VALUES (?, ?, ?, ?)")
      .run(accountId, parentId, name, now);
    return Number(lastInsertRowid);
  }
}

/** Section Resources, FolderDetail. */
export function folderDetailOf(row: FolderRow): FolderDetail {
  const { id, parent_id, name, created_at } = row;
  const root = parent_id === null;
  return { id, ...(root ? {} : { parentId: parent_id }), name, createdDate: created_at, root };
}

/** Section Resources, Folder. What month and year mean is open: here, those of the creation (UTC). */
export function folderOf(row: FolderRow): Folder {
  const created = new Date(row.created_at);
  return {
    ...folderDetailOf(row),
    index: row.folder_index,
    month: created.getUTCMonth() + 1,
    year: created.getUTCFullYear(),
    description: row.description,
    keywords: row.keywords,
    ...(row.expire_at === null ? {} : { expireDate: row.expire_at }),
  };
}

/** The names along a path, top first; none for the root. */
function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}
