/** A database of the first version is brought up to date with all that it holds. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { STEPS } from "../../../src/embedded-archive/schema-steps.ts";
import { ArchiveUnderTest } from "../../contract/conformance/archive-under-test.ts";

test("version 1: documents, folders and allowances stay, and names are found", async () => {
  await using under = await ArchiveUnderTest.open();
  await under.archive.close();
  const dataDir = join(under.dataDir, "old");
  await mkdir(dataDir);
  const db = new Database(join(dataDir, "archive.db"));
  db.exec(STEPS[0] ?? "");
  db.exec(`
    INSERT INTO account (id, key, pages_used) VALUES (1, 'demo', 3);
    INSERT INTO folder (id, account_id, name, created_at) VALUES (1, 1, '/', 5);
    INSERT INTO document (id, account_id, folder_id, filename, document_name, created_at, uploaded_at,
      modified_at, status, pages, filesize, size, sha256, pages_charged, title, expire_at)
    VALUES (7, 1, 1, 'Üürileping.pdf', 'Üürileping', 5, 5, 5, 'CONVERTED', 3, 9, 9, 'ab', 3, 'Rent', 5);
    PRAGMA user_version = 1;`);
  db.close();
  await using old = await ArchiveUnderTest.open({ dataDir });
  for (const fields of [{ docFilename: "ÜRILEP" }, { query: "rent" }, { docTitle: "ent" }])
    expect((await old.ask("search", fields)).body["documents"]).toMatchObject([{ id: 7 }]);
  expect(old.archive.pagesUsed()).toBe(3);
  await expect.poll(() => old.archive.notices()).toEqual({ noticed: 1, waiting: 0 });
  const { body } = await old.ask("document", { id: "7" });
  expect(body["document"]).toMatchObject({ viewedTally: 0, downloadedTally: 0, title: "Rent" });
});
