/** A journal of an earlier schema is brought up to date with all that it holds, and kept as it was. */
import { chmodSync, existsSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { STATES } from "../../../src/domain/document.ts";
import { SCHEMA_VERSION } from "../../../src/journal/schema.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { earlierJournal, rowsOf } from "../../fixtures/earlier-journal.ts";
import { can, smallDisk } from "../../fixtures/small-disk.ts";
import { scratch } from "./scratch.ts";

const AT = 1_800_000_000_000;
const EARLIER = Array.from({ length: SCHEMA_VERSION - 1 }, (_, at) => at + 1);

async function upgrade(path: string): Promise<SqliteJournal["migrated"]> {
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  return journal.migrated;
}

function versionOf(path: string): unknown {
  const db = new Database(path, { readonly: true });
  try {
    return db.pragma("user_version", { simple: true });
  } finally {
    db.close();
  }
}

/** The tables and indexes as SQLite has them. */
function schemaOf(path: string): unknown {
  const db = new Database(path, { readonly: true });
  try {
    const all = db.prepare<[], { type: string; name: string }>(
      "SELECT type, name FROM sqlite_schema ORDER BY type, name",
    );
    return all
      .all()
      .map((entry) => [
        entry,
        db.pragma(
          entry.type === "index" ? `index_xinfo(${entry.name})` : `table_xinfo(${entry.name})`,
        ),
      ]);
  } finally {
    db.close();
  }
}

describe.for(EARLIER)("schema %i", (version) => {
  test("has the tables of a new journal afterwards, and every row that it had", async () => {
    using directory = scratch();
    const path = join(directory.path, "journal.db");
    earlierJournal(path, version);
    const before = rowsOf(path);
    const copy = `${path}.schema-${version}`;
    expect(await upgrade(path)).toEqual({ from: version, to: SCHEMA_VERSION, copy });
    const fresh = join(directory.path, "fresh.db");
    await upgrade(fresh);
    expect(schemaOf(path)).toEqual(schemaOf(fresh));
    const { document_counts: counted, ...rows } = Object.fromEntries(rowsOf(path));
    expect(counted).toHaveLength(2 * STATES.length);
    before.delete("document_counts");
    expect(new Map(Object.entries(rows))).toEqual(before);
    const db = new Database(path);
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(db.pragma("foreign_key_check")).toEqual([]);
    db.close();
  });

  test("goes on working: every document is read, and one goes on", async () => {
    using directory = scratch();
    const path = join(directory.path, "journal.db");
    earlierJournal(path, version);
    await using journal = await SqliteJournal.open({ path, role: "owner" });
    expect((await journal.counts()).reduce((sum, { documents }) => sum + documents, 0)).toBe(
      2 * STATES.length,
    );
    for (const [at, state] of STATES.entries())
      expect(await journal.document(100 + at)).toMatchObject({ state });
    expect(await journal.paused()).toBe(true);
    const id = 100 + STATES.indexOf("uploaded");
    const counted = { pages: 3, archiveBytes: 9, digidoc: false, after: null };
    await journal.apply([{ type: "event", id, event: { type: "converted", at: AT, ...counted } }]);
    expect(await journal.document(id)).toMatchObject({ state: "converted", pages: 3 });
  });

  test("is kept as it was, for its owner alone, and knows that it is a copy", async () => {
    using directory = scratch();
    const path = join(directory.path, "journal.db");
    earlierJournal(path, version);
    chmodSync(path, 0o644);
    const before = rowsOf(path);
    const copy = (await upgrade(path))?.copy ?? "";
    expect(versionOf(copy)).toBe(version);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    const { owner, ...kept } = Object.fromEntries(rowsOf(copy));
    expect(owner).toHaveLength(1);
    expect(new Map(Object.entries({ ...kept, owner: [] }))).toEqual(before);
    await using restored = await SqliteJournal.open({ path: copy, role: "owner" });
    // What was sent after it was made, it does not know: the archive is asked first.
    expect(await restored.firstRuns()).toEqual([1, 2]);
  });
});

test("what is up to date is not copied", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  expect(await upgrade(path)).toBeUndefined();
  expect(await upgrade(path)).toBeUndefined();
  expect(readdirSync(directory.path)).toEqual(["journal.db", "journal.db.lock"]);
});

test("the copy and the latest before it stay, and what a crash left of one goes", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  for (const [at, version] of [10, 4, 2].entries()) {
    writeFileSync(`${path}.schema-${version}`, "old");
    utimesSync(`${path}.schema-${version}`, at, at);
  }
  for (const left of ["", "-wal", "-journal"]) {
    writeFileSync(`${path}.schema-1.partial${left}`, "torn");
  }
  writeFileSync(`${path}.schema-x`, "a person's");
  earlierJournal(path, 1);
  await upgrade(path);
  const copies = readdirSync(directory.path).filter((name) => name.includes("schema"));
  expect(copies.sort()).toEqual([
    "journal.db.schema-1",
    "journal.db.schema-2",
    "journal.db.schema-x",
  ]);
});

test.runIf(can("unshare", "-m", "true"))(
  "without room nothing is changed, and the line says how much",
  async () => {
    using directory = scratch();
    const point = join(directory.path, "small");
    using _disk = smallDisk(point, "100m");
    const path = join(point, "journal.db");
    earlierJournal(path, 1);
    const db = new Database(path);
    db.pragma("journal_mode = DELETE");
    // Room enough to work, and too little for a copy.
    db.exec("CREATE TABLE ballast (b); INSERT INTO ballast VALUES (zeroblob(60_000_000))");
    db.close();
    await expect(upgrade(path)).rejects.toMatchObject({
      code: "JOURNAL_FULL",
      message: expect.stringMatching(/\d+ MB of room needed to copy it .*, \d+ MB free/),
    });
    expect(versionOf(path)).toBe(1);
    expect(existsSync(`${path}.schema-1`)).toBe(false);
    expect(existsSync(`${path}.schema-1.partial`)).toBe(false);
  },
);
