/** A journal is copied between real databases, all of it, and never passes for whole before it is. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import {
  type JournalPlace,
  LEASE_MS,
  type PostgresPlace,
} from "../../../src/network/journal-place.ts";
import { type Advance, type Copied, copyJournal } from "../../../src/journal/copy/copy-journal.ts";
import { PostgresSide } from "../../../src/journal/copy/postgres-side.ts";
import { COPIED_TABLES, ROWS_AT_ONCE } from "../../../src/journal/copy/copied-tables.ts";
import { awayKey } from "../../../src/journal/cluster.ts";
import { openJournal } from "../../../src/journal/open-journal.ts";
import { appearing } from "../../contract/journal-desk.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { rowsOf } from "../../fixtures/earlier-journal.ts";
import { fullJournal, GREATEST_ID } from "../../fixtures/full-journal.ts";
import { NO_POSTGRES } from "../../fixtures/postgres.ts";
import { thePostgres } from "../../fixtures/the-postgres.ts";
import { scratch } from "../../unit/journal/scratch.ts";

const owner = { pid: process.pid, startedAt: 1, version: "0.0.0" };

/** Copies; `at` may stop it by returning true. */
function copy(
  from: JournalPlace,
  to: JournalPlace,
  at: (advance: Advance) => boolean = () => false,
): Promise<Copied> {
  const stop = new AbortController();
  const onAdvance = (advance: Advance) => {
    if (at(advance)) stop.abort(new Error("stopped"));
  };
  return copyJournal({ from, to, stopping: stop.signal, onAdvance });
}

/** The rows of every table that is copied, as text, without what stays behind. */
function copiedRows(path: string): Map<string, string[]> {
  const all = rowsOf(path);
  return new Map(
    COPIED_TABLES.map(({ name }) => [
      name,
      (all.get(name) ?? []).map((row) =>
        JSON.stringify({ ...row, ...(name === "mirrors" && { first_run_over_at: null }) }),
      ),
    ]),
  );
}

function run(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

function ask(path: string, sql: string): unknown {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare(sql).pluck().all();
  } finally {
    db.close();
  }
}

test("a file is copied to a file: every row, and the numbers that were given", async () => {
  using directory = scratch();
  const [from, to] = ["one.db", "deep/other.db"].map((name) => join(directory.path, name)) as [
    string,
    string,
  ];
  fullJournal(from, 2 * ROWS_AT_ONCE + 3);
  const copied = await copy(from, to);
  expect(copied.difference).toBeUndefined();
  // The file stands on its own.
  expect(existsSync(`${to}-wal`)).toBe(false);
  expect(copiedRows(to)).toEqual(copiedRows(from));
  for (const [name, rows] of copiedRows(to)) expect([name, rows.length > 0]).toEqual([name, true]);
  // 16 lines of documents in every state, and one document's own.
  expect(copied.tables.find(({ table }) => table === "history")?.source.rows).toBe(
    2 * ROWS_AT_ONCE + 3 + 15,
  );
  expect(statSync(to).mode & 0o777).toBe(0o600);
  await using journal = await openJournal(to, "owner", { owner });
  const add = { type: "add", document: appearing(1, "new.pdf") } as const;
  const [applied] = await journal.apply([add]);
  expect(applied?.document?.id).toBe(GREATEST_ID + 1);
});

test("afterwards both are guarded as copies, whatever each of them did before", async () => {
  using directory = scratch();
  const [from, to] = [join(directory.path, "a.db"), join(directory.path, "b.db")];
  fullJournal(from);
  expect(ask(from, "SELECT count(first_run_over_at) FROM mirrors")).toEqual([1]);
  await copy(from, to);
  for (const path of [from, to]) {
    expect(ask(path, "SELECT count(first_run_over_at) FROM mirrors")).toEqual([0]);
  }
});

test.for(COPIED_TABLES.map(({ name }) => name))(
  "stopped while it copies or compares %s, it goes on there, and nobody takes the half",
  async (table) => {
    using directory = scratch();
    const [from, to] = [join(directory.path, "a.db"), join(directory.path, "b.db")];
    fullJournal(from, 2 * ROWS_AT_ONCE);
    for (const doing of ["copying", "comparing"]) {
      const at = (advance: Advance) => advance.table === table && advance.doing === doing;
      await expect(copy(from, to, at)).rejects.toThrow("stopped");
      for (const role of ["owner", "guest", "reader"] as const) {
        await expect(openJournal(to, role, { owner })).rejects.toMatchObject({
          code: "JOURNAL_UNFINISHED",
        });
      }
    }
    const seen: Advance[] = [];
    await copy(from, to, (advance) => seen.push(advance) < 0);
    // Nothing is copied twice, and everything is compared.
    expect(seen.filter(({ doing }) => doing === "copying").map((each) => each.table)).toEqual([]);
    expect(new Set(seen.map((each) => each.table)).size).toBe(COPIED_TABLES.length);
    expect(copiedRows(to)).toEqual(copiedRows(from));
  },
);

