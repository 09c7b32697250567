import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import type { Applied } from "../../src/journal/journal.ts";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import { aPostgresJournal } from "../fixtures/a-postgres-journal.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../fixtures/postgres.ts";
import { journalArchivesContract } from "./journal-archives.contract.ts";
import { journalActivityContract } from "./journal-activity.contract.ts";
import { type JournalFixture, journalWritesContract } from "./journal.contract.ts";
import { journalListsContract } from "./journal-lists.contract.ts";
import { journalPagesContract } from "./journal-pages.contract.ts";
import { journalReadsContract } from "./journal-reads.contract.ts";
import { journalRecordsContract } from "./journal-records.contract.ts";
import { journalTellingsContract } from "./journal-tellings.contract.ts";
import { journalTidyContract } from "./journal-tidy.contract.ts";

async function inMemory(): Promise<JournalFixture> {
  const applied: Applied[][] = [];
  const journal = new MemoryJournal({ onApplied: (some) => applied.push(some) });
  return {
    journal,
    applied,
    beside: async () => new MemoryJournal({ store: journal.store }),
    [Symbol.asyncDispose]: () => journal.close(),
  };
}

async function onDisk(): Promise<JournalFixture> {
  const directory = mkdtempSync(join(tmpdir(), "journal-"));
  const path = join(directory, "journal.db");
  const applied: Applied[][] = [];
  const onApplied = (some: Applied[]) => applied.push(some);
  const journal = await SqliteJournal.open({ path, role: "owner", onApplied });
  return {
    journal,
    applied,
    beside: () => SqliteJournal.open({ path, role: "guest" }),
    async [Symbol.asyncDispose]() {
      await journal.close();
      rmSync(directory, { recursive: true });
    },
  };
}

function everyPromise(name: string, open: () => Promise<JournalFixture>): void {
  journalWritesContract(name, open);
  journalReadsContract(name, open);
  journalListsContract(name, open);
  journalRecordsContract(name, open);
  journalTellingsContract(name, open);
  journalTidyContract(name, open);
  journalActivityContract(name, open);
  journalArchivesContract(name, open);
  journalPagesContract(name, open);
}

everyPromise("MemoryJournal", inMemory);
everyPromise("SqliteJournal", onDisk);

describe.skipIf(NO_POSTGRES)("on a real server", () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await aPostgres();
  });
  afterAll(() => postgres[Symbol.asyncDispose]());

  async function inPostgres(): Promise<JournalFixture> {
    const place = aPostgresJournal(postgres);
    const applied: Applied[][] = [];
    const onApplied = (some: Applied[]) => applied.push(some);
    const journal = await place.open("owner", { onApplied });
    return {
      journal,
      applied,
      beside: () => place.open("guest"),
      [Symbol.asyncDispose]: () => journal.close(),
    };
  }

  everyPromise("PostgresJournal", inPostgres);
});
