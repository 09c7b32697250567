/** What campaigns make of a document that is there twice: the archive's lateness, or a broken promise. */
import { expect, test } from "vitest";
import { LateStores } from "../../campaigns/late-stores.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { audit, doubledIn } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { aWorld } from "../fixtures/world.ts";

test.for([
  [300, true, "it was stored after its window: that is the archive's lateness, as documented"],
  [60_000, false, "it was stored within its window: sending it again broke a promise"],
] as const)("judged by a window of %i ms, late is %j, because %s", async ([windowMs, isLate]) => {
  const late = new LateStores(windowMs);
  await using world = await aWorld({
    faults: [{ do: "storeLate", ms: 3_000, on: "upload" }],
    onStored: late.note,
  });
  const { upload } = world.config();
  const doubt = { windowMs: 300, toleranceMs: 60_000 };
  world.write("scan.pdf", pdfOf(1, { seed: 1 }));
  {
    await using running = await aDaemon(world.config({ upload: { ...upload, doubt } }));
    await running.quiescent();
    await world.archive.idle();
  }
  await late.measure(world);
  const [twice] = doubledIn(world);
  expect(twice?.documents).toHaveLength(2);
  if (twice === undefined) return;
  expect(late.longestMs).toBeGreaterThan(2_000);
  expect([late.isVoid, late.explains(twice)]).toEqual([isLate, isLate]);
  const stranger = (await audit(world)).filter((line) => line.includes("belongs to no row"));
  expect(stranger.map((line) => late.isAbout(line))).toEqual([isLate]);
  expect(late.tell(twice.documents)).toMatch(
    /ms after its reply was lost.*[\s\S]*absent[\s\S]*attempt/,
  );
});
