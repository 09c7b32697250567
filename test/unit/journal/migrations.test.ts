/** A journal of an earlier schema is brought up to date with all that it holds, and kept as it was. */
import {
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { STATES } from "../../../src/domain/document.ts";
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from "../../../src/journal/schema.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { TALLY_MS } from "../../../src/journal/tally.ts";
import { earlierJournal, rowsOf } from "../../fixtures/earlier-journal.ts";
import { can, smallDisk } from "../../fixtures/small-disk.ts";
import { scratch } from "./scratch.ts";

const AT = 2_000_000 * TALLY_MS;
const EARLIER = Array.from({ length: SCHEMA_VERSION - 1 }, (_, at) => at + 1);

/** A journal as version 1 left it: one document converted, one uploaded, one adopted. */
function version1(path: string): void {
  const db = new Database(path);
  db.exec(MIGRATIONS[0] ?? "");
  db.exec(`
    INSERT INTO mirrors (id, name, source) VALUES (1, 'scans', '/srv/scans');
    INSERT INTO directories (id, mirror_id, path) VALUES (1, 1, x'');
    INSERT INTO batches (id, mirror_id, opened_at, joined_at, documents) VALUES ('batch-1', 1, 0, 0, 2);`);
  const insert = db.prepare(`INSERT INTO documents (mirror_id, dir_id, name, state, size_bytes,
      modified_at, stamp, first_seen_at, changed_at, current, batch, attempts, document_id,
      uploaded_at, converted_at, pages)
    VALUES (1, 1, ?, ?, 70, 0, 's', ${AT - 9}, ${AT - 9}, 1, 'batch-1', ?, ?, ?, ?, ?)`);
  insert.run(Buffer.from("a"), "converted", 1, 501, AT + 5, AT + TALLY_MS, 3);
  insert.run(Buffer.from("b"), "uploaded", 2, 502, AT + 6, null, null);
  insert.run(Buffer.from("c"), "converted", 0, 503, AT + 7, AT + 8, 9);
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.pragma("user_version = 1");
  db.close();
}

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

/** The tables as SQLite would make them; columns that were added later stand at the end of theirs. */
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

test("version 1: what it sent is tallied, and its documents are found by time and batch", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  version1(path);
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  const none = { charged: 0, saved: 0 };
  expect(await journal.tallies(0, Number.MAX_SAFE_INTEGER)).toEqual([
    { mirrorId: 1, at: AT, uploaded: 2, uploadedBytes: 140, converted: 0, pages: 0, ...none },
    {
      mirrorId: 1,
      at: AT + TALLY_MS,
      uploaded: 0,
      uploadedBytes: 0,
      converted: 1,
      pages: 3,
      charged: 3,
      saved: 0,
    },
  ]);
  const rows = await journal.recent(9);
  expect(rows.map(({ name }) => name)).toEqual(["a", "c", "b"]);
  expect(
    rows.map(({ sentBytes }) => sentBytes),
    "one was claimed",
  ).toEqual([70, null, 70]);
  expect(await journal.latestBatches(9)).toMatchObject([{ id: "batch-1", pages: 12 }]);
  expect(versionOf(path)).toBe(SCHEMA_VERSION);
});

test("version 7: its gate, its pace and all that was sent are the first archive's", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  version1(path);
  const db = new Database(path);
  for (const sql of MIGRATIONS.slice(1, 7)) db.exec(sql);
  db.exec(`UPDATE account SET paused = 1, gate_closed_at = 5, gate_code = 'QUOTA_LIMIT',
    gate_message = 'spent', gate_probes = 3, gate_next_probe_at = 9, pace_limit = 2`);
  db.exec(`INSERT INTO remembered (document_id, mirror_id, folder_id, digest, dropped_at)
    VALUES (600, 1, 7, unhex('d1'), 4)`);
  db.pragma("user_version = 7");
  db.close();
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  expect(await journal.archives()).toEqual([{ id: 1, name: "main", url: null }]);
  expect(await journal.mirrors()).toMatchObject([{ name: "scans", archiveId: 1 }]);
  expect(await journal.gate()).toEqual({
    closedAt: 5,
    trouble: { code: "QUOTA_LIMIT", message: "spent" },
    probes: 3,
    nextProbeAt: 9,
  });
  expect(await journal.pace()).toMatchObject({ limit: 2 });
  expect(await journal.paused()).toBe(true);
  expect([...(await journal.claimed([501, 502, 503, 600, 601])).keys()]).toEqual([
    501, 502, 503, 600,
  ]);
});

/** Every row is there with all that it had; the account's gate and pace are the first archive's now. */
function expectKept(before: ReturnType<typeof rowsOf>, after: ReturnType<typeof rowsOf>): void {
  for (const [table, rows] of before) {
    if (table !== "account") expect(after.get(table)).toMatchObject(rows);
  }
  const ofAccount = Object.entries(before.get("account")?.[0] ?? {});
  const isMoved = ([column]: [string, unknown]) => /^(gate|pace)_/.test(column);
  const account = Object.fromEntries(ofAccount.filter((each) => !isMoved(each)));
  expect(after.get("account")).toMatchObject([account]);
  expect(after.get("archives")).toMatchObject([Object.fromEntries(ofAccount.filter(isMoved))]);
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
    expectKept(before, rowsOf(path));
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

test.for(["schema-1", "schema-7"])("a journal that a daemon of %s wrote goes on", async (name) => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const file = new URL(`../../fixtures/journals/${name}.db.gz`, import.meta.url);
  writeFileSync(path, gunzipSync(readFileSync(file)), { mode: 0o600 });
  const before = rowsOf(path);
  await upgrade(path);
  expect(before.get("documents")).toHaveLength(15);
  expectKept(before, rowsOf(path));
  expect(versionOf(path)).toBe(SCHEMA_VERSION);
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
    writeFileSync(`${path}.schema-3.partial${left}`, "torn");
  }
  writeFileSync(`${path}.schema-x`, "a person's");
  earlierJournal(path, 3);
  await upgrade(path);
  const copies = readdirSync(directory.path).filter((name) => name.includes("schema"));
  expect(copies.sort()).toEqual([
    "journal.db.schema-2",
    "journal.db.schema-3",
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
