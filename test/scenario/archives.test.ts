/** Several archives: none waits for another, and what is asked of one is never taken for another's. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aConfig } from "../fixtures/a-config.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { twoArchives, type TwoArchives } from "../fixtures/two-archives.ts";
import { until } from "../fixtures/until.ts";
import type { Mirror } from "../../src/config/config.ts";
import { Daemon } from "../../src/daemon/daemon.ts";
import { silentLog } from "../../src/std/log.ts";
import { scanferry } from "../unit/cli/in-process.ts";
import type { StatusReport } from "../../src/report/status.ts";

/** The same names in both, other contents. */
const apart = (seed: number) => (mirror: string) =>
  pdfOf(1, { seed: seed + (mirror === "contracts" ? 1_000 : 0) });

function writeScans(two: TwoArchives, count: number, from = 0): void {
  for (let n = from; n < from + count; n++) two.write(`scan-${n}.pdf`, apart(n));
}

const documentsOf = ({ mirrors }: StatusReport, name: string) =>
  mirrors.find((mirror) => mirror.name === name)?.documents;
const archiveIn = ({ archives }: StatusReport, name: string) =>
  archives.find((archive) => archive.name === name);

test("same names and same ids in both, every other reply lost: each once, in its own", async () => {
  await using two = await twoArchives();
  for (const archive of [two.main, two.legal]) {
    archive.setFaults(({ operation, nth }) => {
      if (operation !== "upload" || nth % 2 !== 0) return undefined;
      return nth % 4 === 0 ? { do: "dropAfter" } : { do: "dropBefore" };
    });
  }
  writeScans(two, 12);
  {
    // What is stored at all is stored before its reply is lost: nothing comes late, and a short window will do.
    const doubt = { windowMs: 3_000, toleranceMs: 60_000 };
    const { upload } = two.config();
    await using live = await aDaemon(two.config({ upload: { ...upload, doubt } }));
    // One that the archive has yet to convert when its doubt is over is held for half a minute.
    for (const mirror of ["scans", "contracts"]) {
      await until(`all of ${mirror}`, async () => {
        return documentsOf(await live.daemon.status(), mirror)?.converted === 12;
      });
    }
  }
  const ids = new Set(two.main.documents().map(({ id }) => id));
  const shared = two.legal.documents().filter(({ id }) => ids.has(id));
  expect(shared.length, "else nothing could be mistaken").toBeGreaterThan(6);
  expect(await two.audit()).toEqual([]);
});

test("the same contents are sent to both: neither is a duplicate of the other's", async () => {
  await using two = await twoArchives();
  for (let n = 0; n < 3; n++) two.write(`scan-${n}.pdf`, () => pdfOf(1, { seed: n }));
  await using live = await aDaemon(two.config());
  await live.idle();
  expect(await two.audit()).toEqual([]);
});

test.for([[["contracts"]], [["scans", "contracts"]]] as const)(
  "an after hook of %j learns about each of its documents, and of no others",
  async ([hooked]) => {
    await using two = await twoArchives();
    writeScans(two, 3);
    const told = (name: string) => join(two.world.dir, `told-${name}`);
    const hooksOf = (name: string): Pick<Mirror, "hooks"> => {
      if (!hooked.some((one) => one === name)) return {};
      const append = `require("fs").appendFileSync(process.argv[1], require("fs").readFileSync(0, "utf8").trim() + "\\n")`;
      const command = [process.execPath, "-e", append, told(name)];
      return { hooks: { after: { command, timeoutMs: 60_000, concurrency: 1 } } };
    };
    const config = two.config();
    const mirrors = config.mirrors.map((mirror) => ({ ...mirror, ...hooksOf(mirror.name) }));
    await using live = await aDaemon({ ...config, mirrors });
    await live.idle();
    const linesOf = (name: string) =>
      existsSync(told(name)) ? readFileSync(told(name), "utf8").trim().split("\n").length : 0;
    for (const name of ["scans", "contracts"]) {
      const expected = hooked.some((one) => one === name) ? 3 : 0;
      await until(`${name} to be told`, () => linesOf(name) === expected);
    }
    expect((await live.daemon.status()).undelivered).toBe(0);
  },
);

