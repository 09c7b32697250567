/** The daemon in a process of its own: real signals, real kills, exit codes and clear lines. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import { aProcess, BIN, childrenOf } from "../fixtures/a-process.ts";
import { audit, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { SECRET, aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

/** True when this command can be run here: not every machine lets its tests mount or drop rights. */
function can(command: string, ...words: string[]): boolean {
  return spawnSync(command, words, { stdio: "ignore" }).status === 0;
}

test("SIGTERM ends it with 0 and nothing half done; the next run goes on", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  for (let n = 0; n < 40; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  {
    await using daemon = aProcess(["--config", config, "run"]);
    await until("some documents", () => world.archive.documents().length > 5);
    expect(await daemon.end("SIGTERM")).toBe(0);
    expect(daemon.output.stdout).toContain('"stopped"');
  }
  expect((await rowsOf(world.journal)).filter(({ state }) => state === "uploading")).toEqual([]);
  await using rest = aProcess(["--config", config, "sync"]);
  expect(await rest.ended).toBe(0);
  expect(await audit(world)).toEqual([]);
});

test("a document's ordinary life is two lines in the log, with a receipt and an after-action", async () => {
  await using world = await aWorld({ folders: ["/Scans/deep"] });
  const moved = '    after: "move:./done"\n';
  const file = world.configFile("receipts: ./receipts\nbatch: { quiet: 300ms }", moved);
  const names = ["a.pdf", "b.pdf", "deep/c.pdf", "d.pdf"];
  for (const [seed, name] of names.entries()) world.write(name, pdfOf(1, { seed }));
  // Written in two goes, as scanners do: it looks unfinished in between.
  const whole = pdfOf(2, { seed: 99 });
  world.write("slow.pdf", whole.subarray(0, whole.length / 2));
  await using daemon = aProcess(["--config", file, "run"]);
  await until(
    "the others",
    () => world.archive.documents().length === names.length,
    20_000,
    () => daemon.output,
  );
  world.write("slow.pdf", whole);
  const all = [...names, "slow.pdf"].sort();
  const lines = () =>
    daemon.output.stdout
      .split("\n")
      .filter((line) => line.endsWith("}"))
      .map((line) => JSON.parse(line) as { level: number; path?: string; msg: string });
  await until("the last to be converted", () => {
    const converted = lines().filter(({ msg }) => msg === "converted");
    return converted.length === all.length;
  });
  expect(await daemon.end("SIGTERM")).toBe(0);
  const told = Map.groupBy(lines(), ({ path }) => path ?? "");
  told.delete("");
  expect([...told.keys()].sort()).toEqual(all);
  for (const [path, of] of told) {
    expect([path, ...of.map(({ level, msg }) => [level, msg])]).toEqual([
      path,
      [30, "uploaded"],
      [30, "converted"],
    ]);
  }
});

test("SIGHUP takes a good config and refuses a bad one; SIGUSR1 rescans", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/"scanned"/);
  const asked = join(world.dir, "asked.yaml");
  writeFileSync(asked, readFileSync(config), { mode: 0o600 });
  const status = async () => (await scanferry(["--config", asked, "status"])).stdout;
  writeFileSync(config, "archive: {", { mode: 0o600 });
  daemon.child.kill("SIGHUP");
  await daemon.says(/the new configuration has errors/);
  await until("status", async () => /^The new configuration has errors$/m.test(await status()));
  world.configFile("log: { level: debug }");
  daemon.child.kill("SIGHUP");
  await daemon.says(/restarting with it[\s\S]*"started"/);
  await until("status", async () => !/configuration has errors/.test(await status()));
  daemon.child.kill("SIGUSR1");
  await daemon.says(/"why":"[^"]*SIGUSR1/);
  world.write("scan.pdf", pdfOf(1));
  await until("the scan", () => world.archive.documents().length === 1);
  expect(await daemon.end("SIGINT")).toBe(0);
});

