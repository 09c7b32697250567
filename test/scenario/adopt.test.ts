/** A journal that was lost: what is archived already is claimed, not sent again. */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { aTerminal } from "../fixtures/a-terminal.ts";
import { audit, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { aWorld } from "../fixtures/world.ts";

test("after the journal is lost, `adopt --dry-run` shows, `adopt` claims, and nothing is sent twice", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026"] });
  const config = world.configFile();
  for (let n = 0; n < 6; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  world.write("2026/contract.pdf", pdfOf(3));
  const run = async (...words: string[]) => {
    await using process = aProcess(["--config", config, ...words]);
    const code = await process.ended;
    return { code, ...process.output };
  };
  expect((await run("sync")).code).toBe(0);
  rmSync(dirname(world.journal), { recursive: true });
  world.write("new.pdf", pdfOf(2, { seed: 99 }));

  const shown = await run("adopt", "--dry-run");
  expect(shown.code, shown.stderr).toBe(0);
  expect(shown.stdout).toContain("7 would be claimed");
  expect(shown.stdout).toContain(
    "\nnot claimed, and then sent by the next run or sync: 1 document\n",
  );
  expect(world.archive.documents()).toHaveLength(7);
  expect((await rowsOf(world.journal)).every(({ state }) => state === "pending")).toBe(true);

  const claimed = await run("adopt");
  expect(claimed.stdout).toContain("7 claimed");
  expect(claimed.stdout).toContain("\nnot claimed, and sent by the next run or sync: 1 document\n");
  // As it was written once.
  expect(await run("adopt", "--yes")).toMatchObject({ code: 0 });
  expect((await run("sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(8);
  expect(await audit(world)).toEqual([]);
});

test("on a terminal `adopt` shows first, and claims what a person says yes to", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  world.write("scan.pdf", pdfOf(1));
  const run = async (...words: string[]) => {
    await using process = aProcess(["--config", config, ...words]);
    expect(await process.ended, process.output.stderr).toBe(0);
  };
  await run("sync");
  rmSync(dirname(world.journal), { recursive: true });
  for (const [answer, told, state] of [
    ["", /1 would be claimed/, "pending"],
    ["y", /1 claimed/, "uploaded"],
  ] as const) {
    await using adopt = aTerminal(["--config", config, "adopt"]);
    await adopt.says(/= {2}scan\.pdf {2}document \d+\s+claim it\? \[y\/N\]: /);
    adopt.type(`${answer}\r`);
    await adopt.says(told);
    expect(await adopt.ended).toBe(0);
    expect((await rowsOf(world.journal)).map((row) => row.state)).toEqual([state]);
  }
  await run("sync");
  expect(world.archive.documents()).toHaveLength(1);
  expect(await audit(world)).toEqual([]);
});
