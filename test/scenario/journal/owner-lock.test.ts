import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openJournal } from "../../../src/journal/open-journal.ts";
import { ownerOf } from "../../../src/journal/owner-lock.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { Child } from "./child-process.ts";
import { scratch } from "../../unit/journal/scratch.ts";

test("a second daemon is refused and told who the first is; SIGKILL frees the journal", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await using child = new Child("own", path);
  expect(await child.line()).toBe("open");
  const { pid } = child.process;
  const second = SqliteJournal.open({ path, role: "owner" });
  await expect(second).rejects.toMatchObject({
    code: "JOURNAL_LOCKED",
    message: `journal ${path}: in use by process ${pid}`,
  });
  expect(await ownerOf(path)).toEqual({
    pid,
    web: "http://127.0.0.1:8470",
    startedAt: 1,
    version: "0.1.0",
  });
  await child.kill();
  expect(await ownerOf(path)).toBeUndefined();
  const owner = { pid: 1, startedAt: 2, version: "0.2.0" };
  await using journal = await SqliteJournal.open({ path, role: "owner", owner });
  expect(await ownerOf(path)).toEqual(owner);
  await journal.announce({ ...owner, web: "http://[::1]:1" });
  expect(await ownerOf(path)).toMatchObject({ web: "http://[::1]:1" });
});

test("a daemon tells where its page is, once that listens", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const owner = { pid: 1, startedAt: 2, version: "0.2.0" };
  await using journal = await openJournal(path, "owner", { owner });
  await journal.announcePage("http://127.0.0.1:40001");
  expect(await ownerOf(path)).toEqual({ ...owner, web: "http://127.0.0.1:40001" });
});

test("asking who owns a journal does not take it", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  expect(await ownerOf(path)).toBeUndefined();
  await (await SqliteJournal.open({ path, role: "owner" })).close();
  await Promise.all([ownerOf(path), ownerOf(path)]);
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  expect(journal.isNew).toBe(false);
});

test("a guest and a reader work next to the daemon, and without one", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const child = new Child("own", path);
  await using _ = child;
  expect(await child.line()).toBe("open");
  const setAndRead = async (paused: boolean) => {
    await using guest = await SqliteJournal.open({ path, role: "guest" });
    await using reader = await SqliteJournal.open({ path, role: "reader" });
    await guest.setPaused(paused);
    await expect(reader.setPaused(true)).rejects.toMatchObject({ code: "JOURNAL_READ_ONLY" });
    return await reader.paused();
  };
  expect(await setAndRead(true)).toBe(true);
  await child.kill();
  expect(await setAndRead(false)).toBe(false);
  await (await SqliteJournal.open({ path, role: "owner" })).close();
  expect(await setAndRead(true)).toBe(true);
});

test.for([
  ["its lock file is removed", (path: string) => rmSync(`${path}.lock`)],
  ["it is removed", (path: string) => rmSync(path)],
  ["a copy takes its place", (path: string) => renameSync(`${path}.copy`, path)],
] as const)("an owner refuses everything once %s: another one may own it now", async ([, act]) => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const journal = await SqliteJournal.open({ path, role: "owner" });
  cpSync(path, `${path}.copy`);
  await journal.outsideWrites();
  act(path);
  await expect(journal.outsideWrites()).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  await expect(journal.setPaused(true)).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  await journal.close();
});
