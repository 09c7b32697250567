/** The archive is not what it was: taken back to a backup, moved, or exchanged for another. */
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EmbeddedArchive } from "../../src/embedded-archive/embedded-archive.ts";
import { retryAll } from "../../src/sync/retry.ts";
import { systemClock } from "../../src/std/clock.ts";
import { uploadByColleague } from "../fixtures/a-colleague.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { freePort } from "../fixtures/free-port.ts";
import { until } from "../fixtures/until.ts";
import { ACCOUNT_KEY, aWorld, SECRET, type World } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const DAY = 24 * 3_600_000;

/** The archive of a world, at its address, as of so much later. */
function reopened(world: World, port: number, laterMs: number): Promise<EmbeddedArchive> {
  return EmbeddedArchive.open({
    dataDir: join(world.dir, "archive"),
    listen: { host: "127.0.0.1", port },
    accounts: [{ key: ACCOUNT_KEY, secret: SECRET }],
    convertDelayMs: 50,
    folders: ["/Scans"],
    clock: { ...systemClock, now: () => Date.now() + laterMs },
  });
}

test("last night's backup, and a colleague's document under our id and name: ours is sent, and only then deleted", async () => {
  const port = await freePort();
  await using world = await aWorld({ listen: { host: "127.0.0.1", port }, convertDelayMs: 3_000 });
  const config = world.configFile("", "    after: delete");
  const early = world.write("early.pdf", pdfOf(1, { seed: 1 }));
  expect(await scanferry(["--config", config, "sync"])).toMatchObject({ code: 0 });
  expect(existsSync(early)).toBe(false);
  await world.archive.close();
  const backup = join(world.dir, "backup");
  cpSync(join(world.dir, "archive"), backup, { recursive: true });

  const scan = world.write("scan.pdf", pdfOf(1, { seed: 2 }));
  {
    await using _archive = await reopened(world, port, 0);
    expect(await scanferry(["--config", config, "sync", "--no-wait"])).toMatchObject({ code: 0 });
  }
  const [ours] = (await rowsOf(world.journal)).filter(({ state }) => state === "uploaded");
  rmSync(join(world.dir, "archive"), { recursive: true });
  renameSync(backup, join(world.dir, "archive"));

  await using archive = await reopened(world, port, DAY);
  const bytes = Buffer.concat([pdfOf(1, { seed: 3 }), Buffer.alloc(90_000, "%")]);
  const theirs = await uploadByColleague(world.archive.url, { filename: "scan.pdf", bytes });
  expect(theirs, "else nothing could be mistaken").toBe(ours?.documentId);
  await archive.idle();
  {
    await using live = await aDaemon(world.config({}, { after: { kind: "delete" } }));
    await until("it is in doubt", async () => (await live.daemon.status()).documents.inDoubt === 1);
    expect(existsSync(scan)).toBe(true);
    const { stdout } = await scanferry(["--config", config, "explain", scan]);
    expect(stdout).toMatch(/state +inDoubt/);
    expect(stdout).toMatch(
      /ANOTHER_DOCUMENT: document \d+ is now another one: scan.pdf, \d{5} bytes/,
    );
    expect(stdout).not.toMatch(/document id/);
    await until("it is moved or deleted", () => !existsSync(scan));
  }
  await archive.idle();
  const named = archive.documents().filter(({ filename }) => filename === "scan.pdf");
  expect(named.map(({ id }) => id === theirs)).toEqual([true, false]);
});

test("filed elsewhere by a person while its reply is lost: held, and never sent again on its own", async () => {
  await using world = await aWorld({ folders: ["/Filed"] });
  const bytes = pdfOf(1);
  world.archive.setFaults([{ on: "upload", do: "dropBefore" }]);
  world.write("scan.pdf", bytes);
  const { upload } = world.config();
  const brief = { upload: { ...upload, doubt: { ...upload.doubt, windowMs: 2_000 } } };
  await using live = await aDaemon(world.config(brief));
  await until("it is in doubt", async () => (await live.daemon.status()).documents.inDoubt === 1);
  // Where it lies is all that the archive tells of it.
  await uploadByColleague(world.archive.url, { name: "Filed", filename: "scan.pdf", bytes });
  await until("its doubt is over", async () => {
    const { inDoubt, uploading } = (await live.daemon.status()).documents;
    return inDoubt + uploading === 0;
  });
  const [row] = await rowsOf(world.journal);
  expect(row).toMatchObject({ state: "held", problem: { code: "DOUBT_ELSEWHERE" } });
  expect(row?.problem?.message).toMatch(/the archive has \d+ \(\d+ bytes, in folder \d+\)/);
  expect(world.archive.documents()).toHaveLength(1);
  await retryAll(live.daemon.journal, [row?.id ?? 0], Date.now());
  await until("a person had it sent", () => world.archive.documents().length === 2);
});

/** Trial and real: two archives of which each has a document of every id, or two accounts of one. */
async function trialAndReal() {
  const accounts = [ACCOUNT_KEY, "real"].map((key) => ({ key, secret: SECRET }));
  const trial = await aWorld({ accounts });
  const real = await aWorld({ accounts });
  await uploadByColleague(real.archive.url, { filename: "letter.pdf", bytes: pdfOf(1) });
  const write = (url: string, key: string) => {
    const file = trial.configFile("", "    after: delete");
    const text = readFileSync(file, "utf8").replace(trial.archive.url, url);
    writeFileSync(file, text.replace(`accountKey: ${ACCOUNT_KEY}`, `accountKey: ${key}`));
    return file;
  };
  const asKept = (file: string) =>
    writeFileSync(file, readFileSync(file, "utf8").replace("after: delete", "after: keep"));
  return {
    trial,
    real,
    write,
    asKept,
    async [Symbol.asyncDispose]() {
      await trial[Symbol.asyncDispose]();
      await real[Symbol.asyncDispose]();
    },
  };
}

