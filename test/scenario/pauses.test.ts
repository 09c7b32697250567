/**
 * Scanners write a page, close the file, and open it again for the next one after 0.2 to 8 seconds.
 * Here a settle time of 3 s is scaled down to 600 ms, and the pauses with it.
 */
import { appendFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Daemon } from "../../src/daemon/daemon.ts";
import type { Document } from "../../src/domain/document.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { audit, digestOf, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf, tiffOf } from "../fixtures/documents.ts";
import { appendPage, pdfByPages, tiffByPages } from "../fixtures/feeder.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";

const SETTLE_MS = 600;
/** Real milliseconds of a pause, scaled as `settle` is. */
const scaled = (ms: number) => (ms * SETTLE_MS) / 3_000;

/** How far the times of files may lie behind. */
const TICK_MS = 20;

const PDF = pdfOf(6);
const TIFF = tiffOf(6);
/** No format to tell an end by. */
const TEXT = Buffer.from("a line of a protocol\n".repeat(60));

test.for([
  ["scan.pdf", PDF, [200, 200, 200, 200], "a fast feeder"],
  ["scan.pdf", PDF, [1_000, 2_000, 500, 1_500], "pages of different effort"],
  ["scan.txt", TEXT, [200, 1_000, 1_800, 200], "no format to tell an end, but settle is longer"],
  ["scan.pdf", PDF, [4_000, 8_000], "longer than settle: its own format says it is unfinished"],
  ["scan.tif", TIFF, [4_000, 8_000, 200], "the same for a TIFF that is copied in pieces"],
  ["scan.pdf", PDF, [8_000, 8_000, 8_000, 8_000], "someone feeds page after page by hand"],
] as const)(
  "%# $0 is sent once and whole after pauses of $2 ms: $3",
  async ([name, bytes, pauses]) => {
    // A machine that stops makes pauses of its own, and a file without a format rightly goes in them.
    const isMeant = (longestMs: number) => name !== "scan.txt" || longestMs < SETTLE_MS - TICK_MS;
    for (;;) {
      await using world = await aWorld();
      await using running = await aDaemon(
        world.config({}, { settleMs: SETTLE_MS, incompleteMs: 60_000 }),
      );
      const path = world.write(name, "");
      const { longestMs, early } = await writeSlowly(world, path, bytes, pauses);
      if (!isMeant(longestMs)) continue;
      expect(early).toEqual([]);
      await until("the document", () => world.archive.documents().length > 0);
      await running.idle();
      expect(world.archive.documents()).toMatchObject([{ sha256: digestOf(bytes) }]);
      expect(world.archive.requests().upload).toBe(1);
      expect(await audit(world)).toEqual([]);
      return;
    }
  },
);

/** Resolves with the longest time in which the file may have been as it was, and what was archived before its end. */
async function writeSlowly(world: World, path: string, bytes: Buffer, pauses: readonly number[]) {
  const cut = Math.ceil(bytes.length / (pauses.length + 1));
  let since = performance.now();
  let longestMs = 0;
  const early: string[] = [];
  writeFileSync(path, bytes.subarray(0, cut));
  for (const [index, pause] of pauses.entries()) {
    await delay(scaled(pause));
    early.push(...world.archive.documents().map(({ filename }) => filename));
    const at = performance.now();
    appendFileSync(path, bytes.subarray((index + 1) * cut, (index + 2) * cut));
    longestMs = Math.max(longestMs, performance.now() - since);
    since = at;
  }
  return { longestMs, early };
}

test("what a copy that was cut off left behind waits for its rest", async () => {
  await using world = await aWorld();
  await using running = await aDaemon(world.config({}, { settleMs: SETTLE_MS }));
  const path = world.write("scan.pdf", PDF.subarray(0, PDF.length / 2));
  // As `rsync --partial` does; robocopy says 1980.
  utimesSync(path, 0, 0);
  await delay(4 * SETTLE_MS);
  expect(world.archive.documents()).toEqual([]);
  writeFileSync(path, PDF);
  await until("the document", () => world.archive.documents().length > 0);
  await running.idle();
  expect(world.archive.documents()).toMatchObject([{ sha256: digestOf(PDF) }]);
});

