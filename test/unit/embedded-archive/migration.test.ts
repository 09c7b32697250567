/** A database of an earlier version is brought up to date with all that it holds. */
import { mkdirSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { openDatabase, STEPS } from "../../../src/embedded-archive/store-schema.ts";
import { ArchiveUnderTest } from "../../contract/conformance/archive-under-test.ts";

test("documents, folders and allowances of an earlier version stay", async () => {
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
  expect(old.archive.pagesUsed()).toBe(3);
  await expect.poll(() => old.archive.notices()).toEqual({ noticed: 1, waiting: 0 });
  const { body } = await old.ask("document", { id: "7" });
  expect(body["document"]).toMatchObject({ viewedTally: 0, downloadedTally: 0, title: "Rent" });
  const copy = new Database(join(dataDir, "archive.db.schema-1"), { readonly: true });
  expect(copy.pragma("user_version", { simple: true })).toBe(1);
  expect(copy.prepare("SELECT document_name FROM document").pluck().get()).toBe("Üürileping");
  copy.close();
});

test("what is up to date is not copied, and what cannot be copied is not changed", async () => {
  await using under = await ArchiveUnderTest.open();
  const { dataDir } = under;
  await under.archive.close();
  const path = join(dataDir, "archive.db");
  expect(readdirSync(dataDir).filter((name) => name.includes("schema"))).toEqual([]);
  const db = new Database(path);
  db.pragma("user_version = 1");
  db.close();
  mkdirSync(`${path}.schema-1.partial`);
  expect(() => openDatabase(path)).toThrow(
    expect.objectContaining({ code: "EMBEDDED_ARCHIVE_COPY" }),
  );
  const after = new Database(path, { readonly: true });
  expect(after.pragma("user_version", { simple: true })).toBe(1);
  after.close();
});
