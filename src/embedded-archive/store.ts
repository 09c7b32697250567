import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { invariant } from "../std/fault.ts";
import { Statements } from "../sqlite/statements.ts";
import { Blobs } from "./blobs.ts";
import { makePrivate } from "./privacy.ts";
import type { Dated } from "./authentication.ts";
import type { AccountOption } from "./archive-options.ts";
import { type StoredDocument, storedDocumentOf, type StoredDocumentRow } from "./document-row.ts";
import { DocumentTable, type ReceivedDocument } from "./document-table.ts";
import { type FolderDescription, FolderTable } from "./folder-table.ts";
import { NoticeTable } from "./notice-table.ts";
import { folderPath, type ParameterValues } from "./parameters.ts";
import { unusable } from "./refusal.ts";
import { lockDirectory, openDatabase } from "./store-schema.ts";
import { search, type SearchResult } from "./search-rows.ts";

/** One row of the table `account`. */
type AccountRow = { id: number; key: string; pages_used: number; allowance: number | null };

/** An account that may sign requests, with its place in the store. */
export type Account = AccountOption & { id: number; rootId: number };

/**
 * The store and the blobs that its commits wait for, closed with `opened`. Nothing is swept away or fixed yet. A
 * Fault with EMBEDDED_ARCHIVE_IN_USE or EMBEDDED_ARCHIVE_TOO_NEW says why they cannot be opened.
 */
export async function openStorage(dataDir: string, opened: AsyncDisposableStack) {
  makePrivate(dataDir);
  const blobs = await Blobs.open(dataDir);
  opened.defer(() => blobs.close());
  opened.adopt(lockDirectory(join(dataDir, "lock.db")), (lock) => void lock.close());
  const db = opened.adopt(openDatabase(join(dataDir, "archive.db")), (it) => void it.close());
  return { store: new Store(db, () => blobs.settle()), blobs };
}

/**
 * All that the archive knows, in one SQLite database. What `add` returns is on the disk: WAL with
 * synchronous=FULL.
 */
export class Store {
  readonly folders: FolderTable;
  readonly documents: DocumentTable;
  readonly notices: NoticeTable;
  readonly #db: Database;
  readonly #sql: Statements;
  readonly #group: CommitGroup;

