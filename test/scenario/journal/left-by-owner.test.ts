/** What the next start concludes from what the last owner left, anyone who was there in between. */
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { UNCLEAN_KEYS } from "../../../src/journal/cluster.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { Child } from "./child-process.ts";
import { scratch } from "../../unit/journal/scratch.ts";

const OWNER = { pid: process.pid, startedAt: 1, version: "1.2.3" };

/** A journal whose owner was killed, after its first run. */
async function crashedAt(path: string): Promise<void> {
  {
    await using journal = await SqliteJournal.open({ path, role: "owner" });
    const { id } = await journal.mirror("scans", "/srv/scans");
    await journal.endFirstRun(id, 1);
  }
  await using child = new Child("own", path);
  expect(await child.line()).toBe("open");
  await child.kill();
}

async function startedAt(path: string): Promise<number[]> {
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  return await journal.firstRuns();
}

async function readAt(path: string): Promise<number[]> {
  await using journal = await SqliteJournal.open({ path, role: "reader" });
  return await journal.firstRuns();
}

async function pausedAt(path: string): Promise<void> {
  await using guest = await SqliteJournal.open({ path, role: "guest" });
  await guest.setPaused(true);
}

test("after a crash its own log tells that it is no copy: no first run begins", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await crashedAt(path);
  expect(await readAt(path)).toEqual([]);
  expect(await startedAt(path)).toEqual([]);
});

test("nor does one when commands wrote to it before the start, and their end removed the log", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await crashedAt(path);
  await pausedAt(path);
  await pausedAt(path);
  expect(await startedAt(path)).toEqual([]);
});

test("an end in disorder is remembered until the archive was asked, anyone who comes first; others are not", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const key = `${UNCLEAN_KEYS}1`;
  const isUnclean = async () => {
    await using journal = await SqliteJournal.open({ path, role: "owner" });
    return Boolean(await journal.keyValue(key));
  };
  expect([await isUnclean(), await isUnclean()]).toEqual([false, false]);
  for (const isWritten of [false, true]) {
    await crashedAt(path);
    if (isWritten) await pausedAt(path);
    expect([await isUnclean(), await isUnclean()]).toEqual([true, true]);
    await using guest = await SqliteJournal.open({ path, role: "guest" });
    await guest.setKeyValue(key, "");
  }
});

/** A copy of a journal whose daemon crashed, without its log, in place of another that had been started. */
async function copiedIn(directory: string): Promise<string> {
  const crashed = join(directory, "journal.db");
  const path = join(directory, "copy", "journal.db");
  await startedAt(path);
  await crashedAt(crashed);
  copyFileSync(crashed, path);
  return path;
}

test.for([
  [false, "the start"],
  [true, "a command that came before"],
] as const)("without its log it is a copy, command first: %s; told by %s", async ([isWritten]) => {
  using directory = scratch();
  const path = await copiedIn(directory.path);
  if (isWritten) await pausedAt(path);
  expect(await readAt(path)).toEqual([1]);
  expect(await startedAt(path)).toEqual([1]);
});

test("who looks next to the daemon that has it sees no copy, with a log or without", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await using owner = await SqliteJournal.open({ path, role: "owner", owner: OWNER });
  const { id } = await owner.mirror("scans", "/srv/scans");
  await owner.endFirstRun(id, 1);
  expect(await readAt(path)).toEqual([]);
  const db = new Database(path);
  db.pragma("wal_checkpoint(TRUNCATE)");
  expect(await readAt(path)).toEqual([]);
  db.close();
});

test("a log that someone made by opening a copy tells nothing", async () => {
  using directory = scratch();
  const path = await copiedIn(directory.path);
  const db = new Database(path, { readonly: true });
  db.prepare("SELECT paused FROM account").get();
  expect(existsSync(`${path}-wal`)).toBe(true);
  await pausedAt(path);
  expect(await startedAt(path)).toEqual([1]);
  db.close();
});