test("a page that cannot listen is what status says, until it can", async () => {
  await using world = await aWorld();
  const other = createServer();
  await once(other.listen(0, "127.0.0.1"), "listening");
  const { port } = other.address() as AddressInfo;
  const config = world.configFile();
  const web = `web: { listen: "127.0.0.1:${port}" }`;
  writeFileSync(config, readFileSync(config, "utf8").replace("web: off", web));
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/the page cannot listen/);
  const status = async () => (await scanferry(["--config", config, "status"])).stdout;
  await until("status", async () => /^The page is not available$/m.test(await status()));
  other.close();
  await daemon.says(/the page listens now/);
  await until("status", async () => !/page is not available/.test(await status()));
  expect(await daemon.end("SIGTERM")).toBe(0);
});

test("a SIGUSR1 that comes before it is handled opens no inspector, and ends nothing", async () => {
  await using world = await aWorld();
  await using daemon = aProcess([BIN, "--config", world.configFile(), "run"], {}, [
    "/bin/sh",
    "-c",
    'shift 2; exec "$@"',
    "-",
  ]);
  const { pid } = daemon.child;
  // Node's own handler is there: from here to the daemon's own Node takes the signal for a debugger.
  await until("Node to catch it", () => {
    const [, caught] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return (BigInt(`0x${caught}`) & 0x200n) !== 0n;
  });
  daemon.child.kill("SIGUSR1");
  await daemon.says(/"started"/);
  expect(daemon.output.stderr).not.toContain("Debugger listening");
  daemon.child.kill("SIGUSR1");
  await daemon.says(/"why":"[^"]*SIGUSR1/);
  expect(await daemon.end("SIGTERM")).toBe(0);
});

test("two daemons on one journal: the second says who has it, and begins when that has ended", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  await using first = aProcess(["--config", config, "run"]);
  await first.says(/"started"/);
  await using second = aProcess(["--config", config, "run"]);
  await second.says(new RegExp(`JOURNAL_LOCKED.*in use by process ${first.child.pid}`));
  expect(await first.end("SIGTERM")).toBe(0);
  await second.says(/"started"/);
  expect(await second.end("SIGTERM")).toBe(0);
});

test("pause, resume and retry reach a running daemon", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/"started"/);
  await using pause = aProcess(["--config", config, "pause"]);
  expect(await pause.ended).toBe(0);
  world.write("scan.pdf", pdfOf(1));
  await until("pending", async () => (await rowsOf(world.journal))[0]?.state === "pending");
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(world.archive.documents()).toEqual([]);
  await using resume = aProcess(["--config", config, "resume"]);
  expect(await resume.ended).toBe(0);
  await until("sent", () => world.archive.documents().length === 1);
});

test("a reader that hangs does not keep SIGTERM from ending it within `shutdown`", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/"scanned"/);
  const [reader] = childrenOf(daemon.child.pid);
  if (reader === undefined) throw new Error("no reader");
  process.kill(reader, "SIGSTOP");
  world.write("scan.pdf", pdfOf(1));
  const startedAt = performance.now();
  expect(await daemon.end("SIGTERM")).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test("a reader that hangs for long: its source is said to be offline, until another one reads it", async () => {
  await using world = await aWorld();
  await using daemon = aProcess(["--config", world.configFile(), "run"]);
  await daemon.says(/"scanned"/);
  const [reader] = childrenOf(daemon.child.pid);
  if (reader === undefined) throw new Error("no reader");
  process.kill(reader, "SIGSTOP");
  world.write("scan.pdf", pdfOf(1));
  await daemon.says(/source offline: .* does not answer \(30 s\)/);
  await daemon.says(/source online again/);
  await until("sent", () => world.archive.documents().length === 1);
}, 240_000);

