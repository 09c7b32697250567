/** The page budget over the whole daemon, its readers and an archive with an allowance of its own. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Config } from "../../src/config/config.ts";
import type { PagePolicy } from "../../src/domain/allowance.ts";
import { silentLog } from "../../src/std/log.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { audit } from "../fixtures/auditor.ts";
import { asiceOf, pdfOf, tiffOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { NO_ALLOWANCE } from "../fixtures/a-config.ts";
import { scanferry } from "../unit/cli/in-process.ts";

/** A config with this many pages a month. */
function withPages(world: World, set: Partial<PagePolicy>, more: Partial<Config> = {}): Config {
  const config = world.config(more);
  return { ...config, quota: { ...config.quota, pages: { ...NO_ALLOWANCE, ...set } } };
}

/** Keeps the codes of what is logged as a warning. */
function listening() {
  const codes: string[] = [];
  const warn = (context: object) => {
    if ("code" in context) codes.push(String(context.code));
  };
  return { codes, log: { ...silentLog, warn } };
}

const pagesIn = (world: World) =>
  world.archive.documents().reduce((sum, { pages }) => sum + (pages ?? 0), 0);

test("pages are counted before sending, told as they are used, and warned of once each, over a restart", async () => {
  await using world = await aWorld();
  const { codes, log } = listening();
  const config = withPages(world, { monthlyPages: 10 });
  world.write("a.pdf", pdfOf(3));
  world.write("b.tif", tiffOf(5));
  world.write("c.asice", asiceOf({ "note.txt": "a note" }));
  {
    await using live = await aDaemon(config, { log });
    await live.idle();
    const { pages } = await live.daemon.status();
    expect(pages).toMatchObject({ today: 9, month: 9, waiting: { documents: 0 } });
    expect(pages.allowance).toMatchObject({
      pages: 10,
      used: 9,
      left: 1,
      level: "low",
      problem: { code: "ALLOWANCE_LOW" },
    });
  }
  expect(codes.filter((code) => code === "ALLOWANCE_LOW")).toHaveLength(1);
  {
    await using live = await aDaemon(config, { log });
    await live.idle();
    expect((await live.daemon.status()).pages.allowance).toMatchObject({ used: 9, left: 1 });
    world.write("d.pdf", pdfOf(4));
    await until("all", async () => (await live.daemon.status()).documents.converted === 4);
    // The archive decides: it has pages.
    const { pages } = await live.daemon.status();
    expect(pages.allowance).toMatchObject({ used: 13, left: -3, level: "usedUp" });
    world.write("e.pdf", pdfOf(1, { seed: 1 }));
    await until("one more", async () => (await live.daemon.status()).documents.converted === 5);
  }
  expect(codes).toEqual(["ALLOWANCE_LOW", "ALLOWANCE_USED"]);
  expect(pagesIn(world)).toBe(14);
  expect(await audit(world)).toEqual([]);
});

