import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LARGE_BYTES } from "../../../src/domain/feed.ts";
import {
  DUE_QUERIES,
  OWN_QUERIES,
  QUERIES,
  TIDY_QUERIES,
} from "../../../src/journal/documents-table.ts";
import { LARGE_INDEX_BYTES } from "../../../src/journal/indexes.ts";
import { migrate } from "../../../src/journal/schema.ts";
import { Statements } from "../../../src/sqlite/statements.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { Desk, events } from "../../contract/journal-desk.ts";
import { scratch } from "./scratch.ts";

const directory = scratch();
let db: Database.Database;

beforeAll(() => {
  db = new Database(join(directory.path, "journal.db"));
  migrate(db);
});

afterAll(() => {
  db.close();
  directory[Symbol.dispose]();
});

/** What SQLite would do, without the indentation of its tree. */
function planOf(sql: string): string[] {
  const source = new Statements(db).sourceOf(sql);
  const named = Object.fromEntries([...source.matchAll(/@(\w+)/g)].map(([, name]) => [name, 1]));
  const values = source.includes("@") ? [named] : (source.match(/\?/g) ?? []).map(() => 1);
  return db
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${source}`)
    .all(...values)
    .map(({ detail }) => detail);
}

const { list, heldWith, heldFor, smallestHeld, ...texts } = QUERIES;

const all = {
  ...texts,
  heldWith: heldWith(2),
  heldFor: heldFor(2),
  smallestHeld: smallestHeld(2),
  ...OWN_QUERIES,
  ...DUE_QUERIES,
  ...Object.fromEntries(Object.entries(list).map(([name, text]) => [`list ${name}`, text])),
  ...TIDY_QUERIES,
};

describe("with a million rows", () => {
  test.for(Object.entries(all))("%s never reads the whole table", ([, sql]) => {
    const scans = planOf(sql).filter(
      (step) =>
        /SCAN (documents|n|history|directories)\b/.test(step) &&
        // An index alone is narrow; those of moved documents and of what may be in the archive
        // hold nothing else.
        !/COVERING INDEX|documents_(?:moved|conflicts)/.test(step),
    );
    expect(scans).toEqual([]);
  });

  /** What they sort is few rows, however many there are. */
  const BOUNDED: readonly string[] = [
    "underWay",
    "list inOrder",
    "ofBatches",
    "inBatch",
    "pagesUsed",
  ];

  test.for(Object.entries(all).filter(([name]) => !BOUNDED.includes(name)))(
    "%s reads its rows in order instead of sorting them",
    ([, sql]) => {
      expect(planOf(sql).filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
    },
  );

  test.for([
    ["outstanding", "documents_outstanding", "counted without a look at the rows"],
    ["withProblem", "documents_with_problem", "the same"],
    ["afterFailed", "documents_after_failed", "the same"],
    ["waitingFolders", "documents_waiting", "the same"],
  ] as const)("%s reads nothing but the index %s: %s", ([name, index]) => {
    expect(planOf(all[name]).join()).toContain(`USING COVERING INDEX ${index}`);
  });

  test("claimed finds its rows by their archive ids: asked for whole pages of the archive's list", () => {
    expect(planOf(QUERIES.claimed).join()).toContain("SEARCH n USING INDEX documents_archived");
  });

  test.for([
    ["any", "documents_due"],
    ["large", "documents_large"],
    ["newest", "documents_due"],
    ["newestLarge", "documents_large"],
  ] as const)("due documents: %s is served by %s", ([name, index]) => {
    expect(planOf(DUE_QUERIES[name]).join()).toContain(`INDEX ${index} (mirror_id=? AND state=?`);
  });

  test.for([
    ["counts", "COVERING INDEX documents_due (mirror_id=? AND state=?)"],
    ["pendingOver", "COVERING INDEX documents_due (mirror_id=? AND state=?)"],
    ["pagesUsed", "INDEX documents_conflicts"],
    ["pagesUsed", "PRIMARY KEY (at>? AND at<?)"],
  ] as const)("pages: %s is served by %s", ([name, index]) => {
    expect(planOf(all[name]).join()).toContain(`USING ${index}`);
  });

  test.for([
    ["moved", "documents_moved_last"],
    ["movedAway", "documents_moved"],
    ["ofBatches", "documents_batch"],
    ["inBatch", "documents_batch"],
  ] as const)("what happened lately: %s is served by %s", ([name, index]) => {
    expect(planOf(all[name]).join()).toContain(`USING INDEX ${index}`);
  });

  test("what was uploaded last is read from the end of an index", () => {
    expect(planOf(list.uploaded).join()).toContain("USING INDEX documents_uploaded");
  });

  test("moved documents are counted without a look at the rows", () => {
    const plan = planOf(QUERIES.movedCount).join();
    expect(plan).toContain("USING COVERING INDEX documents_moved_last");
  });

  test("what is held in doubt with a content is looked for among what has its code and size", () => {
    const range = "documents_held_by_size (archive_id=? AND problem_code=? AND size_bytes=?)";
    expect(planOf(QUERIES.sentWith).join()).toContain(range);
  });

  test("a content is found by an index that no change of state writes again", () => {
    const found = "INDEX documents_content (mirror_id=? AND <expr>=?)";
    expect(planOf(QUERIES.sentWith).join()).toContain(found);
    const ignored = "INDEX documents_ignored (mirror_id=? AND ignored_digest=?)";
    expect(planOf(QUERIES.ignoredWith).join()).toContain(ignored);
    const many = planOf(QUERIES.knownContents).join();
    for (const index of [found, ignored, "tombstones_digest (mirror_id=? AND digest=?)"])
      expect(many).toContain(index);
    const made = db.prepare("SELECT sql FROM sqlite_schema WHERE name = ?");
    expect(made.pluck().get("documents_content")).not.toContain("state");
  });

  test("large documents are looked for with the index of large ones", () => {
    expect(LARGE_BYTES).toBeGreaterThanOrEqual(LARGE_INDEX_BYTES);
  });
});

/** Indexes of documents: the text after ON, and what their rows have in common. */
function indexes(): { name: string; key: string; where: string }[] {
  const made = db.prepare<[], { name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'documents' AND sql IS NOT NULL",
  );
  return made.all().map(({ name, sql }) => {
    const [, key = "", where = "1"] =
      /ON documents\s*\((.*?)\)(?:\s+WHERE\s+(.*))?$/s.exec(sql.replaceAll(/--.*/g, "")) ?? [];
    return { name, key, where };
  });
}

test("each index is one that a query needs", () => {
  const plans = Object.values(all).map((sql) => planOf(sql).join());
  const unused = indexes().filter(
    ({ name }) => !plans.some((plan) => new RegExp(`${name}\\b`).test(plan)),
  );
  expect(unused.map(({ name }) => name)).toEqual([]);
});

/**
 * How often an ordinary life writes to the indexes: an entry that comes or goes counts once. Reasons:
 * - documents_due: what is due, and next, is asked of every state.
 * - documents_outstanding, documents_conflicts: what is under way, and never more than that.
 */
const WRITES: Readonly<Record<string, number>> = {
  documents_archived: 1,
  documents_batch: 1,
  documents_content: 1,
  documents_current: 1,
  documents_due: 9,
  documents_outstanding: 2,
  documents_conflicts: 2,
  documents_uploaded: 1,
};

test("an ordinary life writes an entry once in each index, but for what has a reason", async () => {
  using place = scratch();
  const path = join(place.path, "journal.db");
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  const desk = await Desk.at(journal);
  const { id } = await desk.add("a.pdf");
  const reader = new Database(path, { readonly: true });
  const all = indexes();
  const look = () =>
    all.map(({ key, where }) =>
      JSON.stringify(reader.prepare(`SELECT ${key} FROM documents WHERE (${where})`).raw().all()),
    );
  const looks = [all.map(() => "[]"), look()];
  for (const step of [
    events.settled(),
    events.claimed(),
    events.accepted(501),
    events.converted(),
  ]) {
    await desk.after(id, step);
    looks.push(look());
  }
  reader.close();
  const counted = all.map(({ name }, at) => {
    const entries = looks.map((each) => each[at] ?? "");
    const writes = entries.slice(1).map((entry, n) => {
      const before = entries[n] ?? "";
      return entry === before ? 0 : Number(entry !== "[]") + Number(before !== "[]");
    });
    return [name, writes.reduce((sum, each) => sum + each, 0)] as const;
  });
  expect(Object.fromEntries(counted.filter(([, writes]) => writes > 0))).toEqual(WRITES);
});

test("a statement is not planned again for each value", () => {
  const source = new Statements(db).sourceOf(QUERIES.sentWith);
  expect(source).toContain("n.mirror_id = +?");
});
