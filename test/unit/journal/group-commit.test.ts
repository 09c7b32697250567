import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { GroupCommit, type Flush } from "../../../src/journal/group-commit.ts";
import type { BlockageOptions } from "../../../src/journal/blockage.ts";
import { type Clock, systemClock } from "../../../src/std/clock.ts";
import { InvariantError } from "../../../src/std/fault.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { until } from "../../fixtures/until.ts";
import { scratch } from "./scratch.ts";

const NO_DISK: Flush = async () => {};

function open(
  path: string,
  clock: Clock = systemClock,
  waits: BlockageOptions = {},
  sync: Flush = NO_DISK,
) {
  const db = new Database(join(path, "numbers.db"), { timeout: 20 });
  db.pragma("journal_mode = WAL");
  db.exec("CREATE TABLE IF NOT EXISTS numbers (n INTEGER PRIMARY KEY, ballast BLOB) STRICT");
  const commits = new GroupCommit(db, "numbers.db", clock, sync, waits);
  const insert = db.prepare("INSERT INTO numbers (n, ballast) VALUES (?, zeroblob(?))");
  return {
    db,
    commits,
    add: (n: number, bytes = 0) => commits.enqueue(() => insert.run(n, bytes).changes),
    numbers: () => db.prepare<[], number>("SELECT n FROM numbers ORDER BY n").pluck().all(),
    [Symbol.dispose]: () => db.close(),
  };
}

test("writes run in the order they were issued, and are told in that order", async () => {
  using directory = scratch();
  using store = open(directory.path);
  const ran: number[] = [];
  const told: string[] = [];
  const write = (n: number) =>
    store.commits
      .enqueue(
        () => ran.push(n),
        () => told.push(`committed ${n}`),
      )
      .then(() => told.push(`resolved ${n}`));
  await Promise.all([write(1), write(2), write(3)]);
  expect(ran).toEqual([1, 2, 3]);
  expect(told).toEqual([
    "committed 1",
    "committed 2",
    "committed 3",
    "resolved 1",
    "resolved 2",
    "resolved 3",
  ]);
});

test("a write that breaks a rule is undone alone", async () => {
  using directory = scratch();
  using store = open(directory.path);
  const outcomes = await Promise.allSettled([
    store.add(1),
    store.add(1),
    store.commits.enqueue(() => {
      store.db.exec("INSERT INTO numbers (n) VALUES (7)");
      throw new InvariantError("on second thoughts");
    }),
    store.add(2),
  ]);
  const statuses = outcomes.map(({ status }) => status);
  expect(statuses).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
  expect(outcomes[1]).toMatchObject({ reason: expect.any(InvariantError) });
  expect(store.numbers()).toEqual([1, 2]);
});

test("a full disk refuses its group, whole; when there is room again, writes go on", async () => {
  using directory = scratch();
  using store = open(directory.path);
  await store.add(1);
  store.db.pragma("max_page_count = 20");
  const refused = await Promise.allSettled([store.add(2), store.add(3, 1_000_000), store.add(4)]);
  expect(refused).toMatchObject(refused.map(() => ({ reason: { code: "JOURNAL_FULL" } })));
  expect(store.numbers()).toEqual([1]);
  store.db.pragma("max_page_count = 10000");
  await store.add(3, 1_000_000);
  expect(store.numbers()).toEqual([1, 3]);
});

test("what is issued can be read at once, and by others only once it is committed", async () => {
  using directory = scratch();
  using store = open(directory.path);
  using other = open(directory.path);
  let durable = false;
  const write = store.add(1).then(() => {
    durable = true;
  });
  await store.commits.settle();
  expect({ own: store.numbers(), others: other.numbers(), durable }).toEqual({
    own: [1],
    others: [],
    durable: false,
  });
  await store.commits.drain();
  expect(other.numbers()).toEqual([1]);
  await write;
});

test("what was read before its commit is undone with its group", async () => {
  using directory = scratch();
  using store = open(directory.path);
  store.db.pragma("max_page_count = 20");
  const first = store.add(1);
  await store.commits.settle();
  expect(store.numbers()).toEqual([1]);
  const second = store.add(2, 1_000_000);
  const refused = await Promise.allSettled([first, second]);
  expect(refused).toMatchObject(refused.map(() => ({ reason: { code: "JOURNAL_FULL" } })));
  expect(store.numbers()).toEqual([]);
});

test("after a commit of several there is a pause three times as long as it took, for others to join", async () => {
  using directory = scratch();
  const clock = new ManualClock();
  let waitedMs = 0;
  using store = open(directory.path, {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + waitedMs,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    alarm: (ms, notify) => clock.alarm(ms, notify),
  });
  const exec = store.db.exec.bind(store.db);
  store.db.exec = (sql) => {
    if (sql === "COMMIT") waitedMs += 10;
    return exec(sql);
  };
  using other = open(directory.path);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await Promise.all([store.add(1), store.add(2)]);
  const later = [store.add(3), store.add(4)];
  for (let turns = 0; turns < 3; turns++) await turn();
  await clock.advance(29);
  expect(other.numbers()).toEqual([1, 2]);
  await clock.advance(1);
  await Promise.all(later);
  expect(other.numbers()).toEqual([1, 2, 3, 4]);
});