test.skipIf(process.getuid?.() !== 0 || !can("setpriv", "--help"))(
  "a source without permission: one clear line with the fix, exit 1",
  async () => {
    await using world = await aWorld();
    world.write("scan.pdf", pdfOf(1));
    const config = world.configFile();
    chmodSync(world.source, 0o700);
    chownSync(world.source, 65_534, 65_534);
    // What root may do beyond its own files is taken away.
    const plain = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
    await using daemon = aProcess(["--config", config, "sync"], {}, plain);
    expect(await daemon.ended, daemon.output.stderr).toBe(1);
    expect(daemon.output.stderr).toMatch(/EACCES|permission|right/i);
    expect(daemon.output.stderr).toContain(world.source);
  },
);

describe("bad input: one clear line, the right exit code, nothing lost", () => {
  type Spoil = (world: Awaited<ReturnType<typeof aWorld>>, config: string) => void | Promise<void>;
  const TABLE: [string, Spoil, string[], number, RegExp][] = [
    ["no config", () => {}, ["--config", "/nonexistent.yaml", "sync"], 2, /nonexistent\.yaml/],
    [
      "a config that others can read",
      (_, config) => chmodSync(config, 0o644),
      ["sync"],
      2,
      /chmod 600/,
    ],
    ["an unknown command", () => {}, ["ferry"], 2, /ferry/],
    ["an unknown option", () => {}, ["sync", "--fast"], 2, /--fast/],
    ["a journal of a newer version", (world) => newerJournal(world.journal), ["sync"], 1, /later/],
    [
      "a journal that is none",
      (world) =>
        writeFileSync(fresh(world.journal), "this is no database, but long enough".repeat(99)),
      ["sync"],
      1,
      /journal/,
    ],
  ];
  test.for(TABLE)("$0 ends with $3", async ([, spoil, words, code, line]) => {
    await using world = await aWorld();
    world.write("scan.pdf", pdfOf(1));
    const config = world.configFile();
    await spoil(world, config);
    const all = words.includes("--config") ? words : ["--config", config, ...words];
    const ran = await scanferry(all);
    expect(ran.code, ran.stderr).toBe(code);
    const lines = ran.stderr.trim().split("\n");
    for (const each of lines) expect(each, ran.stderr).toMatch(line);
    expect(ran.stderr).not.toContain(SECRET);
    expect(world.archive.documents()).toEqual([]);
  });

  test("an archive that cannot be reached: `sync` leaves with 1, and sends it all next time", async () => {
    await using world = await aWorld();
    world.write("scan.pdf", pdfOf(1));
    const config = world.configFile();
    const good = readFileSync(config, "utf8");
    writeFileSync(config, good.replace(/url: .*/, "url: http://127.0.0.1:9"), { mode: 0o600 });
    {
      await using process = aProcess(["--config", config, "sync"]);
      expect(await process.ended).toBe(1);
      expect(process.output.stderr).toMatch(/127\.0\.0\.1:9|ECONNREFUSED/);
    }
    writeFileSync(config, good, { mode: 0o600 });
    await using process = aProcess(["--config", config, "sync"]);
    expect(await process.ended).toBe(0);
    expect(await audit(world)).toEqual([]);
  });

  test("a wrong secret: `sync` leaves with 3, says the fix, and the secret is nowhere", async () => {
    await using world = await aWorld();
    world.write("scan.pdf", pdfOf(1));
    const config = world.configFile();
    const good = readFileSync(config, "utf8");
    writeFileSync(config, good.replace(SECRET, "wrong-canary-secret"), { mode: 0o600 });
    await using process = aProcess(["--config", config, "sync"]);
    expect(await process.ended).toBe(3);
    const said = process.output.stdout + process.output.stderr;
    expect(said).toMatch(/archive\.signing/);
    expect(said).not.toContain("wrong-canary-secret");
    expect(existsSync(join(world.dir, "state", "journal.db"))).toBe(true);
  });
});

/** The path, in a directory that is there. */
function fresh(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}

/** A journal as a later scanferry would leave it. */
async function newerJournal(path: string): Promise<void> {
  await (await SqliteJournal.open({ path: fresh(path), role: "owner" })).close();
  const db = new Database(path);
  db.pragma("user_version = 999");
  db.close();
}
