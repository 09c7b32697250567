/** Looking at a source by a process of its own. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { START_MS } from "../../../src/reader/liveness.ts";
import { type Clock, systemClock } from "../../../src/std/clock.ts";
import { aWorld } from "../../fixtures/world.ts";
import { StatReader } from "../../../src/report/stat-reader.ts";

/** How long a source may take. */
const PATIENCE_MS = 15_000;

test("a source's time begins when the process runs, however long that takes", async () => {
  await using world = await aWorld();
  const starts: AbortSignal[] = [];
  let hasStarted: boolean | undefined;
  const clock: Clock = {
    ...systemClock,
    sleep(ms, signal) {
      if (ms === START_MS) starts.push(signal);
      // By then nobody waits for the start any more.
      if (ms === PATIENCE_MS) hasStarted = starts.every(({ aborted }) => aborted);
      return systemClock.sleep(ms, signal);
    },
  };
  const [mirror] = world.config().mirrors;
  if (!mirror) throw new Error("no mirror");
  const given = { clock, random: () => 1 };
  await using statReader = await StatReader.open(mirror, { id: 1, device: null }, given);
  expect(starts.length).toBeGreaterThan(0);
  expect(hasStarted).toBe(true);
  expect(statReader.status).toMatchObject({ online: true });
});

test("a source that is not there learns about, not waited for", async () => {
  await using world = await aWorld();
  const [mirror] = world.config().mirrors;
  if (!mirror) throw new Error("no mirror");
  const source = join(mirror.source, "gone");
  rmSync(source, { recursive: true, force: true });
  const given = { clock: systemClock, random: () => 1 };
  await using statReader = await StatReader.open(
    { ...mirror, source },
    { id: 1, device: null },
    given,
  );
  expect(statReader.status).toMatchObject({ online: false });
});
