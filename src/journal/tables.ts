import type { Database } from "better-sqlite3";
import { ActivityTable } from "./activity-table.ts";
import { DocumentsTable } from "./documents-table.ts";
import { RecordsTable } from "./records-table.ts";
import { Statements } from "../sqlite/statements.ts";
import { OutboxTable } from "./outbox-table.ts";
import { Writer } from "./writer.ts";

/** Everything that knows SQL, over one connection, and the writer over it. */
export type Tables = ReturnType<typeof tablesIn>;

/** The tables of an open journal. */
export function tablesIn(db: Database) {
  const statements = new Statements(db);
  const tables = {
    statements,
    documents: new DocumentsTable(statements),
    records: new RecordsTable(statements),
    activity: new ActivityTable(statements),
    outboxEntries: new OutboxTable(statements),
  };
  return { ...tables, writer: new Writer(tables) };
}