test("a quota that is spent at one stops that one alone, over a restart too", async () => {
  await using two = await twoArchives({ legal: { quotaPages: 2 } });
  const { quota } = aConfig("quota: { retry: { initial: 1h, max: 1h } }");
  writeScans(two, 6);
  {
    await using live = await aDaemon(two.config({ quota }));
    await live.idle();
    const status = await live.daemon.status();
    expect(documentsOf(status, "scans")).toMatchObject({ converted: 6, held: 0 });
    expect(documentsOf(status, "contracts")).toMatchObject({ converted: 2, held: 4 });
    expect(archiveIn(status, "main")).toMatchObject({ gate: null, quota: { blockedSince: null } });
    expect(archiveIn(status, "legal")).toMatchObject({ gate: { code: "QUOTA_LIMIT" } });
    expect(status.quota, "who looks at one figure sees the problem").toEqual(
      archiveIn(status, "legal")?.quota,
    );
  }
  const uploads = () => two.legal.requests().upload;
  const before = uploads();
  writeScans(two, 2, 6);
  {
    await using live = await aDaemon(two.config({ quota }));
    await live.idle();
    const status = await live.daemon.status();
    expect(documentsOf(status, "scans")).toMatchObject({ converted: 8 });
    expect(documentsOf(status, "contracts")).toMatchObject({ converted: 2, held: 6 });
  }
  expect(uploads(), "nothing was tried behind the gate").toBe(before);
  two.legal.setQuota(undefined);
  await using live = await aDaemon(two.config());
  await live.daemon.journal.of(2).setGate({
    ...(await live.daemon.journal.of(2).gate()),
    nextProbeAt: Date.now(),
  });
  await until("all converted", async () => {
    return (await live.daemon.status()).documents.converted === 16;
  });
  expect(await two.audit()).toEqual([]);
});

test("an archive that goes away under the uploads, and comes back, keeps no other waiting", async () => {
  await using two = await twoArchives();
  writeScans(two, 20);
  await using live = await aDaemon(two.config());
  await until("some", () => two.legal.documents().length > 1);
  await two.legal.close();
  writeScans(two, 5, 20);
  await until("all that can be", async () => {
    return documentsOf(await live.daemon.status(), "scans")?.converted === 25;
  });
  await until("the outage", async () => {
    return (await live.daemon.look()).line.includes("Cannot reach the archive legal");
  });
  await two.reopen();
  // One whose reply was lost, and that the archive has yet to convert, may be held for half a minute.
  const rest = async () => {
    return documentsOf(await live.daemon.status(), "contracts")?.converted === 25;
  };
  await until("the rest", rest, 150_000);
  expect(await two.audit()).toEqual([]);
});

test("an archive that asks for a pause is alone in it", async () => {
  await using two = await twoArchives();
  two.legal.setFaults([
    { on: "upload", do: "status", status: 429, stored: false, retryAfter: "120" },
  ]);
  writeScans(two, 5);
  await using live = await aDaemon(two.config());
  await until("the pause, and the others", async () => {
    const status = await live.daemon.status();
    const pauses = archiveIn(status, "legal")?.sending.waits?.why === "asked";
    return pauses && documentsOf(status, "scans")?.converted === 5;
  });
  const status = await live.daemon.status();
  expect(archiveIn(status, "main")?.sending.waits).toBeNull();
  expect(status.sending.waits, "not all wait").toBeNull();
});

test("a mirror that has sent something is not carried into another archive", async () => {
  await using two = await twoArchives();
  writeScans(two, 1);
  const config = two.config();
  {
    await using live = await aDaemon(config);
    await live.idle();
  }
  const mirrors = config.mirrors.map((mirror) => ({ ...mirror, archive: "main" }));
  await expect(
    Daemon.open({ config: { ...config, mirrors }, log: silentLog }),
  ).rejects.toMatchObject({
    code: "ARCHIVE_CHANGED",
    message: expect.stringMatching(/^mirror contracts: .* archive legal, .* main$/),
  });
  const [legal] = config.furtherArchives ?? [];
  if (!legal) throw new Error("there are two");
  const exchanged = {
    ...config,
    archive: { ...config.archive, url: legal.url },
    furtherArchives: [{ ...legal, url: config.archive.url }],
  };
  await expect(Daemon.open({ config: exchanged, log: silentLog })).rejects.toMatchObject({
    code: "ARCHIVES_EXCHANGED",
  });
  await using live = await aDaemon(config);
  await live.idle();
  expect(await two.audit()).toEqual([]);
});

