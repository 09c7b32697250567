/** The real daemon, killed at random moments under load; SCANFERRY_KILLS and SCANFERRY_SEED ask for more of it. */
import { expect, test } from "vitest";
import { aProcess } from "../../fixtures/a-process.ts";
import { audit } from "../../fixtures/auditor.ts";
import { pdfOf } from "../../fixtures/documents.ts";
import { aWorld } from "../../fixtures/world.ts";

/** A small generator of pseudo-random numbers; the seed is in every failure's title. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const SEED = Number(process.env.SCANFERRY_SEED ?? 20_261_120);
const KILLS = Number(process.env.SCANFERRY_KILLS ?? 3);

test(
  `killed ${KILLS} times under load (seed ${SEED}), then left to finish: each document once`,
  async () => {
    await using world = await aWorld({ convertDelayMs: 200 });
    const random = seeded(SEED);
    const config = world.configFile();
    for (let n = 0; n < 30; n++) world.write(`before-${n}.pdf`, pdfOf(1, { seed: n }));
    for (let kill = 0; kill < KILLS; kill++) {
      await using daemon = aProcess(["--config", config, "run"]);
      await daemon.says(/"started"/);
      for (let n = 0; n < 4; n++)
        world.write(`${kill}-${n}.pdf`, pdfOf(1, { seed: 1_000 * kill + 500 + n }));
      await new Promise((resolve) => setTimeout(resolve, random() * 900));
      expect(await daemon.end("SIGKILL")).toBe("SIGKILL");
    }
    await using last = aProcess(["--config", config, "sync"]);
    expect(await last.ended, last.output.stderr).toBe(0);
    await world.archive.idle();
    expect(await audit(world)).toEqual([]);
    expect(world.archive.documents()).toHaveLength(30 + 4 * KILLS);
  },
  Math.max(240_000, KILLS * 8_000),
);