test.for([
  [
    "UPDATE history SET detail = 'other' WHERE document = 100 AND number = 7",
    "history",
    "document=100 number=7",
    ["detail"],
  ],
  [
    "DELETE FROM history WHERE document = 100 AND number = 7",
    "history",
    "document=100 number=7",
    "extra",
  ],
  [
    "INSERT INTO history (document, number, at, event) VALUES (1, 1, 0, 'x')",
    "history",
    "document=1 number=1",
    "missing",
  ],
  [
    "UPDATE documents SET state = 'failed', due_at = due_at + 0.25 WHERE id = 102",
    "documents",
    "id=102",
    ["due_at", "state"],
  ],
  ["UPDATE forgotten SET path = x'ff2f62'", "forgotten", "document=9", ["path"]],
] as const)("a source that went on meanwhile is found: %s", async ([sql, table, row, what]) => {
  using directory = scratch();
  const [from, to] = [join(directory.path, "a.db"), join(directory.path, "b.db")];
  fullJournal(from);
  const late = (advance: Advance) => advance.table === "key_values";
  await expect(copy(from, to, late)).rejects.toThrow("stopped");
  run(from, sql);
  const { difference, tables } = await copy(from, to);
  expect(difference).toEqual({ table, row, what });
  const differing = tables.filter(({ source, target }) => source.digest !== target.digest);
  expect(differing.map((each) => each.table)).toEqual([table]);
  await expect(openJournal(to, "reader")).rejects.toMatchObject({ code: "JOURNAL_UNFINISHED" });
  // It was not marked: it is no source of a finished copy.
  expect(ask(from, "SELECT count(first_run_over_at) FROM mirrors")).toEqual([1]);
});

