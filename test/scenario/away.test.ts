/** What cannot be reached is told by those whom people ask: status, explain, and the page. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { StatusReport } from "../../src/sync/status.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { audit } from "../fixtures/auditor.ts";
import { until } from "../fixtures/until.ts";
import { aWorld } from "../fixtures/world.ts";

async function told(config: string, ...words: string[]): Promise<string> {
  await using asked = aProcess(["--config", config, ...words]);
  expect(await asked.ended, asked.output.stderr).toBe(0);
  return asked.output.stdout;
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
  expect(await told(config, "status")).toMatch(/^The archive is not reached since /);
  expect(await told(config, "explain", path)).toContain("waits         the archive is not reached");

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
  expect(await told(config, "status")).toMatch(/^The source of scans is offline\n/);
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
