import type { Database } from "better-sqlite3";
import { AccountTable } from "./account-table.ts";
import { ArchivesTable } from "./archives-table.ts";
import { ActivityTable } from "./activity-table.ts";
import { DocumentsTable } from "./documents-table.ts";
import { PagesTable } from "./pages-table.ts";
import { Queries } from "./queries.ts";
import { RecordsTable } from "./records-table.ts";
import { Statements } from "./statements.ts";
import { DocumentCounts } from "./document-counts.ts";
import { OutboxTable } from "./outbox-table.ts";
import { TidyTable } from "./tidy-table.ts";

/** Everything that knows SQL, over one connection. */
export type Tables = ReturnType<typeof tablesIn>;

/** The tables of an open journal. */
export function tablesIn(db: Database) {
  const statements = new Statements(db);
  const counts = new DocumentCounts(statements);
  const documents = new DocumentsTable(statements, counts);
  return {
    statements,
    counts,
    documents,
    records: new RecordsTable(statements),
    account: new AccountTable(statements),
    archives: new ArchivesTable(statements),
    activity: new ActivityTable(statements),
    pages: new PagesTable(statements),
    outboxEntries: new OutboxTable(statements),
    queries: new Queries(statements),
    tidy: new TidyTable(statements, documents),
  };
}