describe.skipIf(NO_POSTGRES !== undefined)("with PostgreSQL", () => {
  const postgres = thePostgres();

  function aPlace(leaseMs = LEASE_MS): PostgresPlace {
    const { url: server, schema } = postgres.place();
    const rest = { password: undefined, hasPasswordInUrl: false, instance: "one" };
    return { server, schema, leaseMs, ...rest };
  }

  /** Tables that belong to one journal. */
  const OWN_TABLES = [
    "copying",
    "assignments",
    "instances",
    "owner",
    "writer_sessions",
    "schema_version",
    "usage_bucket_parts",
    "document_counts",
  ];

  test("every table of both kinds is copied, or is known to be one's own", async () => {
    using directory = scratch();
    const path = join(directory.path, "a.db");
    fullJournal(path);
    const place = aPlace();
    await (await openJournal(place, "owner", { owner })).close();
    const found = await postgres.ask(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${place.schema}'`,
    );
    const known = new Set([...OWN_TABLES, ...COPIED_TABLES.map(({ name }) => name)]);
    expect(found.filter(({ name }) => !known.has(String(name)))).toEqual([]);
    expect(found.length).toBeGreaterThanOrEqual(COPIED_TABLES.length);
    expect([...rowsOf(path).keys()].filter((name) => !known.has(name))).toEqual([]);
  });

  test("there and back: every row, and the numbers that were given", async () => {
    using directory = scratch();
    const [from, back] = [join(directory.path, "a.db"), join(directory.path, "b.db")];
    fullJournal(from, 2 * ROWS_AT_ONCE + 3);
    const [place, other] = [aPlace(), aPlace()];
    const there = await copy(from, place);
    expect(there.difference).toBeUndefined();
    // A new journal that a daemon has looked at holds rows of its own, which nobody misses.
    await (await openJournal(other, "owner", { owner })).close();
    expect((await copy(place, other)).difference).toBeUndefined();
    expect((await copy(other, back)).difference).toBeUndefined();
    const expected = copiedRows(from);
    expected.set(
      "documents",
      (expected.get("documents") ?? []).map((text) => text.replace("a\\u0000b", "a\uFFFDb")),
    );
    expect(copiedRows(back)).toEqual(expected);
    for (const { name } of COPIED_TABLES) {
      const [row] = await postgres.ask(`SELECT count(*)::int AS n FROM ${other.schema}.${name}`);
      expect([name, row]).toEqual([name, { n: expected.get(name)?.length }]);
    }
    const [left] = await postgres.ask(
      `SELECT count(sender)::int + count(taken_by)::int + count(taken_until)::int AS taken
         FROM ${other.schema}.documents`,
    );
    expect(left).toEqual({ taken: 0 });
    const [guard] = await postgres.ask(
      `SELECT count(first_run_over_at)::int AS over FROM ${place.schema}.mirrors`,
    );
    expect(guard).toEqual({ over: 0 });
    for (const end of [place, other, back]) {
      await using journal = await openJournal(end, "owner", { owner });
      const add = { type: "add", document: appearing(1, "new.pdf") } as const;
      const [applied] = await journal.apply([add]);
      expect(applied?.document?.id).toBe(GREATEST_ID + 1);
      expect((await journal.mirror("third", "/srv/3")).id).toBe(3);
    }
    // Rows must refer to rows again.
    await expect(
      postgres.ask(`UPDATE ${place.schema}.documents SET supersedes = 77 WHERE id = 100`),
    ).rejects.toThrow(/documents_supersedes_fkey/);
  });

  test("half a copy in PostgreSQL is taken by nobody, and goes on", async () => {
    using directory = scratch();
    const from = join(directory.path, "a.db");
    fullJournal(from, 3 * ROWS_AT_ONCE);
    const place = aPlace();
    const at = ({ table, rows }: Advance) => table === "history" && rows >= 2 * ROWS_AT_ONCE;
    await expect(copy(from, place, at)).rejects.toThrow("stopped");
    for (const role of ["owner", "guest", "reader"] as const) {
      await expect(openJournal(place, role, { owner })).rejects.toMatchObject({
        code: "JOURNAL_UNFINISHED",
      });
    }
    const seen: Advance[] = [];
    expect((await copy(from, place, (each) => seen.push(each) < 0)).difference).toBeUndefined();
    expect(seen.filter(({ doing }) => doing === "copying")[0]).toMatchObject({
      table: "history",
      rows: 3 * ROWS_AT_ONCE,
    });
  });

  test("a change of one row in the copy is found", async () => {
    using directory = scratch();
    const from = join(directory.path, "a.db");
    fullJournal(from);
    const place = aPlace();
    const late = ({ doing }: Advance) => doing === "comparing";
    await expect(copy(from, place, late)).rejects.toThrow("stopped");
    await postgres.ask(`UPDATE ${place.schema}.usage_bucket_parts SET pages = pages + 1`);
    expect((await copy(from, place)).difference).toEqual({
      table: "usage_buckets",
      row: "at=0 mirror_id=1",
      what: ["pages"],
    });
  });

  test("what instances noted of themselves stays behind: here they are others", async () => {
    using directory = scratch();
    const [place, other] = [aPlace(), aPlace()];
    const path = join(directory.path, "a.db");
    await using journal = await openJournal(place, "owner", { owner });
    await journal.setKeyValue(awayKey(1, "a"), "{}");
    await journal.setKeyValue("notices", "{}");
    await journal.close();
    for (const [from, to] of [
      [place, other],
      [place, path],
    ] as const) {
      expect((await copy(from, to)).difference).toBeUndefined();
      await using copied = await openJournal(to, "reader");
      expect(await copied.keyValue(awayKey(1, "a"))).toBeNull();
      expect(await copied.keyValue("notices")).toBe("{}");
    }
  });

  test("a daemon that stood still from before a copy writes nothing after it", async () => {
    const [place, other] = [aPlace(), aPlace()];
    // Its clock stands still, as its process would: it renews nothing.
    const clock = new ManualClock(Date.now());
    await using still = await openJournal(place, "owner", { owner, clock });
    await expect(copy(place, other)).rejects.toMatchObject({ code: "JOURNAL_LOCKED" });
    await postgres.ask(`UPDATE ${place.schema}.instances SET lease_until = now()`);
    expect((await copy(place, other)).difference).toBeUndefined();
    await expect(still.setPaused(true)).rejects.toMatchObject({ code: "LEASE_LOST" });
  });

  test("no daemon starts on a journal while it is copied", async () => {
    const place = aPlace(900);
    await (await openJournal(place, "owner", { owner })).close();
    const held = await PostgresSide.open(place, false);
    try {
      // It waits for as long as an answer may take.
      await expect(openJournal(place, "owner", { owner })).rejects.toMatchObject({
        code: "JOURNAL_UNREACHABLE",
      });
    } finally {
      await held[Symbol.asyncDispose]();
    }
    await (await openJournal(place, "owner", { owner })).close();
  });
});
