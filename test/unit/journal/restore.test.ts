/** A copy takes the journal's place, and no moment and no mistake loses either. */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { restoreJournal } from "../../../src/journal/restore.ts";
import { SCHEMA_VERSION } from "../../../src/journal/schema.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { earlierJournal } from "../../fixtures/earlier-journal.ts";
import { scratch } from "./scratch.ts";

/** A journal that knows `names` and ended well, with one first run over. */
async function journalAt(path: string, ...names: string[]): Promise<void> {
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  for (const name of names) {
    const { id } = await journal.mirror(name, `/srv/${name}`);
    await journal.endFirstRun(id, 1);
  }
}

async function namesIn(path: string): Promise<string[]> {
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  return (await journal.mirrors()).map(({ name }) => name);
}

test("a copy made without a daemon is asked about when it is restored", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const copy = join(directory.path, "copy.db");
  await journalAt(path, "old");
  {
    await using reader = await SqliteJournal.open({ path, role: "reader" });
    await reader.backup(copy);
  }
  await journalAt(path, "later");
  writeFileSync(`${path}-shm`, "of the one before");
  expect(restoreJournal(copy, path)).toBe(`${path}.replaced-1`);
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  expect((await journal.mirrors()).map(({ name }) => name)).toEqual(["old"]);
  // Documents may have been sent that the copy does not know.
  expect(await journal.firstRuns()).toEqual([1]);
  await journal.close();
  expect(await namesIn(`${path}.replaced-1`)).toEqual(["old", "later"]);
  expect(restoreJournal(`${path}.replaced-1`, path)).toBe(`${path}.replaced-2`);
  expect(await namesIn(path)).toEqual(["old", "later"]);
});

test("the log of a journal that crashed goes with it, not into the copy", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const copy = join(directory.path, "copy.db");
  await journalAt(copy, "copied");
  await journalAt(path, "before");
  const db = new Database(path);
  db.exec("UPDATE mirrors SET name = 'in the log'");
  const wal = readFileSync(`${path}-wal`);
  const main = readFileSync(path);
  db.close();
  writeFileSync(path, main);
  writeFileSync(`${path}-wal`, wal);
  restoreJournal(copy, path);
  expect(await namesIn(path)).toEqual(["copied"]);
  expect(await namesIn(`${path}.replaced-1`)).toEqual(["in the log"]);
});

test("a copy of an earlier schema, in a directory that is not there yet, is taken and brought up to date", async () => {
  using directory = scratch();
  const path = join(directory.path, "new", "journal.db");
  const copy = join(directory.path, "copy.db");
  earlierJournal(copy, 1);
  expect(restoreJournal(copy, path)).toBeUndefined();
  expect(await namesIn(path)).toEqual(["m1", "m2"]);
});

test.for([
  ["JOURNAL_MISSING", "none", "a mistyped name"],
  ["JOURNAL_CORRUPT", "text", "some other file"],
  ["JOURNAL_CORRUPT", "empty", "a copy that was cut short"],
  ["JOURNAL_NEWER", "newer", "a copy of a later scanferry"],
  ["JOURNAL_FOREIGN", "foreign", "a database of something else"],
] as const)("%s: the journal stays as it is: %s: %s", async ([code, what]) => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const copy = join(directory.path, "copy.db");
  await journalAt(path, "here");
  const edit = (sql: string) => {
    const db = new Database(copy);
    db.exec(sql);
    db.close();
  };
  if (what === "text") writeFileSync(copy, "not a database\n".repeat(99));
  if (what === "empty") writeFileSync(copy, "");
  if (what === "newer" || what === "foreign") await journalAt(copy, "x");
  if (what === "newer") edit(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  if (what === "foreign") edit("PRAGMA application_id = 7");
  const message = expect.stringContaining(copy);
  // Who is restoring is not told to restore.
  const hint = expect.stringMatching(/^Name a copy|^Install/);
  expect(() => restoreJournal(copy, path)).toThrow(
    expect.objectContaining({ code, message, hint }),
  );
  expect(await namesIn(path)).toEqual(["here"]);
  const left = readdirSync(directory.path).filter((name) => /restored|replaced/.test(name));
  expect(left).toEqual([]);
});

test("next to a running daemon it is refused", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const copy = join(directory.path, "copy.db");
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  await journal.backup(copy);
  expect(() => restoreJournal(copy, path)).toThrow(
    expect.objectContaining({ code: "JOURNAL_LOCKED" }),
  );
});

test("a restore that fails at its last step leaves the journal in its place", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const copy = join(directory.path, "copy.db");
  await journalAt(copy, "copied");
  // A directory cannot be replaced by a file.
  mkdirSync(path);
  expect(() => restoreJournal(copy, path)).toThrow();
  expect(existsSync(path)).toBe(true);
  rmSync(path, { recursive: true });
  expect(existsSync(`${path}.restored`)).toBe(false);
});
