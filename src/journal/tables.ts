import type { Database } from "better-sqlite3";
import { ActivityTable } from "./activity-table.ts";
import { DocumentsTable } from "./documents-table.ts";
import { RecordsTable } from "./records-table.ts";
import { Statements } from "../sqlite/statements.ts";
import { OutboxTable } from "./outbox-table.ts";
import { TidyTable } from "./tidy-table.ts";
import { Writer } from "./writer.ts";

/** Everything that knows SQL, over one connection, and the writer over it. */
export type Tables = ReturnType<typeof tablesIn>;

/** The tables of an open journal. */
export function tablesIn(db: Database) {
  const statements = new Statements(db);
  const documents = new DocumentsTable(statements);
  const activity = new ActivityTable(statements);
  const tables = {
    statements,
    documents,
    records: new RecordsTable(statements),
    activity,
    outboxEntries: new OutboxTable(statements),
    tidy: new TidyTable(statements, documents, activity),
  };
  return { ...tables, writer: new Writer(tables) };
}
