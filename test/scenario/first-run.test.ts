/** A journal that knows nothing, beside an archive that holds documents of the same names. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { audit, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { type World, aWorld } from "../fixtures/world.ts";

const scanferry = async (config: string, ...words: string[]) => {
  await using process = aProcess(["--config", config, ...words]);
  const code = await process.ended;
  return { code, ...process.output };
};

/** A world whose journal was lost after these files were archived. */
async function aLoss(files: readonly string[]): Promise<{ world: World; config: string }> {
  const world = await aWorld();
  const config = world.configFile();
  for (const [seed, file] of files.entries()) world.write(file, pdfOf(1, { seed }));
  expect((await scanferry(config, "sync")).code).toBe(0);
  rmSync(dirname(world.journal), { recursive: true });
  return { world, config };
}

const held = async ({ journal }: World) =>
  (await rowsOf(journal)).filter(({ state, trouble }) => {
    return state === "held" && trouble?.code === "FIRST_RUN";
  });

test("after a lost journal nothing is sent twice: what has a name there is held until `adopt`", async () => {
  const { world, config } = await aLoss(["a.pdf", "b.pdf", "c.pdf"]);
  await using _ = world;
  world.write("new.pdf", pdfOf(2, { seed: 9 }));
  const first = await scanferry(config, "sync");
  expect(first.code).toBe(3);
  expect(first.stdout).toMatch(/FIRST_RUN[\s\S]*scanferry adopt[\s\S]*firstRun: upload/);
  expect(world.archive.documents()).toHaveLength(4);
  // What was sent meanwhile ends nothing, nor does a further start.
  world.write("later.pdf", pdfOf(1, { seed: 10 }));
  expect((await scanferry(config, "sync")).code).toBe(3);
  expect(await held(world)).toHaveLength(3);

  expect((await scanferry(config, "adopt")).stdout).toContain("3 claimed");
  expect((await scanferry(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(5);
  expect(await audit(world)).toEqual([]);
});

test("another content under a name that is there waits for the choice, and is sent after it", async () => {
  const { world, config } = await aLoss(["a.pdf"]);
  await using _ = world;
  const before = world.archive.documents()[0]?.sha256 ?? "";
  world.write("a.pdf", pdfOf(5, { seed: 77 }));
  expect((await scanferry(config, "sync")).code).toBe(3);
  expect(world.archive.documents()).toHaveLength(1);
  expect((await scanferry(config, "adopt")).stdout).toContain("0 claimed");
  expect((await scanferry(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(2);
  const stranger = /belongs to no row/;
  const found = await audit(world, { formerly: [before] });
  expect(found.filter((line) => !stranger.test(line))).toEqual([]);
});

test("a mirror that is given another name sends nothing again, and goes on", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  world.write("a.pdf", pdfOf(1, { seed: 1 }));
  expect((await scanferry(config, "sync")).code).toBe(0);
  world.configFile("", "    name: office");
  world.write("b.pdf", pdfOf(1, { seed: 2 }));
  expect((await scanferry(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(2);
  expect(await audit(world)).toEqual([]);
});

test("one that is given another name and another source holds what was sent for it, till it has its name back", async () => {
  await using world = await aWorld();
  const config = world.configFile("", "    name: scans");
  world.write("a.pdf", pdfOf(1, { seed: 1 }));
  expect((await scanferry(config, "sync")).code).toBe(0);
  const source = `${world.source}-moved`;
  renameSync(world.source, source);
  const moved = (name: string) => {
    world.configFile("", `    name: ${name}`);
    writeFileSync(config, readFileSync(config, "utf8").replace(world.source, source));
  };
  moved("office");
  expect((await scanferry(config, "sync")).code).toBe(3);
  expect((await held(world))[0]?.trouble?.message).toContain("give it its name back");
  moved("scans");
  expect((await scanferry(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(1);
});

test("`firstRun: upload` lets go what was held, once and for all", async () => {
  const { world, config } = await aLoss(["a.pdf", "b.pdf"]);
  await using _ = world;
  expect((await scanferry(config, "sync")).code).toBe(3);
  world.configFile("", "    firstRun: upload");
  expect((await scanferry(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(4);
  world.configFile();
  world.write("c.pdf", pdfOf(1, { seed: 5 }));
  expect((await scanferry(config, "sync")).code).toBe(0);
});

test("once the first run is over, a name that a stranger used in the archive holds nothing back", async () => {
  await using world = await aWorld();
  await using other = await aWorld();
  const config = world.configFile();
  world.write("mine.pdf", pdfOf(1, { seed: 1 }));
  expect((await scanferry(config, "sync")).code).toBe(0);
  // Another host carries into the same folder.
  other.write("shared.pdf", pdfOf(1, { seed: 2 }));
  const elsewhere = other.configFile();
  const text = readFileSync(elsewhere, "utf8").replace(other.archive.url, world.archive.url);
  writeFileSync(elsewhere, text);
  expect((await scanferry(elsewhere, "sync")).code).toBe(0);
  world.write("shared.pdf", pdfOf(3, { seed: 3 }));
  expect((await scanferry(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(3);
});
