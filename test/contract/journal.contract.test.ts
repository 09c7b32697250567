import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Applied } from "../../src/journal/journal.ts";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import { everyPromise } from "./every-promise.ts";
import type { JournalFixture } from "./journal.contract.ts";

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

everyPromise("SqliteJournal", onDisk);
