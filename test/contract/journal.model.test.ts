import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import { comparedWithModel, type Place } from "./journal-model.ts";

async function onDisk(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), "journal-"));
  const path = join(directory, "journal.db");
  return {
    open: (role) => SqliteJournal.open({ path, role }),
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true }),
  };
}

test(
  "any sequence of changes leaves the journal on disk equal to its model",
  { timeout: 900_000 },
  () => comparedWithModel(onDisk, 60),
);
