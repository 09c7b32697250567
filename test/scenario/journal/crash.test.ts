import { join } from "node:path";
import { expect, test } from "vitest";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { Child } from "./child-process.ts";
import { scratch } from "../../unit/journal/scratch.ts";

test("after SIGKILL in the middle of writing, every acknowledged row is there", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const acknowledged: number[] = [];
  for (const rows of [1, 40, 333]) {
    await using child = new Child("write", path);
    expect(await child.line()).toBe("open");
    for (let n = 0; n < rows; n++) acknowledged.push(Number(await child.line()));
    child.process.kill("SIGKILL");
    for (let line = await child.line(); line !== undefined; line = await child.line()) {
      acknowledged.push(Number(line));
    }
    await child.ended;
    await using journal = await SqliteJournal.open({ path, role: "owner" });
    const kept = new Set<number>();
    for await (const { id } of journal.list({})) kept.add(id);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    // At most the three writes that were under way were kept without being acknowledged.
    expect(kept.size - acknowledged.length).toBeLessThanOrEqual(3 * 3);
  }
});

test("a disk that refuses a write ends the journal: everything after it is refused", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await (await SqliteJournal.open({ path, role: "owner" })).close();
  // No file may grow beyond this many blocks of 512 or 1024 bytes: the write fails with EFBIG.
  await using child = new Child("write", path, "ulimit -f 800");
  expect(await child.line()).toBe("open");
  const lines: string[] = [];
  for (let line = await child.line(); line !== undefined; line = await child.line()) {
    lines.push(line);
  }
  const firstRefusal = lines.findIndex((line) => !/^\d+$/.test(line));
  expect(firstRefusal).toBeGreaterThan(0);
  expect(new Set(lines.slice(firstRefusal))).toEqual(new Set(["JOURNAL_BROKEN"]));
  expect(lines.slice(firstRefusal)).toHaveLength(6);
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  for (const id of lines.slice(0, firstRefusal)) {
    expect(await journal.document(Number(id))).toBeDefined();
  }
});
