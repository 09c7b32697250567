/** The main job over the whole daemon, and what most often stands in its way; more of each in the scenarios next to. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bytesOf, joinRaw } from "../../../src/std/raw-path.ts";
import { aDaemon } from "../../fixtures/a-daemon.ts";
import { audit, digestOf, rowsOf } from "../../fixtures/auditor.ts";
import { asiceOf, pdfOf, pngOf, tiffOf } from "../../fixtures/documents.ts";
import { until } from "../../fixtures/until.ts";
import { aWorld, type World } from "../../fixtures/world.ts";

const rowAt = async (world: World, path: string) =>
  (await rowsOf(world.journal)).find(
    (row) => row.current && bytesOf(joinRaw(row.dir, row.name)).toString() === path,
  );

test("a tree of documents is archived once, whole, in its folders, with true page counts", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026/May", "/Scans/Contracts"] });
  world.write("letter.pdf", pdfOf(2));
  world.write("2026/May/pages.tiff", tiffOf(3));
  world.write("2026/May/photo.png", pngOf(1));
  world.write("Contracts/signed.asice", asiceOf({ "a.txt": "one", "b.txt": "two" }));
  // Ready together, however long it takes to look at each.
  const batch = { quietMs: 60_000, maxDocuments: 200 };
  {
    await using live = await aDaemon(world.config({ batch }));
    await live.idle();
    const { documents } = await live.daemon.status();
    expect(documents).toMatchObject({ converted: 4, held: 0, failed: 0 });
  }
  expect(await audit(world)).toEqual([]);
  const pages = Object.fromEntries(world.archive.documents().map((d) => [d.filename, d.pages]));
  expect(pages).toMatchObject({ "letter.pdf": 2, "pages.tiff": 3, "photo.png": 1 });
  const signed = await rowAt(world, "Contracts/signed.asice");
  expect(signed).toMatchObject({ digidoc: true, state: "converted" });
  const batches = new Set(world.archive.documents().map(({ batch }) => batch));
  expect(batches.size, "what becomes ready together shares a batch").toBe(1);
});

test("a slow writer is waited for: with pauses longer than the quiet time, and never torn", async () => {
  await using world = await aWorld();
  const whole = pdfOf(6, { text: "page by page" });
  const file = join(world.source, "slow.pdf");
  await using _live = await aDaemon(world.config());
  const piece = Math.ceil(whole.length / 4);
  for (let at = 0; at < whole.length; at += piece) {
    appendFileSync(file, whole.subarray(at, at + piece));
    // Longer than `settle`: only the format tells that more is to come.
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await until("slow.pdf to be converted", async () => {
    return (await rowAt(world, "slow.pdf"))?.state === "converted";
  });
  expect(world.archive.documents().map(({ sha256 }) => sha256)).toEqual([digestOf(whole)]);
  expect(await audit(world)).toEqual([]);
});

test("a spent allowance stops everything, says so, and lets it go on when it is back", async () => {
  await using world = await aWorld({ quotaPages: 3 });
  for (let n = 0; n < 8; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  const began = performance.now();
  await using live = await aDaemon(world.config());
  await live.idle();
  // Every now and then one of them is on its way to find out whether the gate is open.
  const status = await until("all that waits to be held", async () => {
    const now = await live.daemon.status();
    return now.documents.held === 5 && now;
  });
  expect(status.documents).toMatchObject({ converted: 3, held: 5, pending: 0 });
  expect(status.quota.blockedSince).not.toBeNull();
  const asked = world.archive.requests().upload;
  // Each once before it closed, two probes at first, then one in half a second, however slow the machine is.
  const most = 8 + 2 + (performance.now() - began) / 500;
  expect(asked, "not every document hammers a closed gate").toBeLessThanOrEqual(most);
  world.archive.setQuota(undefined);
  await until("all converted", async () => {
    const { documents } = await live.daemon.status();
    return documents.converted === 8;
  });
  expect((await live.daemon.status()).gate).toBeNull();
  expect(await audit(world)).toEqual([]);
});

test.for([
  ["dropAfter", "the archive has it"],
  ["dropBefore", "the archive never had it"],
] as const)("a lost reply (%s) is settled before anything is sent again: %s", async ([fault]) => {
  await using world = await aWorld();
  world.archive.setFaults([{ on: "upload", do: fault }]);
  world.write("contract.pdf", pdfOf(2));
  {
    // What was stored may take its conversion's time until its size is known.
    const doubt = { windowMs: fault === "dropAfter" ? 10_000 : 1_000, toleranceMs: 60_000 };
    const config = world.config();
    await using live = await aDaemon({ ...config, upload: { ...config.upload, doubt } });
    await until("it to be converted", async () => {
      return (await live.daemon.status()).documents.converted === 1;
    });
  }
  expect(world.archive.documents()).toHaveLength(1);
  expect(await audit(world)).toEqual([]);
});
