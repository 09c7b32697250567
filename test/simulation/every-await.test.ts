/** One small history, crashed at every single call to the outside: before it is done, and after. */
import { expect, test } from "vitest";
import { audit } from "./auditor.ts";
import { calm, rest } from "./history.ts";
import { SimulatedWorld } from "./simulated-world.ts";
import { isPlain } from "./some-settings.ts";
import { pathIn } from "./simulated-tree.ts";
import { CALM } from "./weather.ts";

/** A seed whose one mirror deletes what is archived, so that every loop has something to do. */
function aSeed(): number {
  for (let seed = 1; ; seed++) {
    const [place, other] = new SimulatedWorld(seed).places;
    const { after, exclude, missingFolder } = place?.settings ?? {};
    const fits =
      after?.kind === "delete" && exclude?.length === 0 && missingFolder?.kind === "hold";
    if (fits && place && isPlain(place.settings) && !other) return seed;
  }
}

/** True when it crashed. */
async function crashedAt(seed: number, calls: number): Promise<boolean> {
  const world = new SimulatedWorld(seed);
  const { clock, archive } = world;
  const [place] = world.places;
  if (!place) throw new Error("no mirror");
  const { tree } = place.source;
  archive.tree.add("/Scans");
  archive.weather = { ...CALM, lostStored: 0.4, lateMs: 3_000, conversionMs: 1_000 };
  world.start();
  const { life } = world;
  life?.lightFuse(calls);
  const steps: (() => void)[] = [
    () => tree.write(pathIn("", "1.pdf"), { content: "content-1", sizeBytes: 100 }),
    () => tree.write(pathIn("", "2.bin"), { content: "content-2", sizeBytes: 200 }),
    () => tree.write(pathIn("a", "6.asice"), { content: "content-3", sizeBytes: 300 }),
    () => tree.write(pathIn("", "1.pdf"), { content: "content-4", sizeBytes: 100 }),
    () => tree.move(pathIn("", "2.bin"), pathIn("", "5.bin")),
    () => archive.tree.add("/Scans/a"),
    () => world.sync?.rescan("schedule"),
  ];
  for (const step of steps) {
    step();
    await clock.advance(4_000);
    await world.restartIfDead();
  }
  await clock.advance(300_000);
  const crashed = life?.isOver === true;
  await world.restartIfDead();
  await calm(world);
  await rest(world);
  expect(audit(world), `crashed at call ${calls}`).toEqual([]);
  world.life?.crash();
  return crashed;
}

test("a crash at any await whatever loses nothing and sends nothing twice", {
  timeout: 300_000,
}, async () => {
  const seed = aSeed();
  let calls = 1;
  while (await crashedAt(seed, calls)) calls += 1;
  expect(calls, "the history is long enough to be worth it").toBeGreaterThan(300);
});
