/** What cannot be reached is told by those whom people ask: status, explain, and the page. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { audit } from "../fixtures/auditor.ts";
import { until } from "../fixtures/until.ts";
import { aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";
import type { StatusReport } from "../../src/report/status.ts";

async function told(config: string, ...words: string[]): Promise<string> {
  const asked = await scanferry(["--config", config, ...words]);
  expect(asked.code, asked.stderr).toBe(0);
  return asked.stdout;
}

async function statusOf(config: string): Promise<StatusReport> {
  return JSON.parse(await told(config, "status", "--json")) as StatusReport;
}

test("an archive that does not answer, and a source that is not there", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const right = readFileSync(config, "utf8");
  writeFileSync(config, right.replace(world.archive.url, "http://127.0.0.1:9"));
  const path = world.write("a.txt", "a document");
  await using daemon = aProcess(["--config", config, "run"]);
  const silent = await until("the outage", async () => {
    const status = await statusOf(config);
    return status.archives[0]?.outage ? status : undefined;
  });
  expect(silent.archives[0]?.outage).toMatchObject({
    code: "ARCHIVE_UNREACHABLE",
    since: expect.any(Number) as number,
    nextAttemptAt: expect.any(Number) as number,
  });
  expect(await told(config, "status")).toMatch(/^Cannot reach the archive since /);
  expect(await told(config, "explain", path)).toContain(
    "waits         Cannot reach the archive since ",
  );

  writeFileSync(config, right);
  daemon.child.kill("SIGHUP");
  await daemon.says(/"msg":"converted"/);
  await until("its end", async () => (await statusOf(config)).archives[0]?.outage === null);

  renameSync(world.source, `${world.source}.away`);
  const away = await until("the source", async () => {
    const { mirrors } = await statusOf(config);
    return mirrors[0]?.offline ?? undefined;
  });
  expect(away.why).toContain("does not exist");
  expect(await told(config, "status")).toMatch(/^The source of scans is offline since /);
  mkdirSync(world.source);
  expect((await statusOf(config)).mirrors[0]?.offline).not.toBeNull();
  renameSync(`${world.source}.away`, world.source);
  await until("its return", async () => (await statusOf(config)).mirrors[0]?.offline === null);

  renameSync(world.source, `${world.source}.away`);
  await until("it again", async () => (await statusOf(config)).mirrors[0]?.offline !== null);
  expect(await daemon.end("SIGTERM")).toBe(0);
  expect((await statusOf(config)).mirrors[0]?.offline).toBeNull();
  renameSync(`${world.source}.away`, world.source);
  expect(await audit(world)).toEqual([]);
});

const isRoot = process.getuid?.() === 0 && spawnSync("setpriv", ["--help"]).status === 0;

test.skipIf(!isRoot)("a folder that cannot be read, of whose documents nobody knows", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  world.write("open.txt", "a document");
  world.write("closed/contract.txt", "a contract");
  const closed = join(world.source, "closed");
  chmodSync(closed, 0o700);
  chownSync(closed, 65_534, 65_534);
  // What root may do beyond its own files is taken away.
  const plain = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
  for (const documents of [1, 0]) {
    await using pass = aProcess(["--config", config, "sync"], {}, plain);
    expect(await pass.ended, pass.output.stderr).toBe(3);
    expect(pass.output.stdout).toMatch(/^Cannot read 1 folder of scans\. .*closed: EACCES/m);
    expect(pass.output.stdout).toContain(`sent ${documents}, `);
  }

  await using daemon = aProcess(["--config", config, "run"], {}, plain);
  const unread = async () => (await statusOf(config)).mirrors[0]?.unread ?? null;
  await until("what cannot be read", async () => (await unread()) !== null);
  expect(await unread()).toMatchObject({ directories: 1, path: "closed" });
  expect(await told(config, "status")).toMatch(/^Cannot read 1 folder of scans\n/);
  const check = await scanferry(["--config", config, "check"]);
  expect(check.code).toBe(1);
  expect(check.stdout).toMatch(
    /^FAIL {2}mirror scans: source: the daemon cannot read closed: EACCES/m,
  );
  await using own = aProcess(["--config", config, "check"], {}, plain);
  expect(await own.ended).toBe(1);
  expect(own.output.stdout.match(/^.*cannot read.*$/gim)).toEqual([
    expect.stringMatching(/^FAIL {2}mirror scans: source: cannot read closed: EACCES/),
  ]);
  chmodSync(closed, 0o755);
  daemon.child.kill("SIGUSR1");
  await until("its end", async () => (await unread()) === null);
  expect(await daemon.end("SIGTERM")).toBe(0);
});