test("hold: few pages first, never more than there are; status, explain and sync say what waits", {
  timeout: 240_000,
}, async () => {
  await using world = await aWorld();
  const documents = { "large.pdf": 9, "a.pdf": 2, "b.pdf": 2, "c.pdf": 3, "d.pdf": 4 };
  for (const [seed, [path, pages]] of Object.entries(documents).entries())
    world.write(path, pdfOf(pages, { seed }));
  const yaml = world.configFile();
  const quota = (monthly: number) =>
    rewrite(
      yaml,
      /quota: \{.*/,
      `quota: { retry: { initial: 300ms, max: 1s }, monthlyPages: ${monthly}, whenUsedUp: hold }`,
    );
  quota(10);
  const { code, stdout } = await scanferry(["--config", yaml, "sync"]);
  expect(stdout).toMatch(/^Sending waits\..* Sending may begin: in /m);
  expect(stdout).toContain("3 of this month's 10 pages are left");
  expect(code).toBe(3);
  expect(pagesIn(world)).toBe(7);
  const status = await scanferry(["--config", yaml, "status", "--json"]);
  expect(JSON.parse(status.stdout)).toMatchObject({
    documents: { pending: 2, converted: 3 },
    sending: { waits: { why: "allowance" } },
    pages: {
      month: 7,
      waiting: { documents: 2, pages: 13, unknown: 0 },
      allowance: { used: 7, left: 3, keeps: { documents: 2, mirrors: ["scans"] } },
    },
  });
  const text = (await scanferry(["--config", yaml, "status"])).stdout;
  expect(text).toContain("allowance: 7 of 10 pages used (70 %)");
  expect(text).toContain("13 pages waiting");
  expect(text).toContain("2 documents of scans wait for that");
  const explained = (await scanferry(["--config", yaml, "explain", `${world.source}/large.pdf`]))
    .stdout;
  expect(explained).toContain("9 of its pages, 3 left for its mirror");
  expect(explained).toContain("probably 9 pages");
  quota(20);
  expect((await scanferry(["--config", yaml, "sync"])).code).toBe(0);
  expect(pagesIn(world)).toBe(20);
  expect(await audit(world)).toEqual([]);
});

test("a reserve is for its mirror: the others wait, and it goes on", async () => {
  await using world = await aWorld({ folders: ["/Contracts"] });
  const [scans] = world.config().mirrors;
  if (!scans) throw new Error("no mirror");
  const source = `${world.dir}/contracts`;
  const contracts = { ...scans, name: "contracts", source, target: { path: "/Contracts" } };
  for (let n = 0; n < 6; n++) world.write(`${n}.pdf`, pdfOf(2, { seed: n }));
  for (let n = 0; n < 2; n++) world.write(`../contracts/${n}.pdf`, pdfOf(2, { seed: 50 + n }));
  const reserve = { pages: 4, mirrors: ["contracts"] };
  const config = withPages(world, { monthlyPages: 10, reserve }, { mirrors: [scans, contracts] });
  await using live = await aDaemon(config);
  await live.idle();
  const { documents, mirrors, pages, sending } = await live.daemon.status();
  expect(documents).toMatchObject({ converted: 5, pending: 3 });
  expect(mirrors[1]?.documents).toMatchObject({ converted: 2 });
  expect(pages.allowance).toMatchObject({
    used: 10,
    reserve: { pages: 4, left: 0 },
    keeps: { documents: 3, mirrors: ["scans"] },
  });
  expect(sending.waits?.why).toBe("allowance");
  // What comes for the reserve's mirror is left to the archive.
  world.write("../contracts/9.pdf", pdfOf(1, { seed: 99 }));
  await until("one more", async () => (await live.daemon.status()).documents.converted === 6);
});

test("the archive's own limit stays the gate, and its probe goes past the budget", async () => {
  await using world = await aWorld({ quotaPages: 3 });
  const config = withPages(world, { monthlyPages: 4, whenUsedUp: "hold" });
  for (let n = 0; n < 3; n++) world.write(`${n}.pdf`, pdfOf(1, { seed: n }));
  await using live = await aDaemon(config);
  const converted = async () => (await live.daemon.status()).documents.converted;
  await until("three of them", async () => (await converted()) === 3);
  // It has the budget's last page, and not the archive's.
  world.write("3.pdf", pdfOf(1, { seed: 3 }));
  await until("the gate", async () => (await live.daemon.status()).gate?.code === "QUOTA_LIMIT");
  world.write("4.pdf", pdfOf(2, { seed: 4 }));
  await until("both", async () => (await live.daemon.status()).documents.held === 2);
  world.archive.setQuota(undefined);
  await until("the probe", async () => (await converted()) === 4);
  await live.idle();
  const { documents, gate, sending } = await live.daemon.status();
  expect(gate).toBeNull();
  expect(documents).toMatchObject({ converted: 4, pending: 1, held: 0, failed: 0 });
  expect(sending.waits?.why).toBe("allowance");
  expect(world.archive.documents()).toHaveLength(4);
});

test("newest first: what came in last goes before all that waits", async () => {
  await using world = await aWorld();
  for (let n = 0; n < 12; n++) world.write(`old-${n}.txt`, `document ${n}`);
  const config = world.config();
  const [mirror] = config.mirrors;
  if (!mirror) throw new Error("no mirror");
  const mirrors = [{ ...mirror, rules: { ...mirror.rules, order: "newest" as const } }];
  const newest = { ...config, mirrors, upload: { ...config.upload, concurrency: 1 } };
  {
    await using live = await aDaemon(newest, { sending: false });
    const pending = async () => (await live.daemon.status()).documents.pending;
    await until("all of them wait", async () => (await pending()) === 12);
    world.write("new.txt", "the newest");
    await until("it waits too", async () => (await pending()) === 13);
  }
  await using live = await aDaemon(newest);
  await live.idle();
  const names = world.archive.documents().map(({ filename }) => filename);
  expect(names).toHaveLength(13);
  expect(names[0]).toBe("new.txt");
});

function rewrite(file: string, what: RegExp, by: string): void {
  writeFileSync(file, readFileSync(file, "utf8").replace(what, by));
}
