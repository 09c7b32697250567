import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { CommitGroup } from "../../../src/embedded-archive/commit-group.ts";

function opened() {
  const db = new Database(":memory:");
  db.exec("CREATE TABLE entry (name TEXT NOT NULL UNIQUE) STRICT");
  const insert = db.prepare("INSERT INTO entry (name) VALUES (?)");
  const names = () => db.prepare("SELECT name FROM entry ORDER BY rowid").pluck().all();
  return { group: new CommitGroup(db), add: (name: string) => insert.run(name).changes, names };
}

test("what comes together is kept in its order, each with its own result", async () => {
  const { group, add, names } = opened();
  const results = await Promise.all(
    ["a", "b", "c"].map((name) => group.run({ run: () => add(name) && name })),
  );
  expect(results).toEqual(["a", "b", "c"]);
  expect(names()).toEqual(["a", "b", "c"]);
  await group.run({ run: () => add("d") });
  expect(names()).toEqual(["a", "b", "c", "d"]);
});

test("one that fails is undone whole and takes none of the others along", async () => {
  const { group, add, names } = opened();
  const failing = () => {
    add("half");
    return add("a");
  };
  const outcomes = await Promise.allSettled([
    group.run({ run: () => add("a") }),
    group.run({ run: failing }),
    group.run({ run: () => add("b") }),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(names()).toEqual(["a", "b"]);
});