const EXCHANGES = [
  ["address", ({ real }: { real: World }) => [real.archive.url, ACCOUNT_KEY] as const],
  ["account key", ({ trial }: { trial: World }) => [trial.archive.url, "real"] as const],
] as const;

test.for(EXCHANGES)(
  "another %s, and another archive: nothing is sent or deleted until a person says `replaced`, then all is sent",
  async ([, to]) => {
    await using both = await trialAndReal();
    const { trial, real, write, asKept } = both;
    const config = write(trial.archive.url, ACCOUNT_KEY);
    asKept(config);
    for (const n of [1, 2, 3]) trial.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
    expect(await scanferry(["--config", config, "sync"])).toMatchObject({ code: 0 });
    const [url, key] = to(both);
    write(url, key);
    const stored = () =>
      [trial, real].flatMap(({ archive }) =>
        [ACCOUNT_KEY, "real"].flatMap((account) => archive.documents(account)),
      ).length;
    const before = stored();

    const checked = await scanferry(["--config", config, "check"]);
    expect(checked).toMatchObject({ code: 1, stdout: expect.stringMatching(/ARCHIVE_CHANGED/) });
    trial.write("late.pdf", pdfOf(1, { seed: 9 }));
    const synced = await scanferry(["--config", config, "sync"]);
    expect(synced).toMatchObject({ code: 1, stderr: expect.stringMatching(/ARCHIVE_CHANGED/) });
    {
      await using daemon = aProcess(["--config", config, "run"]);
      await daemon.says(/ARCHIVE_CHANGED/);
      await daemon.says(/"held"/);
      const { stdout } = await scanferry([
        "--config",
        config,
        "explain",
        join(trial.source, "late.pdf"),
      ]);
      expect(stdout).toMatch(/state +held/);
      expect(stdout).toMatch(/scanferry archive replaced/);
      expect(stored()).toBe(before);

      const said = await scanferry(["--config", config, "archive", "replaced"]);
      expect(said, said.stderr).toMatchObject({ code: 0 });
      // By the very daemon that held them, and only then moved or deleted.
      const isSent = () => [1, 2, 3].every((n) => !existsSync(join(trial.source, `scan-${n}.pdf`)));
      await until("all is in the other archive", isSent);
      expect(await daemon.end("SIGTERM")).toBe(0);
    }
    expect(stored()).toBe(before + 4);
    expect(await scanferry(["--config", config, "sync"])).toMatchObject({ code: 0 });
    const { stdout } = await scanferry(["--config", config, "list", "--json"]);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { mirror: string });
    const mirrors = Map.groupBy(lines, ({ mirror }) => mirror.replace(/ until .*/, " until"));
    expect([...mirrors].map(([mirror, { length }]) => `${mirror}: ${length}`).toSorted()).toEqual([
      "scans until: 3",
      "scans: 4",
    ]);
    const status = await scanferry(["--config", config, "status"]);
    expect(status.stdout).not.toMatch(/until|ARCHIVE_CHANGED/);
  },
);

test("another archive that a person calls the same by `moved`: what was sent is not sent again", async () => {
  await using both = await trialAndReal();
  const { trial, real, write } = both;
  const config = write(trial.archive.url, ACCOUNT_KEY);
  both.asKept(config);
  for (const n of [1, 2, 3]) trial.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  expect(await scanferry(["--config", config, "sync"])).toMatchObject({ code: 0 });
  // What is sent there gets no id of the other's.
  for (const n of [1, 2, 3, 4, 5])
    await uploadByColleague(real.archive.url, { filename: `${n}.pdf`, bytes: pdfOf(1) });
  write(real.archive.url, ACCOUNT_KEY);
  both.asKept(config);
  expect(await scanferry(["--config", config, "sync"])).toMatchObject({ code: 1 });
  expect(await scanferry(["--config", config, "archive", "moved"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("what was sent is not sent again"),
  });
  trial.write("late.pdf", pdfOf(1, { seed: 9 }));
  expect(await scanferry(["--config", config, "sync"])).toMatchObject({ code: 0 });
  expect(await scanferry(["--config", config, "check"])).toMatchObject({ code: 0 });
  expect(
    real.archive.documents().filter(({ filename }) => /scan|late/.test(filename)),
  ).toMatchObject([{ filename: "late.pdf" }]);
});

test("the same archive at another address goes on without a question", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  world.write("early.pdf", pdfOf(1, { seed: 1 }));
  expect(await scanferry(["--config", config, "sync"])).toMatchObject({ code: 0 });
  await world.archive.close();
  const port = await freePort();
  await using archive = await reopened(world, port, 0);
  const text = readFileSync(config, "utf8").replace(world.archive.url, archive.url);
  writeFileSync(config, text);
  world.write("late.pdf", pdfOf(1, { seed: 2 }));
  expect(await scanferry(["--config", config, "sync"])).toMatchObject({ code: 0 });
  expect(archive.documents()).toHaveLength(2);
  // Which archive it is was asked once a start, whatever was sent.
  expect(archive.requests().folder).toBeLessThanOrEqual(2);
  // Typed by mistake, it would have everything sent again.
  const said = await scanferry(["--config", config, "archive", "replaced"]);
  expect(said).toMatchObject({ code: 2, stderr: expect.stringMatching(/has documents that were/) });
  expect(await scanferry(["--config", config, "sync"])).toMatchObject({ code: 0 });
  expect(archive.documents()).toHaveLength(2);
});