test.for([
  ["tif", tiffByPages(4)],
  ["pdf", pdfByPages(4)],
] as const)(
  "a feeder that appends page by page to a .%s: sent too early once, then one document a stack",
  async ([ext, pages]) => {
    for (;;) {
      await using world = await aWorld();
      const config = world.config({}, { settleMs: SETTLE_MS });
      const stack = join(world.source, `first.${ext}`);
      {
        await using running = await aDaemon(config);
        appendPage(stack, undefined, pages[0] as Buffer);
        await until("the first page, which nothing tells from a document", () => {
          return world.archive.documents().length > 0;
        });
        await feed(stack, pages.slice(1), pages[0]);
        const whole = digestOf(pages.at(-1) as Buffer);
        await until("all of it", () => {
          return world.archive.documents().some(({ sha256 }) => sha256 === whole);
        });
        await running.idle();
        const [early] = await recordsOf(running.daemon);
        expect(early).toMatchObject({
          state: "converted",
          remark: expect.stringMatching(/^sent too early: more was appended \d+ s later/),
        });
      }
      const sentBefore = world.archive.documents().length;
      await using running = await aDaemon(config);
      const { learnedSettle } = (await running.daemon.status()).mirrors[0] ?? {};
      const longestMs = await feed(join(world.source, `second.${ext}`), pages);
      // A machine that stops makes longer pauses of its own.
      if (longestMs > (learnedSettle?.settleMs ?? 0) - TICK_MS) continue;
      await until("it", () => world.archive.documents().length > sentBefore);
      await running.idle();
      const sha256 = digestOf(pages.at(-1) as Buffer);
      expect(world.archive.documents().slice(sentBefore)).toMatchObject([{ sha256 }]);
      const found = await audit(world);
      expect(found.filter((line) => !line.startsWith(`first.${ext}: `))).toEqual([]);
      return;
    }
  },
);

/** Page after page, with pauses that are longer than `settle`; resolves with the longest. */
async function feed(path: string, pages: readonly Buffer[], from?: Buffer): Promise<number> {
  let before = from;
  let longestMs = 0;
  for (const page of pages) {
    const since = performance.now();
    if (before) await delay(1.5 * SETTLE_MS);
    appendPage(path, before, page);
    if (before) longestMs = Math.max(longestMs, performance.now() - since);
    before = page;
  }
  return longestMs;
}

async function recordsOf({ journal }: Daemon): Promise<Document[]> {
  const all: Document[] = [];
  for await (const document of journal.list({})) all.push(document);
  return all;
}

test("what is downloaded in parts, head and tail first, waits for its middle and for its companion to go", async () => {
  await using world = await aWorld();
  await using running = await aDaemon(
    world.config({}, { settleMs: SETTLE_MS, incompleteMs: 60_000 }),
  );
  const isUnfinished = async (why: RegExp) => {
    const problems = (await rowsOf(world.journal)).map(({ problem }) => problem);
    return problems.some((each) => each?.code === "FILE_UNFINISHED" && why.test(each.message));
  };
  const bytes = Buffer.concat([
    Buffer.from("%PDF-1.4\n1 0 obj\n<< >>\nstream\n"),
    Buffer.alloc(100_000, "% a line of a page\n"),
    Buffer.from("\nendstream\nendobj\nstartxref\n9\n%%EOF\n"),
  ]);
  const companion = world.write("scan.pdf.aria2", "\0\x01");
  const torn = Buffer.from(bytes).fill(0, 16_384, 65_536);
  const path = world.write("scan.pdf", torn);
  await until("the companion is named", () => isUnfinished(/aria2 stands next to it/));
  rmSync(companion);
  writeFileSync(path, torn);
  await until("what is missing is named", () => isUnfinished(/49152 bytes from byte 16384 on/));
  expect(world.archive.documents()).toEqual([]);
  writeFileSync(path, bytes);
  await until("the document", () => world.archive.documents().length > 0);
  await running.idle();
  expect(world.archive.documents()).toMatchObject([{ sha256: digestOf(bytes) }]);
});