test("writes are acknowledged once the disk has them; those behind them gather meanwhile", async () => {
  using directory = scratch();
  const syncs: PromiseWithResolvers<void>[] = [];
  const sync = () => {
    const begun = Promise.withResolvers<void>();
    syncs.push(begun);
    return begun.promise;
  };
  using store = open(directory.path, systemClock, {}, sync);
  using other = open(directory.path);
  const acknowledged: number[] = [];
  const add = (n: number) => store.add(n).then(() => acknowledged.push(n));
  const first = add(1);
  await until("a sync", () => syncs.length === 1);
  expect({ written: other.numbers(), acknowledged }).toEqual({ written: [1], acknowledged: [] });
  const rest = [add(2), add(3)];
  await store.commits.settle();
  expect({ own: store.numbers(), others: other.numbers() }).toEqual({
    own: [1, 2, 3],
    others: [1],
  });
  const drained = store.commits.drain().then(() => [...acknowledged]);
  syncs[0]?.resolve();
  await first;
  await until("the next sync", () => syncs.length === 2);
  expect(acknowledged).toEqual([1]);
  syncs[1]?.resolve();
  await Promise.all(rest);
  expect(await drained).toEqual([1, 2, 3]);
});

test("a sync that fails says nothing about what reached the disk: everything is refused", async () => {
  using directory = scratch();
  const sync = () =>
    Promise.reject(Object.assign(new Error("input/output error"), { code: "EIO" }));
  using store = open(directory.path, systemClock, {}, sync);
  const first = store.add(1);
  await expect(first).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  await expect(store.add(2)).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  await expect(store.commits.settle()).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
});

test("one writer by himself is not kept waiting", async () => {
  using directory = scratch();
  const clock = new ManualClock();
  using store = open(directory.path, {
    now: () => clock.now(),
    monotonic: () => performance.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    alarm: (ms, notify) => clock.alarm(ms, notify),
  });
  for (let n = 1; n <= 20; n++) await store.add(n);
  expect(store.numbers()).toHaveLength(20);
});

test("a write waits while another process has the lock, and the event loop goes on", async () => {
  using directory = scratch();
  using store = open(directory.path);
  using other = open(directory.path);
  other.db.exec("BEGIN IMMEDIATE");
  const write = store.add(1);
  const drained = store.commits.drain();
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
  other.db.exec("ROLLBACK");
  await Promise.all([write, drained]);
  expect(store.numbers()).toEqual([1]);
});

/** Ten minutes in a second. */
const swift: Clock = {
  ...systemClock,
  monotonic: () => systemClock.monotonic() * 600,
};

test("a lock that is never given back is told in the end, and refuses nothing else", async () => {
  using directory = scratch();
  using store = open(directory.path, swift);
  using other = open(directory.path);
  other.db.exec("BEGIN IMMEDIATE");
  await expect(store.add(1)).rejects.toMatchObject({ code: "JOURNAL_BUSY" });
  other.db.exec("ROLLBACK");
  await expect(store.add(2)).resolves.toBe(1);
});

test("a daemon waits for a lock for as long as it takes, told once, and ends within its time", async () => {
  using directory = scratch();
  using other = open(directory.path);
  const stopping = new AbortController();
  const told: string[] = [];
  const waits = {
    patience: { signal: stopping.signal, lastMs: 60_000 },
    tell: ({ type }: { type: string }) => told.push(type),
  };
  using store = open(directory.path, swift, waits);
  other.db.exec("BEGIN IMMEDIATE");
  const first = store.add(1);
  await systemClock.sleep(300, new AbortController().signal);
  expect(told).toEqual(["away"]);
  other.db.exec("ROLLBACK");
  await first;
  expect(told).toEqual(["away", "back"]);
  other.db.exec("BEGIN IMMEDIATE");
  const second = store.add(2);
  stopping.abort();
  await expect(second).rejects.toMatchObject({ code: "JOURNAL_BUSY" });
  await expect(store.add(3), "nothing waits twice").rejects.toMatchObject({ code: "JOURNAL_BUSY" });
});

test("after what cannot be trusted everything is refused, queued or not", async () => {
  using directory = scratch();
  using store = open(directory.path);
  const broken = Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_FSYNC" });
  const failing = store.commits.enqueue(() => {
    throw broken;
  });
  const sameGroup = store.add(1);
  await expect(failing).rejects.toMatchObject({ code: "JOURNAL_BROKEN", cause: broken });
  await expect(sameGroup).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  await expect(store.add(2)).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  await expect(store.commits.drain()).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  expect(store.numbers()).toEqual([]);
});
