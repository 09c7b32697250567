/** A journal of an earlier schema is brought up to date with all that it holds. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from "../../../src/journal/schema.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { TALLY_MS } from "../../../src/journal/tally.ts";
import { scratch } from "./scratch.ts";

const AT = 2_000_000 * TALLY_MS;

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
  expect((await journal.recent(9)).map(({ name }) => name)).toEqual(["a", "c", "b"]);
  expect(await journal.latestBatches(9)).toMatchObject([{ id: "batch-1", pages: 12 }]);
  const db = new Database(path, { readonly: true });
  expect(db.pragma("user_version", { simple: true })).toBe(SCHEMA_VERSION);
  db.close();
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
  expect(await journal.claimed([501, 502, 503, 600, 601])).toEqual(new Set([501, 502, 503, 600]));
});
