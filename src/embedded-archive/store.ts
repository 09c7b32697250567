import { join } from "node:path";
import type { AccountOption } from "./options.ts";
import { type DocumentRow, type StoredDocument, storedDocumentOf } from "./document-row.ts";
import { type Converted, DocumentTable, type NewDocument } from "./document-table.ts";
import { FolderTable } from "./folder-table.ts";
import type { Values } from "./parameters.ts";
import { CommitGroup } from "./commit-group.ts";
import { type Connection, lockDirectory, openDatabase } from "./schema.ts";
import { type Found, search } from "./search.ts";
import { Statements } from "./statements.ts";

/** An account that may sign requests, with its place in the store. */
export type Account = AccountOption & { id: number; rootId: number };

/**
 * All that the archive knows, in one SQLite database. What `add` returns is on the disk: WAL with
 * synchronous=FULL.
 */
export class Store {
  readonly folders: FolderTable;
  readonly documents: DocumentTable;
  readonly #db: Connection;
  readonly #lock: Connection;
  readonly #sql: Statements;
  readonly #group: CommitGroup;

  private constructor(db: Connection, lock: Connection) {
    this.#db = db;
    this.#lock = lock;
    this.#sql = new Statements(db);
    this.#group = new CommitGroup(db);
    this.folders = new FolderTable(db);
    this.documents = new DocumentTable(db);
  }

  /** A Fault with EMBEDDED_ARCHIVE_IN_USE or EMBEDDED_ARCHIVE_TOO_NEW says why it cannot be opened. */
  static open(dataDir: string): Store {
    const lock = lockDirectory(join(dataDir, "lock.db"));
    try {
      return new Store(openDatabase(join(dataDir, "archive.db")), lock);
    } catch (error) {
      lock.close();
      throw error;
    }
  }

  /** The account with its root folder, made if missing. */
  account(option: AccountOption, now: number): Account {
    return this.#db.transaction(() => {
      this.#db
        .prepare("INSERT INTO account (key) VALUES (?) ON CONFLICT DO NOTHING")
        .run(option.key);
      const row = this.#db
        .prepare<[string], { id: number }>("SELECT id FROM account WHERE key = ?")
        .get(option.key);
      if (!row) throw new Error("the account that was just added is not there");
      return { ...option, id: row.id, rootId: this.folders.root(row.id, now) };
    })();
  }

  /** Pages charged to the account so far. */
  pagesUsed(accountId: number): number {
    return (
      this.#sql
        .prepare<[number], { pages_used: number }>("SELECT pages_used FROM account WHERE id = ?")
        .get(accountId)?.pages_used ?? 0
    );
  }

  /** Makes the folder at `/A/B` and all above it; returns its id. */
  makeFolder(account: Account, path: string, now: number): number {
    return this.#db.transaction(() => this.folders.make(account.id, account.rootId, path, now))();
  }

  /**
   * Adds an uploaded document, unless its pages are more than what is left of `quotaPages`:
   * then undefined. Counting and adding are one step, so uploads side by side cannot overdraw
   * the allowance.
   */
  async add(given: NewDocument, quotaPages: number | undefined): Promise<DocumentRow | undefined> {
    return this.#group.run(() => {
      const left = (quotaPages ?? Infinity) - this.pagesUsed(given.account_id);
      return given.pages_charged > left ? undefined : this.documents.add(given);
    });
  }

  /** Moves a document from UPLOADED to CONVERTED. */
  convert(row: DocumentRow, found: Converted, now: number): void {
    // A power cut may take a conversion back, for it is made again then. So it need not wait for
    // the disk, and a thousand of them do not slow the uploads.
    this.#db.pragma("synchronous = NORMAL");
    try {
      this.#db.transaction(() => this.documents.convert(row, found, now))();
    } finally {
      this.#db.pragma("synchronous = FULL");
    }
  }

  search(accountId: number, asked: Values<"search">, before: number): Found {
    return search(this.#db, accountId, asked, before);
  }

  /** The account's whole store. */
  audit(accountId: number): StoredDocument[] {
    const paths = new Map(this.folders.tree(accountId).map(({ id, path }) => [id, path]));
    return this.documents
      .all(accountId)
      .map((row) => storedDocumentOf(row, paths.get(row.folder_id) ?? ""));
  }

  close(): void {
    this.#db.close();
    this.#lock.close();
  }
}