  /** `beforeCommit` is done ahead of each commit of uploads. */
  constructor(db: Database, beforeCommit: () => Promise<void>) {
    this.#db = db;
    this.#sql = new Statements(db);
    this.#group = new CommitGroup(db, beforeCommit);
    this.folders = new FolderTable(this.#sql);
    this.documents = new DocumentTable(this.#sql);
    this.notices = new NoticeTable(this.#sql);
  }

  /** The account with its root folder, made if missing. */
  account(option: AccountOption, now: number): Account {
    return this.inOneTransaction(() => {
      this.#sql.of("INSERT INTO account (key) VALUES (?) ON CONFLICT DO NOTHING").run(option.key);
      const { id } = this.#row(option.key);
      return { ...option, id, rootId: this.folders.root(id, now) };
    });
  }

  /** Every account that the store knows, oldest first, whether or not it may sign now. */
  accounts(): AccountRow[] {
    return this.#sql.of<AccountRow>("SELECT * FROM account ORDER BY id").all();
  }

  /** Pages charged to the account so far. */
  pagesUsed(accountId: number): number {
    return this.#row(accountId).pages_used;
  }

  /** Pages allowed: what was set by hand, else `byOptions`; undefined: unlimited. */
  quotaOf(accountId: number, byOptions: number | undefined): number | undefined {
    const pages = this.#row(accountId).allowance ?? byOptions;
    return pages === -1 ? undefined : pages;
  }

  /** Sets them by hand, now and for later runs; undefined: unlimited, `default`: the options say again. */
  setQuota(accountId: number, pages: number | "default" | undefined): void {
    const stored = pages === "default" ? null : (pages ?? -1);
    this.#sql.of("UPDATE account SET allowance = ? WHERE id = ?").run(stored, accountId);
  }

  /** Accounts whose pages are not the sum of what their documents were charged. */
  wrongCharges(): { key: string; pages_used: number; charged: number }[] {
    return this.#sql
      .of<{ key: string; pages_used: number; charged: number }>(
        `SELECT key, pages_used, coalesce(sum(pages_charged), 0) AS charged
         FROM account LEFT JOIN document ON document.account_id = account.id
         GROUP BY account.id HAVING pages_used <> charged`,
      )
      .all();
  }

  /**
   * Makes `/A/B` and all above it, and sets what it says of its own; returns its id, the old one where it exists.
   * Throws EMBEDDED_ARCHIVE_OPTIONS.
   */
  makeFolder(accountId: number, path: string, now: number, said: FolderDescription = {}): number {
    if (!folderPath.safeParse(path).success)
      throw unusable(
        `${JSON.stringify(path)} is not a folder's path`,
        "Write it as /A/B: a slash before every name, no empty names.",
      );
    return this.inOneTransaction(() => {
      const id = this.folders.make(accountId, path, now);
      this.folders.describe(id, said);
      return id;
    });
  }

  /**
   * Adds an uploaded document, unless its pages are more than what is left of `quotaPages`:
   * then undefined. Counting and adding are one step, so uploads side by side cannot overdraw
   * the allowance. `place` gives the bytes their place once the row is committed.
   */
  async add(
    given: ReceivedDocument,
    quotaPages: number | undefined,
    place: () => void,
  ): Promise<StoredDocumentRow | undefined> {
    const add = () => {
      const left = (quotaPages ?? Infinity) - this.pagesUsed(given.account_id);
      return given.pages_charged > left ? undefined : this.documents.add(given);
    };
    return this.#group.run(add, (row) => row && place());
  }

  /**
   * Whether a signature was never accepted before; from now on it was, over a crash, too, until it is too old by
   * itself.
   */
  async isFirst({ signature, until }: Dated, now: number): Promise<boolean> {
    return this.#group.run(() => {
      this.#sql.of("DELETE FROM accepted_signature WHERE until < ?").run(now);
      const { changes } = this.#sql
        .of("INSERT INTO accepted_signature VALUES (?, ?) ON CONFLICT DO NOTHING")
        .run(signature, until);
      return changes === 1;
    });
  }

  /** What SQLite says of the database's own health; empty: all is well. */
  damage(): string[] {
    const found = this.#db.pragma("quick_check(10)") as { quick_check: string }[];
    return found.map((row) => row.quick_check).filter((line) => line !== "ok");
  }

  /** Among what was uploaded before `before`, epoch ms; Infinity: among all there is. */
  search(accountId: number, asked: ParameterValues<"search">, before: number): SearchResult {
    // A cache of its own: the texts of its statements are as many as there are searches.
    return search(new Statements(this.#db), accountId, asked, before);
  }

  /** What the account has stored, oldest first: of ids above `after`, `limit` of them or all. */
  *audit(accountId: number, after?: number, limit?: number): Generator<StoredDocument> {
    const paths = new Map(this.folders.tree(accountId).map(({ id, path }) => [id, path]));
    for (const row of this.documents.uploaded(accountId, after, limit))
      yield storedDocumentOf(row, paths.get(row.folder_id) ?? "");
  }

  /** All of `work`'s changes, or none; one commit for many. */
  inOneTransaction<T>(work: () => T): T {
    return this.#db.transaction(work)();
  }

  /**
   * A transaction that is kept over a crash of the program, but does not wait for the disk: for what a power cut may
   * take back. A conversion is made again then, and a thousand of them do not slow the uploads.
   */
  unhurried(work: () => void): void {
    this.#db.pragma("synchronous = NORMAL");
    try {
      this.#db.transaction(work)();
    } finally {
      this.#db.pragma("synchronous = FULL");
    }
  }

  #row(idOrKey: number | string): AccountRow {
    const row = this.accounts().find(({ id, key }) => idOrKey === id || idOrKey === key);
    invariant(row, `there is no account ${idOrKey}`);
    return row;
  }
}

/** `work` returns what is to be done once it is committed. */
type Waiting = { work: () => () => void; reject: (error: unknown) => void };

/**
 * Commits together what comes at about the same time. A commit waits for the disk and lets nothing
 * else run meanwhile, so one for each of many uploads side by side would be most of their cost.
 */
export class CommitGroup {
  readonly #db: Database;
  readonly #before: () => Promise<void>;
  #waiting: Waiting[] = [];
  #isCommitting = false;

  /** @param before done once for each group, ahead of its commit: what the rows rest on */
  constructor(db: Database, before: () => Promise<void> = () => Promise.resolve()) {
    this.#db = db;
    this.#before = before;
  }

  /**
   * Resolves with what `run` returns once that is on the disk. Works run in the order of calls, inside the
   * transaction, each in a savepoint of its own; `after` follows in the same turn of the event loop as the commit:
   * nobody sees the one without the other.
   */
  run<T>(run: () => T, after?: (result: T) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const inSavepoint = this.#db.transaction(run);
    const work = () => {
      const result = inSavepoint();
      return () => {
        after?.(result);
        resolve(result);
      };
    };
    this.#waiting.push({ work, reject });
    // Everything that the current turn of the event loop still brings joins the group.
    if (!this.#isCommitting) setImmediate(() => void this.#commitAll());
    this.#isCommitting = true;
    return promise;
  }

  /** What comes while one group waits for the disk is the next one. Never rejects. */
  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#before();
        this.#commit(group);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#isCommitting = false;
  }

  #commit(group: readonly Waiting[]): void {
    // One that fails takes none of the others along.
    const done = this.#db.transaction(() =>
      group.map(({ work, reject }) => ({ finish: attempt(work, reject), reject })),
    )();
    for (const { finish, reject } of done) attempt(() => finish?.(), reject);
  }
}

function attempt<T>(work: () => T, reject: (error: unknown) => void): T | undefined {
  try {
    return work();
  } catch (error) {
    reject(error);
    return undefined;
  }
}
