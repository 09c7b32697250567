/** A journal that was lost: what is archived already is claimed, not sent again. */
import { existsSync, rmSync, utimesSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { aTerminal } from "../fixtures/a-terminal.ts";
import { audit, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

test("after the journal is lost, `adopt --dry-run` shows, `adopt` claims, and nothing is sent twice", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026"] });
  const config = world.configFile();
  for (let n = 0; n < 6; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  world.write("2026/contract.pdf", pdfOf(3));
  const run = (...words: string[]) => scanferry(["--config", config, ...words]);
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

test("what waits for pages is claimed, too, and not sent again once there are some", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const run = (...words: string[]) => scanferry(["--config", config, ...words]);
  const scans = [1, 2, 3].map((seed) => [`scan-${seed}.pdf`, pdfOf(1, { seed })] as const);
  const files = scans.map(([name, content]) => world.write(name, content));
  expect((await run("sync")).code).toBe(0);
  rmSync(dirname(world.journal), { recursive: true });
  world.archive.setQuota(3);
  for (const file of files) rmSync(file);
  world.write("new.pdf", pdfOf(2));
  await run("sync");
  // They come while the gate is closed.
  for (const [name, content] of scans) {
    const yesterday = new Date(Date.now() - 86_400_000);
    utimesSync(world.write(name, content), yesterday, yesterday);
  }
  await run("sync");
  expect((await run("adopt")).stdout).toContain("3 claimed");
  world.archive.setQuota(undefined);
  expect((await run("sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(4);
});

test("on a terminal `adopt` shows first, and claims what a person says yes to", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  world.write("scan.pdf", pdfOf(1));
  const run = async (...words: string[]) => {
    const { code, stderr } = await scanferry(["--config", config, ...words]);
    expect(code, stderr).toBe(0);
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

test("today's scan is not yesterday's document, and what is claimed is never deleted unless its content is trusted", async () => {
  await using world = await aWorld();
  const kept = world.configFile();
  const run = (config: string, ...words: string[]) => scanferry(["--config", config, ...words]);
  // Of one size, as uncompressed scans of one page are.
  const scan = (seed: number) => Buffer.alloc(4_096, `plain text of scan ${seed} `);
  world.write("daily.txt", scan(1));
  const old = world.write("old.txt", scan(2));
  expect((await run(kept, "sync")).code).toBe(0);
  rmSync(dirname(world.journal), { recursive: true });
  const daily = world.write("daily.txt", scan(3));
  const config = world.configFile("", "    after: delete\n");
  const tomorrow = new Date(Date.now() + 86_400_000);
  utimesSync(daily, tomorrow, tomorrow);
  // Other bytes, dated as those that were archived.
  utimesSync(world.write("old.txt", scan(4)), 1_000, 1_000);

  const adopted = await run(config, "adopt");
  expect(adopted.stdout).toMatch(
    /\? {2}daily\.txt {2}could be document \d+, uploaded before the file was written/,
  );
  expect(adopted).toMatchObject({ code: 3 });
  expect((await run(config, "sync")).code, "the unclear one is held").toBe(3);
  expect([existsSync(daily), existsSync(old)]).toEqual([true, true]);

  const trusted = await run(config, "adopt", "--trust-content");
  expect(trusted.stdout).toMatch(/old\.txt {2}document \d+, claimed before/);
  expect(trusted.stdout).toContain("content trusted of 1 document\n");
  await run(config, "sync");
  expect([existsSync(daily), existsSync(old)]).toEqual([true, false]);
  expect(world.archive.documents()).toHaveLength(2);
});

test("what is not finished yet keeps the first run open, and is not sent again; all else goes", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const run = (...words: string[]) => scanferry(["--config", config, ...words]);
  const whole = pdfOf(1, { seed: 1 });
  world.write("late.pdf", whole);
  world.write("other.pdf", pdfOf(1, { seed: 2 }));
  expect((await run("sync")).code).toBe(0);
  rmSync(dirname(world.journal), { recursive: true });
  world.write("late.pdf", whole.subarray(0, whole.length / 2));
  world.write("other.pdf", pdfOf(5, { seed: 3 }));
  const shown = await run("adopt", "--dry-run");
  expect(shown.stdout).toContain("not finished or cannot be read: 1 file; then run this again\n");
  expect(shown.stdout).toContain(
    "and then sent where the archive has none of that name: 1 document\n",
  );
  expect((await run("sync")).stdout).toContain("other.pdf  FIRST_RUN");
  await run("adopt");
  await run("sync");
  expect(world.archive.documents()).toHaveLength(3);
  const yesterday = new Date(Date.now() - 86_400_000);
  utimesSync(world.write("late.pdf", whole), yesterday, yesterday);
  await run("sync");
  expect(world.archive.documents()).toHaveLength(3);
  expect((await run("adopt")).stdout).toContain("1 claimed");
  expect((await run("sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(3);
});

test("a document that may be another file's, which is in doubt, is left to the user", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const run = (...words: string[]) => scanferry(["--config", config, ...words]);
  world.write("a.pdf", pdfOf(1, { seed: 1 }));
  world.write("b.pdf", pdfOf(5, { seed: 2 }));
  expect((await run("sync")).code).toBe(0);
  rmSync(dirname(world.journal), { recursive: true });
  expect((await run("sync")).code).toBe(3);
  const db = new Database(world.journal);
  const { folderId } = world.archive.documents()[0] ?? {};
  const doubt =
    "sent_name = 'a.pdf', doubt_at = 1, problem_code = 'DOUBT_AMBIGUOUS', due_at = NULL";
  db.exec(
    `UPDATE documents SET folder_id = ${folderId}, ${doubt} WHERE CAST(name AS TEXT) = 'b.pdf'`,
  );
  db.close();
  const adopted = await run("adopt");
  expect(adopted.stdout).toMatch(/^\? {2}a\.pdf {2}could be document \d+\n0 claimed; 1 unclear/);
  expect(adopted.code).toBe(3);
});
