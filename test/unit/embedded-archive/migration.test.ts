/** A database of the first version is brought up to date with all that it holds. */
import { mkdirSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { openDatabase } from "../../../src/embedded-archive/store-schema.ts";
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
  const copy = new Database(join(dataDir, "archive.db.schema-1"), { readonly: true });
  expect(copy.pragma("user_version", { simple: true })).toBe(1);
  expect(copy.prepare("SELECT document_name FROM document").pluck().get()).toBe("Üürileping");
  copy.close();
});

test("version 2: names beyond ASCII are ordered and found again, and words as before", async () => {
  await using under = await ArchiveUnderTest.open();
  await under.archive.close();
  const dataDir = join(under.dataDir, "old");
  await mkdir(dataDir);
  const db = new Database(join(dataDir, "archive.db"));
  const lowerCase = (text: unknown) => (typeof text === "string" ? text.toLowerCase() : "");
  db.function("fold", lowerCase);
  for (const step of STEPS.slice(0, 2)) db.exec(step);
  db.exec(`
    INSERT INTO account (id, key, pages_used) VALUES (1, 'demo', 3);
    INSERT INTO folder (id, account_id, name, created_at) VALUES (1, 1, '/', 5);`);
  const names = ["Maß", "MASS", "mask", "ä", "Ä"];
  for (const [index, name] of names.entries()) {
    db.prepare(
      `INSERT INTO document (id, account_id, folder_id, filename, document_name, created_at,
         uploaded_at, modified_at, status, pages, filesize, size, sha256, pages_charged)
       VALUES (?, 1, 1, @name, @name, 5, 5, 5, 'CONVERTED', 1, 9, 9, 'ab', 1)`,
    ).run(index + 1, { name });
    const labels = `INSERT INTO document_label (rowid, filename, title, author, subject, keywords,
      producer, description) VALUES (?, ?, '', '', '', '', '', '')`;
    db.prepare(labels).run(index + 1, lowerCase(name));
    db.prepare("INSERT INTO document_text (rowid, text) VALUES (?, ?)").run(
      index + 1,
      lowerCase(`word of ${name}`),
    );
  }
  db.pragma("user_version = 2");
  db.close();
  await using old = await ArchiveUnderTest.open({ dataDir });
  const found = async (fields: Record<string, string>) => {
    const { body } = await old.ask("search", fields);
    return (body["documents"] as { filename: string }[]).map(({ filename }) => filename);
  };
  expect(await found({})).toEqual(["mask", "Maß", "MASS", "ä", "Ä"]);
  expect(await found({ docFilename: "mass" })).toEqual(["Maß", "MASS"]);
  expect(await found({ docFilename: "MASK" })).toEqual(["mask"]);
  expect(await found({ query: "word maß" })).toEqual(["Maß", "MASS"]);
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
