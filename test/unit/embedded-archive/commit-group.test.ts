import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { CommitGroup } from "../../../src/embedded-archive/store.ts";

function opened() {
  const db = new Database(":memory:");
  db.exec("CREATE TABLE entry (name TEXT NOT NULL UNIQUE) STRICT");
  const insert = db.prepare("INSERT INTO entry (name) VALUES (?)");
  const names = () => db.prepare("SELECT name FROM entry ORDER BY rowid").pluck().all();
  return { db, group: new CommitGroup(db), add: (name: string) => insert.run(name).changes, names };
}

test("what comes together is kept in its order, each with its own result", async () => {
  const { group, add, names } = opened();
  const results = await Promise.all(
    ["a", "b", "c"].map((name) => group.run(() => add(name) && name)),
  );
  expect(results).toEqual(["a", "b", "c"]);
  expect(names()).toEqual(["a", "b", "c"]);
  await group.run(() => add("d"));
  expect(names()).toEqual(["a", "b", "c", "d"]);
});

test("one that fails is undone whole and takes none of the others along", async () => {
  const { group, add, names } = opened();
  const failing = () => {
    add("half");
    return add("a");
  };
  const outcomes = await Promise.allSettled([
    group.run(() => add("a")),
    group.run(failing),
    group.run(() => add("b")),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(names()).toEqual(["a", "b"]);
});

test("the disk is waited for once a group, ahead of its commit; what follows comes in the same turn", async () => {
  const { db, add, names } = opened();
  const seen: string[] = [];
  const group = new CommitGroup(db, async () => {
    seen.push(`before ${names().length}`);
    await new Promise((resolve) => setImmediate(resolve));
  });
  const run = (name: string) =>
    group.run(
      () => add(name),
      () => seen.push(`after ${name}: ${names().length}`),
    );
  const first = [run("a"), run("b")];
  // While the first group waits for the disk, the next one gathers.
  await new Promise((resolve) => setImmediate(resolve));
  const second = [run("c"), run("d")];
  await Promise.all([...first, ...second]);
  expect(seen).toEqual([
    "before 0",
    "after a: 2",
    "after b: 2",
    "before 2",
    "after c: 4",
    "after d: 4",
  ]);
});

test("a disk that fails keeps nothing of the group, and the next one is tried", async () => {
  const { db, add, names } = opened();
  let isBroken = true;
  const group = new CommitGroup(db, () =>
    isBroken ? Promise.reject(new Error("no space left")) : Promise.resolve(),
  );
  await expect(group.run(() => add("a"))).rejects.toThrow("no space left");
  expect(names()).toEqual([]);
  isBroken = false;
  await group.run(() => add("b"));
  expect(names()).toEqual(["b"]);
});
