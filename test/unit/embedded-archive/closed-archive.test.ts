import { mkdir, readFile, rm, truncate, writeFile, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CheckTotal, ClosedArchive } from "../../../src/embedded-archive/closed-archive.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { ArchiveUnderTest, outcomeOf } from "../../contract/conformance/archive-under-test.ts";
import { asiceOf, pdfOf } from "../../fixtures/documents.ts";
import Database from "better-sqlite3";

/** A closed archive with three documents; the first two have the same bytes. */
async function aClosed() {
  const under = await ArchiveUnderTest.open({ folders: ["/A"] });
  await under.store("a.txt", "the same");
  await under.store("b.txt", "the same", { path: "/A" });
  await under.store("c.asice", asiceOf({ "x.pdf": pdfOf(2) }));
  await under.archive.idle();
  await under.archive.close();
  return under;
}

async function findings(dataDir: string): Promise<string[]> {
  const total: CheckTotal = { documents: 0, blobs: 0, bytes: 0 };
  await using closed = await ClosedArchive.open(dataDir, systemClock);
  const found: string[] = [];
  for await (const { what } of closed.check(total)) found.push(what);
  expect(total.documents).toBe(3);
  return found.sort();
}

describe("the check", () => {
  test("of a whole archive finds nothing, and reads everything", async () => {
    await using under = await aClosed();
    await using closed = await ClosedArchive.open(under.dataDir, systemClock);
    const total: CheckTotal = { documents: 0, blobs: 0, bytes: 0 };
    for await (const finding of closed.check(total)) expect(finding).toBeUndefined();
    expect(total).toMatchObject({ documents: 3, blobs: 2 });
  });

  test.for([
    [async ([blob = ""]: string[]) => rm(blob), ["missing"], "a blob is gone"],
    [async ([blob = ""]: string[]) => truncate(blob, 3), ["damaged"], "cut short"],
    [async ([blob = ""]: string[]) => writeFile(blob, "THE SAME"), ["damaged"], "other bytes"],
    [
      async (_: string[], dir: string) => writeFile(join(dir, "blobs", "00", "0".repeat(64)), "x"),
      ["orphan"],
      "bytes without a row",
    ],
    [
      async (_: string[], dir: string) => writeFile(join(dir, "incoming", "half"), "x"),
      ["temporary"],
      "an upload that broke off",
    ],
    [
      async ([blob = ""]: string[], dir: string) => rename(blob, join(dir, "incoming", "whole")),
      ["temporary"],
      "the move to its place was lost: the next start makes it",
    ],
    [
      async (_: string[], dir: string) => writeFile(join(dir, "blobs", "notes"), "x"),
      ["foreign"],
      "someone's notes",
    ],
    [
      async (_: string[], dir: string) => sql(dir, "UPDATE account SET pages_used = 99"),
      ["charges"],
      "pages that no document has",
    ],
  ] as [(blobs: string[], dir: string) => Promise<void>, string[], string][])(
    "case %#: %j: %s",
    async ([harm, expected]) => {
      await using under = await aClosed();
      await harm(under.stored(), under.dataDir);
      expect(await findings(under.dataDir)).toEqual(expected);
      // It changed nothing.
      expect(await findings(under.dataDir)).toEqual(expected);
    },
  );

  test("what else lies there is named, and stops no start", async () => {
    await using under = await aClosed();
    await symlink("/nowhere/at/all", join(under.dataDir, "blobs", "link"));
    expect(await findings(under.dataDir)).toEqual(["foreign"]);
    const again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
    await again.archive.close();
  });

  test("what a crash leaves is gone after the next start, and everything has its bytes", async () => {
    await using under = await aClosed();
    const [blob = ""] = under.stored();
    await rename(blob, join(under.dataDir, "incoming", "whole"));
    await writeFile(join(under.dataDir, "incoming", "half"), "x");
    await mkdir(join(under.dataDir, "blobs", "ff"), { recursive: true });
    await writeFile(join(under.dataDir, "blobs", "ff", "f".repeat(64)), "x");
    expect(await findings(under.dataDir)).toEqual(["orphan", "temporary", "temporary"]);
    const again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
    await again.archive.close();
    expect(await findings(under.dataDir)).toEqual([]);
    expect(await readFile(blob, "utf8")).toBe("the same");
  });
});

describe("a closed archive", () => {
  test("lists and exports", async () => {
    await using under = await aClosed();
    await using closed = await ClosedArchive.open(under.dataDir, systemClock);
    const [a, b] = closed.documents();
    expect([a?.folderPath, b?.folderPath]).toEqual(["/", "/A"]);
    const file = join(under.dataDir, "exported");
    expect(await closed.export(b?.id ?? 0, file)).toMatchObject({ filename: "b.txt" });
    expect(await readFile(file, "utf8")).toBe("the same");
    const refused = { code: "EMBEDDED_ARCHIVE_OPTIONS" };
    await expect(closed.export(b?.id ?? 0, file)).rejects.toMatchObject(refused);
    await expect(closed.export(999, `${file}2`)).rejects.toMatchObject(refused);
    await truncate(under.stored()[0] ?? "", 3);
    await expect(closed.export(b?.id ?? 0, `${file}3`)).rejects.toThrow(/damaged/);
  });

  test("makes folders and sets allowances for the next run", async () => {
    await using under = await aClosed();
    const change = async (work: (closed: ClosedArchive) => void) => {
      await using closed = await ClosedArchive.open(under.dataDir, systemClock);
      work(closed);
    };
    await change((closed) => {
      closed.createFolder("/New/Deep");
      closed.setQuota(4);
      expect(() => closed.createFolder("New")).toThrow(/path/);
      expect(() => closed.setQuota(1, "nobody")).toThrow(/account/);
    });
    const upload = async (quotaPages?: number) => {
      // Closed and not disposed of: the directory is for the runs after it, too.
      const again = await ArchiveUnderTest.open({ dataDir: under.dataDir, quotaPages });
      const fields = { filename: "d.pdf", path: "/New/Deep" };
      const outcome = outcomeOf(await again.upload(fields, pdfOf(2)));
      await again.archive.close();
      return outcome;
    };
    expect(await upload(100)).toBe("QUOTA_LIMIT");
    await change((closed) => closed.setQuota("default"));
    expect(await upload(100)).toBe("OK");
  });

  test("is not one that runs, and not any directory", async () => {
    await using under = await ArchiveUnderTest.open();
    const running = ClosedArchive.open(under.dataDir, systemClock);
    await expect(running).rejects.toMatchObject({ code: "EMBEDDED_ARCHIVE_IN_USE" });
    const none = ClosedArchive.open(join(under.dataDir, "blobs"), systemClock);
    await expect(none).rejects.toMatchObject({ code: "EMBEDDED_ARCHIVE_OPTIONS" });
  });
});

async function sql(dir: string, text: string): Promise<void> {
  const db = new Database(join(dir, "archive.db"));
  db.exec(text);
  db.close();
}
