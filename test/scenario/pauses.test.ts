/**
 * Scanners write a page, close the file, and open it again for the next one after 0.2 to 8 seconds.
 * Here a settle time of 3 s is scaled down to 600 ms, and the pauses with it.
 */
import { appendFileSync, utimesSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { audit, digestOf } from "../fixtures/auditor.ts";
import { pdfOf, tiffOf } from "../fixtures/documents.ts";
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
  ["scan.tif", TIFF, [4_000, 8_000, 200], "the same for a TIFF, whose pages are pointed at"],
  ["scan.pdf", PDF, [8_000, 8_000, 8_000, 8_000], "somebody feeds page after page by hand"],
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
      await running.quiescent();
      expect(world.archive.documents()).toMatchObject([{ sha256: digestOf(bytes) }]);
      const uploads = world.archive.requests().find(({ operation }) => operation === "upload");
      expect(uploads?.count).toBe(1);
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
  await running.quiescent();
  expect(world.archive.documents()).toMatchObject([{ sha256: digestOf(PDF) }]);
});