test("SIGHUP adds an archive, refuses to move what was sent, and takes one away", async () => {
  await using two = await twoArchives();
  const file = two.configFile(["main"]);
  writeScans(two, 3);
  await using daemon = aProcess(["--config", file, "run"]);
  await until("the first", () => two.main.documents().length === 3);
  expect(two.legal.documents()).toEqual([]);
  two.configFile(["main", "legal"]);
  daemon.child.kill("SIGHUP");
  await until("the second", () => two.legal.documents().length === 3);
  two.configFile(["main", "legal"], "main");
  daemon.child.kill("SIGHUP");
  await daemon.says(
    /ARCHIVE_CHANGED|mirror contracts: its documents were sent to the archive legal/,
  );
  await daemon.says(/the old one stays in use/);
  writeScans(two, 1, 3);
  await until("both go on", () => two.main.documents().length + two.legal.documents().length === 8);
  two.configFile(["main"]);
  daemon.child.kill("SIGHUP");
  await daemon.says(/(restarting with it[\s\S]*){3}"started"/);
  writeFileSync(join(two.world.source, "last.pdf"), pdfOf(1, { seed: 77 }));
  await until("the first alone", () => two.main.documents().length === 5);
  expect(await daemon.end("SIGTERM")).toBe(0);
  expect(await two.audit()).toEqual([]);
});

test("the commands ask each archive for its own", async () => {
  await using two = await twoArchives();
  writeScans(two, 2);
  const file = two.configFile(["main", "legal"]);
  const run = (...words: string[]) => scanferry(["--config", file, ...words]);
  const plan = await run("plan", "--json");
  expect(JSON.parse(plan.stdout)).toMatchObject({
    totals: { send: 4 },
    archives: [
      { name: "main", asked: true },
      { name: "legal", asked: true },
    ],
  });
  expect(await run("sync")).toMatchObject({ code: 0 });
  const verify = await run("verify", "--all", "--json");
  const lines = verify.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(lines, verify.stdout).toHaveLength(4);
  expect(lines).toEqual(
    ["main", "main", "legal", "legal"].map((archive) =>
      expect.objectContaining({ kind: "same", archive }),
    ),
  );
  const check = await run("check");
  expect(check.stdout).toContain("main: the archive accepts the account key and the signature");
  expect(check.stdout).toContain("legal: mirror contracts: archive folder /Scans");
  expect(await run("archive", "folders")).toMatchObject({ code: 0 });
  const named = await run("archive", "documents", "--archive", "legal", "--json", "1");
  expect(named.code).toBe(0);
  const unknown = await run("archive", "folders", "--archive", "lgal");
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no archive lgal"),
  });
  const { stdout } = await run("status", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    quota: { blockedSince: null, nextProbeAt: null },
    archives: [{ name: "main" }, { name: "legal" }],
    mirrors: [{ archive: "main" }, { archive: "legal" }],
  });
});

test("a lost journal: adopt claims from each archive what is its mirror's", async () => {
  await using two = await twoArchives();
  writeScans(two, 3);
  {
    await using live = await aDaemon(two.config());
    await live.idle();
  }
  const file = two.configFile(["main", "legal"]);
  rmSync(join(two.world.dir, "state"), { recursive: true });
  const adopt = await scanferry(["--config", file, "adopt"]);
  expect(adopt.code, adopt.stderr).toBe(0);
  expect(adopt.stdout).toContain("6 claimed");
  const rest = await scanferry(["--config", file, "sync"]);
  expect(rest.code, rest.stderr).toBe(0);
  expect(await two.audit()).toEqual([]);
});
