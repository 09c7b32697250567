import Database from "better-sqlite3";
import type { Document } from "../../src/domain/document.ts";
import { MARK_UNCLEAN } from "../../src/journal/cluster.ts";
import { countsOf } from "../../src/journal/document-counts.ts";
import { columnsOf, type DocumentRow, documentOf } from "../../src/journal/columns.ts";
import { breachOf } from "../../src/journal/group-commit.ts";
import { migrate } from "../../src/journal/schema.ts";
import { SELECT_DOCUMENT } from "../../src/journal/documents-table.ts";
import { type Tables, tablesIn } from "../../src/journal/tables.ts";
import type { InstanceRow, MemoryCluster } from "./memory-cluster.ts";

type Opened = { readonly db: Database.Database; readonly tables: Tables };

/** An empty journal as SQLite would write it to a file: to read it takes less than to run the schema. */
const EMPTY = emptyImage();

/** Empty ones that were used before: their statements, which take longer than anything else, are prepared. */
const released: Opened[] = [];

/** No two are the same, whichever store they are of: tables are used again. */
let generations = 0;

/** One journal in memory, and what the daemons that share it know of one another. */
export class MemoryStore {
  #opened = released.pop() ?? opened(EMPTY);
  #rows: { readonly at: number; readonly rows: readonly Document[] } | undefined;
  /** Writes of every session on it. */
  writes = 0;
  /** See `GroupCommit.generation`. */
  generation = ++generations;
  #writer: Tables | undefined;
  /** Everybody who ever joined, and those who can be told about something. */
  readonly instances = new Map<number, InstanceRow>();
  readonly clusters = new Set<MemoryCluster>();
  /** Whose a row is for a while, and who claimed it last. */
  readonly taken = new Map<number, { readonly by: number; readonly until: number }>();
  readonly senders = new Map<number, number>();

  get db(): Database.Database {
    return this.#opened.db;
  }

  get tables(): Tables {
    return this.#opened.tables;
  }

  /** All documents, in the order of their ids. */
  get rows(): readonly Document[] {
    if (this.#rows?.at === this.writes) return this.#rows.rows;
    const query = this.tables.statements.of<DocumentRow>(`${SELECT_DOCUMENT} ORDER BY n.id`);
    const rows = query.all().map(documentOf);
    this.#rows = { at: this.writes, rows };
    return rows;
  }

  /** The id of the next new document. */
  get nextId(): number {
    const sql = "SELECT seq FROM sqlite_sequence WHERE name = 'documents'";
    return 1 + (this.tables.statements.of<number>(sql).pluck().get() ?? 0);
  }

  /** Runs `change` whole or not at all; `tables` are those that it writes to. */
  transact<T>(change: () => T, tables = this.tables): T {
    const { statements } = this.tables;
    if (tables !== this.#writer) this.generation = ++generations;
    this.#writer = tables;
    statements.of("BEGIN").run();
    try {
      const value = change();
      tables.writer.complete();
      statements.of("COMMIT").run();
      this.writes += 1;
      return value;
    } catch (error) {
      statements.of("ROLLBACK").run();
      tables.writer.discard();
      this.generation = ++generations;
      throw breachOf(error);
    }
  }

  /** Puts a row there as if it had come that far on its own. */
  put(document: Document): void {
    const { activity, documents, statements } = this.tables;
    const { id, mirrorId, dir } = document;
    this.transact(() => {
      documents.begin(++generations);
      for (const count of countsOf(documents.read(id), document)) activity.count(count);
      documents.begin(++generations);
      const columns = { ...columnsOf(document), dir_id: documents.directoryId(mirrorId, dir) };
      const names = Object.keys(columns);
      statements
        .of(`INSERT INTO documents (archive_id, ${names.join()})
          VALUES ((SELECT archive_id FROM mirrors WHERE id = ?), ${names.map(() => "?").join()})
          ON CONFLICT (id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join()}`)
        .run(mirrorId, ...Object.values(columns));
    });
  }

  /** All that is kept as it is now; the returned function takes the store back to it. */
  snapshot(): () => void {
    const image = this.db.serialize();
    return () => {
      this.#opened = opened(image);
      this.writes += 1;
    };
  }

  /** A daemon did not end in good order. */
  markUnclean(): void {
    this.transact(() => this.tables.statements.of(MARK_UNCLEAN).run());
  }

  /** Instances that are not lost, by their ids. */
  living(): InstanceRow[] {
    return [...this.instances.values()].filter(({ lost }) => !lost).sort((a, b) => a.id - b.id);
  }

  /** Lets another store have what this one was made with; this one is not used any more. */
  release(): void {
    this.db.exec(EMPTIED);
    released.push(this.#opened);
  }
}

/** What no table refers to is made last, and has to go first. */
const EMPTIED = `BEGIN;
  ${opened(EMPTY)
    .db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid DESC")
    .pluck()
    .all()
    .map((name) => `DELETE FROM ${String(name)};`)
    .join("\n")}
  INSERT INTO archives (id, name) VALUES (1, 'main');
  INSERT INTO account (id) VALUES (1);
  COMMIT;`;

function opened(image: Buffer): Opened {
  const db = new Database(image);
  db.pragma("foreign_keys = ON");
  return { db, tables: tablesIn(db) };
}

function emptyImage(): Buffer {
  const db = new Database(":memory:");
  try {
    migrate(db);
    return db.serialize();
  } finally {
    db.close();
  }
}
