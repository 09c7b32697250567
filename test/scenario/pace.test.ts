/** Hours, an archive that asks for patience, and a ceiling: over the whole daemon. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { until } from "../fixtures/until.ts";
import { aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const HOUR_MS = 3_600_000;

test("sync outside of the hours sends nothing, says when, and leaves with 3", {
  timeout: 240_000,
}, async () => {
  await using world = await aWorld();
  world.write("a.txt", "a document");
  const now = new Date();
  const text = (hours: number) => {
    const at = new Date(now.getTime() + hours * HOUR_MS);
    return `${String(at.getHours()).padStart(2, "0")}:00`;
  };
  const yaml = world.configFile();
  rewrite(yaml, "upload: {", `upload: { hours: "${text(3)}-${text(5)}",`);
  const { code, stdout } = await scanferry(["--config", yaml, "sync"]);
  expect(stdout).toMatch(/^Sending waits\..* Sending may begin: in /m);
  expect(stdout).toContain("upload.hours");
  expect(code).toBe(3);
  const status = await scanferry(["--config", yaml, "status", "--json"]);
  expect(JSON.parse(status.stdout)).toMatchObject({
    documents: { pending: 1 },
    sending: { waits: { why: "hours", until: expect.any(Number) as number } },
  });
  rewrite(yaml, /hours: "[^"]*",/, `hours: "${text(-1)}-${text(3)}",`);
  expect((await scanferry(["--config", yaml, "sync"])).code).toBe(0);
});

test("an archive that answers 429 with Retry-After is left alone for that long, then everything arrives", async () => {
  await using world = await aWorld();
  for (let n = 0; n < 12; n++) world.write(`${n}.txt`, `document ${n}`);
  world.archive.setFaults([
    { on: "upload", do: "status", status: 429, stored: false, retryAfter: "4", times: 1 },
  ]);
  await using running = await aDaemon(world.config());
  const { daemon } = running;
  const paused = await until("the pause", async () => {
    const at = Date.now();
    const { sending, documents } = await daemon.status();
    return sending.waits?.why === "asked" && { until: sending.waits.until, at, documents };
  });
  expect(paused.until).toBeGreaterThan(paused.at);
  const { uploaded, converted } = paused.documents;
  await running.idle();
  const { documents, sending } = await daemon.status();
  expect(uploaded + converted).toBeLessThan(12);
  expect(documents).toMatchObject({ converted: 12, failed: 0, held: 0 });
  expect(sending.concurrency).toBeLessThan(4);
  expect(Date.now()).toBeGreaterThanOrEqual(paused.until ?? 0);
});

test("503 halves what runs at a time; nothing is sent twice and all of it arrives", async () => {
  await using world = await aWorld();
  for (let n = 0; n < 10; n++) world.write(`${n}.txt`, `document ${n}`);
  world.archive.setFaults([
    { on: "upload", do: "status", status: 503, stored: true, nth: 1 },
    { on: "upload", do: "status", status: 503, stored: false, nth: 6 },
  ]);
  await using running = await aDaemon(world.config());
  await running.idle();
  const { documents, sending } = await running.daemon.status();
  expect(documents).toMatchObject({ converted: 10 });
  // Two cuts, and fewer documents than it takes to grow back from them.
  expect(sending.concurrency).toBeLessThan(4);
  expect(world.archive.documents()).toHaveLength(10);
});

test("no more than the ceiling is ever under conversion", async () => {
  await using world = await aWorld({ convertDelayMs: 400 });
  for (let n = 0; n < 12; n++) world.write(`${n}.txt`, `document ${n}`);
  const config = world.config();
  await using running = await aDaemon({
    ...config,
    conversion: { ...config.conversion, outstandingMax: 3 },
  });
  const seen: number[] = [];
  await until("all of them", async () => {
    const { documents } = await running.daemon.status();
    seen.push(documents.uploading + documents.uploaded);
    return documents.converted === 12;
  });
  expect(Math.max(...seen)).toBeLessThanOrEqual(3);
});

function rewrite(file: string, what: string | RegExp, by: string): void {
  writeFileSync(file, readFileSync(file, "utf8").replace(what, by));
}
