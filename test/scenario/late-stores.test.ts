/** What campaigns make of a document that is there twice: the archive's lateness, or a broken promise. */
import { expect, test } from "vitest";
import { LateStores } from "../../campaigns/late-stores.ts";
import { systemClock } from "../../src/std/clock.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { audit, doubledIn } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { aWorld } from "../fixtures/world.ts";

const DOUBT_MS = 300;

/** No other wait of the archive's is as long as this. */
const LATE_MS = 3_600_000;

test.for([
  [DOUBT_MS, true, "it was stored after its window: that is the archive's lateness, as documented"],
  [60_000, false, "it was stored within its window: sending it again broke a promise"],
] as const)("judged by a window of %i ms, late is %j, because %s", async ([windowMs, isLate]) => {
  const late = new LateStores(windowMs);
  // Late is what comes after it was sent again, however long that takes.
  const sentAgain = Promise.withResolvers<void>();
  await using world = await aWorld({
    faults: [{ do: "storeLate", ms: LATE_MS, on: "upload" }],
    onStored: late.note,
    clock: {
      ...systemClock,
      sleep: (ms, signal) => {
        const over = systemClock.sleep(ms, signal);
        return ms === LATE_MS ? Promise.race([sentAgain.promise, over]) : over;
      },
    },
  });
  const { upload } = world.config();
  const doubt = { windowMs: DOUBT_MS, toleranceMs: 60_000 };
  world.write("scan.pdf", pdfOf(1, { seed: 1 }));
  {
    await using running = await aDaemon(world.config({ upload: { ...upload, doubt } }));
    await running.idle();
    sentAgain.resolve();
    await world.archive.idle();
  }
  await late.measure(world);
  const [twice] = doubledIn(world);
  expect(twice?.documents).toHaveLength(2);
  if (twice === undefined) return;
  expect(late.longestMs).toBeGreaterThan(DOUBT_MS);
  expect([late.isVoid, late.explains(twice)]).toEqual([isLate, isLate]);
  const stranger = (await audit(world)).filter((line) => line.includes("belongs to no row"));
  expect(stranger.map((line) => late.isAbout(line))).toEqual([isLate]);
  expect(late.tell(twice.documents)).toMatch(
    /ms after its reply was lost.*[\s\S]*absent[\s\S]*attempt/,
  );
});
