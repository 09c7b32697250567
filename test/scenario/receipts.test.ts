/** Receipts of closed batches: each written once and whole, whatever ends the daemon and when. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Receipt } from "../../src/receipts/receipt.ts";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

// Every step is a process of its own.
vi.setConfig({ testTimeout: 180_000 });

const KILLS = Number(process.env.SCANFERRY_KILLS ?? 6);

async function anOffice(): Promise<{ world: World; config: string; dir: string }> {
  const world = await aWorld({ convertDelayMs: 100 });
  const dir = join(world.dir, "receipts");
  return {
    world,
    dir,
    config: world.configFile(`batch: { quiet: 400ms }\nreceipts: ${dir}\nlog: { level: debug }`),
  };
}

const receiptsIn = (dir: string): Receipt[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(dir, name), "utf8")) as Receipt);

const allConverted = async ({ journal }: World, documents: number) => {
  const rows = existsSync(journal) ? await rowsOf(journal) : [];
  return rows.length === documents && rows.every(({ state }) => state === "converted");
};

test("killed after its batch was closed and before the file: the next run writes the receipt", async () => {
  const { world, config, dir } = await anOffice();
  await using _ = world;
  for (let n = 0; n < 3; n++) world.write(`${n}.pdf`, pdfOf(n + 1, { seed: n }));
  writeFileSync(dir, "in its place");
  {
    await using daemon = aProcess(["--config", config, "run"]);
    await daemon.says(/cannot be written to .*receipts/);
    expect(await allConverted(world, 3)).toBe(true);
    expect(await daemon.end("SIGKILL")).toBe("SIGKILL");
  }
  rmSync(dir);
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/receipt written/);
  expect(await daemon.end("SIGTERM")).toBe(0);
  const [receipt, ...others] = receiptsIn(dir);
  expect(others).toEqual([]);
  expect(receipt).toMatchObject({ mirror: "scans", converted: 3, pages: 6 });
  expect(readdirSync(dir)).toHaveLength(2);

  // What is remembered as written is not written again, and the command line makes the same.
  const [file = ""] = readdirSync(dir).filter((name) => name.endsWith(".json"));
  const text = readFileSync(join(dir, file), "utf8");
  rmSync(dir, { recursive: true });
  const again = await scanferry(["--config", config, "sync"]);
  expect(again.code).toBe(0);
  expect(existsSync(dir)).toBe(false);
  const printed = await scanferry([
    "--config",
    config,
    "receipt",
    receipt?.batch.slice(0, 8) ?? "",
    "--json",
  ]);
  expect(printed.code, printed.stderr).toBe(0);
  expect(printed.stdout).toBe(text);
});

test("sync leaves no batch behind without its receipt, though another document could still join", async () => {
  const { world, dir } = await anOffice();
  await using _ = world;
  const config = world.configFile(
    `batch: { quiet: 1h }\nreceipts: { dir: ${dir}, formats: [html] }`,
  );
  for (const round of [1, 2]) {
    world.write(`${round}.pdf`, pdfOf(1, { seed: round }));
    const pass = await scanferry(["--config", config, "sync"]);
    expect(pass.code, pass.stderr).toBe(0);
    expect(readdirSync(dir).map((name) => name.endsWith(".html"))).toEqual(Array(round).fill(true));
  }
});

test(`killed ${KILLS} times while it writes them: each document is in one receipt, none is lost`, async () => {
  const { world, config, dir } = await anOffice();
  await using _ = world;
  let documents = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    await using daemon = aProcess(["--config", config, "run"]);
    await daemon.says(/"started"/);
    world.write(`${kill}.pdf`, pdfOf(1, { seed: kill }));
    documents += 1;
    // In turns: as soon as the last is converted, and as soon as the receipt's folder is touched.
    const before = existsSync(dir) ? readdirSync(dir).length : 0;
    if (kill % 2 === 0) await until("conversion", () => allConverted(world, documents));
    else await until("a file", () => existsSync(dir) && readdirSync(dir).length > before);
    expect(await daemon.end("SIGKILL")).toBe("SIGKILL");
  }
  const last = await scanferry(["--config", config, "sync"]);
  expect(last.code, last.stderr).toBe(0);
  const receipts = receiptsIn(dir);
  const paths = receipts.flatMap((receipt) => receipt.documents.map(({ path }) => path));
  expect(paths.sort()).toEqual(
    (await rowsOf(world.journal)).map(({ name }) => String(name)).sort(),
  );
  expect(new Set(paths).size).toBe(documents);
  expect(readdirSync(dir).filter((name) => name.endsWith(".partial"))).toEqual([]);
  await using journal = await SqliteJournal.open({ path: world.journal, role: "reader" });
  expect(await journal.unreceipted(0, 100)).toEqual({ batches: [], next: null });
});

test("a batch with a document that failed has no receipt until a person has seen to it", async () => {
  const { world, dir } = await anOffice();
  await using _ = world;
  // They are in directories of their own, which a slow disk lists one long after the other.
  const config = world.configFile(`batch: { quiet: 1h }\nreceipts: ${dir}`);
  world.write("a.pdf", pdfOf(1));
  world.write("New/b.pdf", pdfOf(1, { seed: 1 }));
  {
    const pass = await scanferry(["--config", config, "sync"]);
    expect(pass.code).toBe(3);
    expect(existsSync(dir)).toBe(false);
  }
  const shown = await scanferry(["--config", config, "receipt"]);
  const [batch = ""] = /^[0-9a-f-]{36}/m.exec(shown.stdout) ?? [];
  expect(shown.stdout).toMatch(/open +1 of 2/);
  const early = await scanferry(["--config", config, "receipt", batch]);
  expect(early.code).toBe(3);
  world.archive.createFolder("/Scans/New");
  const pass = await scanferry(["--config", config, "sync"]);
  expect(pass.code, pass.stdout).toBe(0);
  expect(receiptsIn(dir)).toMatchObject([{ batch, converted: 2 }]);
});
