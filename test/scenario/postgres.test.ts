/** The real daemon on a journal in PostgreSQL, and the commands next to it. */
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { digestOf } from "../fixtures/auditor.ts";
import { CANARY, leakLine, leaksIn } from "../fixtures/canary.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { freePort } from "../fixtures/free-port.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../fixtures/postgres.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";
import { EventStream } from "../unit/dashboard/event-stream.ts";

describe.skipIf(NO_POSTGRES !== undefined)("a journal in PostgreSQL", () => {
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await aPostgres();
  });

  afterAll(() => postgres[Symbol.asyncDispose]());

  /** A configuration of the world, with its journal in the database, and a page. */
  async function configIn(world: World, more = "", user = "scanferry"): Promise<Configured> {
    const { url, schema } = postgres.place();
    const port = await freePort();
    const file = join(world.dir, "scanferry.yaml");
    const at = url.replace("scanferry@", `${user}@`);
    const text = readFileSync(world.configFile(), "utf8")
      .replace(/^journal: .*$/m, `journal: { url: "${at}?schema=${schema}", lease: 5s${more} }`)
      .replace("web: off", `web: { listen: "127.0.0.1:${port}" }`);
    writeFileSync(file, text, { mode: 0o600 });
    return { file, page: `http://127.0.0.1:${port}`, schema };
  }

  const readyAt = async (page: string) =>
    (await fetch(`${page}/readyz`, { signal: AbortSignal.timeout(15_000) })).status;

  test("its server is restarted in the middle: nothing is lost, nothing is sent twice", async () => {
    await using world = await aWorld({ convertDelayMs: 100 });
    const { file, page, schema } = await configIn(world);
    const sent: string[] = [];
    const write = (name: string, seed: number) => {
      const content = pdfOf(1, { seed });
      sent.push(digestOf(content));
      world.write(name, content);
    };
    for (let n = 0; n < 30; n++) write(`before-${n}.pdf`, n);
    await using daemon = aProcess(["--config", file, "run"]);
    await until("some documents", () => world.archive.documents().length > 3);
    // Who asks in the very moment in which it goes is answered, too.
    const stopped = postgres.stop();
    const asked: Promise<number>[] = [];
    await until("not ready", async () => {
      const now = readyAt(page);
      asked.push(readyAt(page), now);
      return (await now) === 503;
    });
    expect(await Promise.all(asked)).toContain(503);
    await stopped;
    expect(await fetch(`${page}/readyz`).then((answer) => answer.text())).toContain(
      "the journal cannot be reached",
    );
    // Neither the page nor a scrape waits for the journal to come back.
    for (const path of ["/api/status", "/metrics"])
      expect((await fetch(`${page}${path}`)).status).toBe(503);
    for (let n = 0; n < 10; n++) write(`meanwhile-${n}.pdf`, 100 + n);
    await postgres.start();
    await until("ready", async () => (await readyAt(page)) === 200);
    await until("all documents", async () => {
      const [row] = await postgres.ask(
        `SELECT count(*) AS n FROM ${schema}.documents WHERE state = 'converted'`,
      );
      return row?.["n"] === "40";
    });
    const stored = world.archive.documents().map(({ sha256 }) => sha256);
    expect(stored.toSorted()).toEqual(sent.toSorted());
    const { stdout } = daemon.output;
    expect(stdout.match(/the journal cannot be reached; nothing new is sent/g)).toHaveLength(1);
    expect(stdout.match(/the journal can be reached again/g)).toHaveLength(1);
    expect(await daemon.end("SIGTERM"), stdout).toBe(0);
    const [left] = await postgres.ask(
      `SELECT count(*) AS n FROM ${schema}.instances WHERE NOT lost`,
    );
    expect(left).toEqual({ n: "0" });
  });

  test("stopped while its database is away it ends, anyone who looks or is told; the next one goes on", async () => {
    await using world = await aWorld({ convertDelayMs: 100 });
    const { file, page, schema } = await configIn(world);
    appendFileSync(file, "notify: { command: [{ run: ['true'] }], digest: '* * * * * *' }\n");
    const sent = Array.from({ length: 30 }, (_, seed) => pdfOf(1, { seed }));
    for (const [n, content] of sent.entries()) world.write(`${n}.pdf`, content);
    await using daemon = aProcess(["--config", file, "run"]);
    await daemon.says(/"started"/);
    await using open = await EventStream.open(page);
    // Uploads may move before the first snapshot is there.
    await until("a snapshot", async () => (await open.next()).event === "status");
    await until("some documents", () => world.archive.documents().length > 3);
    await postgres.stop();
    await until("not ready", async () => (await readyAt(page)) === 503);
    expect((await fetch(`${page}/healthz`)).status, "unhealthy").toBe(503);
    const began = performance.now();
    expect(await daemon.end("SIGTERM"), daemon.output.stdout).toBe(0);
    // The default of `shutdown`.
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(daemon.output.stderr).toBe("");
    await postgres.start();
    await using next = aProcess(["--config", file, "run"]);
    await until("all documents", async () => {
      const [row] = await postgres.ask(
        `SELECT count(*) AS n FROM ${schema}.documents WHERE state = 'converted'`,
      );
      return row?.["n"] === "30";
    });
    const stored = world.archive.documents().map(({ sha256 }) => sha256);
    expect(stored.toSorted()).toEqual(sent.map(digestOf).toSorted());
    expect(await next.end("SIGTERM")).toBe(0);
  });

  test("one whose lease another one ended while it finishes uploads ends with 0", async () => {
    const faults = [{ on: "upload", do: "delay", ms: 4_000, times: 8 }] as const;
    await using world = await aWorld({ faults, convertDelayMs: 600_000 });
    const { file, schema } = await configIn(world);
    for (let n = 0; n < 20; n++) world.write(`${n}.pdf`, pdfOf(1, { seed: n }));
    await using daemon = aProcess(["--config", file, "run"]);
    await until("some to be sent", () => world.archive.documents().length > 4);
    const ended = daemon.end("SIGTERM");
    await daemon.says(/"stopping"/);
    await postgres.ask(`UPDATE ${schema}.writer_sessions SET taken = true`);
    expect(await ended, daemon.output.stderr).toBe(0);
    expect(daemon.output.stderr).toBe("");
  });

  test("a daemon that starts before its database waits for it; a command says so and ends", async () => {
    await using world = await aWorld();
    const { file } = await configIn(world);
    await postgres.stop();
    const status = await scanferry(["--config", file, "status"], { cwd: world.dir });
    expect([status.code, status.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^scanferry: journal postgres:\/\/scanferry@127.*ECONNREFUSED.*; start PostgreSQL.*\n$/,
      ),
    ]);
    await using daemon = aProcess(["--config", file, "run"]);
    await daemon.says(/cannot reach the journal yet; waiting for it/);
    await postgres.start();
    await daemon.says(/"started"/);
    expect(await daemon.end("SIGTERM")).toBe(0);
    await postgres.stop();
    await using another = aProcess(["--config", file, "run"]);
    await another.says(/cannot reach the journal yet; waiting for it/);
    expect(await another.end("SIGTERM"), another.output.stderr).toBe(0);
    await postgres.start();
  });

  test.for([
    ["run", 0],
    ["sync", 143],
  ] as const)(
    "%s that is stopped while its database is away ends in time",
    async ([word, code]) => {
      await using world = await aWorld({ convertDelayMs: 600_000 });
      const { file } = await configIn(world);
      const text = readFileSync(file, "utf8").replace(/^shutdown: .*\n/m, "");
      writeFileSync(file, `${text}\nshutdown: 6s\n`);
      world.write("a.pdf", pdfOf(1, { seed: 1 }));
      await using daemon = aProcess(["--config", file, word]);
      // It is asked about on and on.
      await until("it to be sent", () => world.archive.documents().length > 0);
      await postgres.stop();
      try {
        const told = "the journal cannot be reached; nothing new is sent";
        const { output } = daemon;
        await until("it to be away", () => `${output.stdout}${output.stderr}`.includes(told));
        expect(await daemon.end("SIGTERM"), output.stderr).toBe(code);
      } finally {
        await postgres.start();
      }
    },
  );

  test("a pass does what is left by a daemon that dies next to it", async () => {
    await using world = await aWorld({ convertDelayMs: 10_000 });
    const { file, schema } = await configIn(world);
    for (let n = 0; n < 5; n++) world.write(`${n}.pdf`, pdfOf(1, { seed: n }));
    await using daemon = aProcess(["--config", file, "run"]);
    await daemon.says(/"started"/);
    const uploaded = `SELECT FROM ${schema}.documents WHERE state = 'uploaded'`;
    await until("uploads", async () => (await postgres.ask(uploaded)).length === 5);
    await using pass = aProcess(["--config", file, "sync"]);
    // It has no assignment, and waits for the daemon to follow them, which does so no more.
    const instances = `SELECT FROM ${schema}.instances WHERE NOT lost`;
    await until("the pass to be there", async () => (await postgres.ask(instances)).length === 2);
    daemon.child.kill("SIGSTOP");
    expect(await pass.ended, pass.output.stderr).toBe(0);
    const left = await postgres.ask(`SELECT FROM ${schema}.documents WHERE state <> 'converted'`);
    expect(left).toEqual([]);
    expect(world.archive.documents()).toHaveLength(5);
  });

  // Two dozen processes, one after another.
  test("commands work on it, and show no password", { timeout: 180_000 }, async () => {
    await postgres.ask(`CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '${CANARY.journalPassword}'`);
    await using world = await aWorld({ convertDelayMs: 50 });
    const { file, schema } = await configIn(world, ", passwordFile: secrets.db", "guarded");
    writeFileSync(join(world.dir, "secrets.db"), `${CANARY.journalPassword}\n`, { mode: 0o600 });
    world.write("a.pdf", pdfOf(1, { seed: 1 }));
    world.write("b.pdf", pdfOf(1, { seed: 2 }));
    const said: string[] = [];
    const run = async (...words: string[]) => {
      const ran = await scanferry(["--config", file, ...words], { cwd: world.dir });
      said.push(ran.stdout, ran.stderr);
      return { code: ran.code, out: ran.stdout, err: ran.stderr };
    };
    expect(await run("plan")).toMatchObject({ code: 0, err: "" });
    expect(await run("pause")).toMatchObject({ code: 0, err: "" });
    expect(await run("resume")).toMatchObject({ code: 0, err: "" });
    expect(await run("sync")).toMatchObject({ code: 0 });
    const status = JSON.parse((await run("status", "--json")).out) as object;
    expect(status).toMatchObject({ running: false, documents: { converted: 2 } });
    const rows = (await run("list", "--json")).out.trim().split("\n");
    expect(rows.map((row) => (JSON.parse(row) as { path: string }).path)).toEqual([
      "a.pdf",
      "b.pdf",
    ]);
    expect((await run("explain", "scans/a.pdf")).out).toContain("converted");
    expect(await run("verify")).toMatchObject({ code: 0 });
    expect(await run("adopt")).toMatchObject({ code: 0 });
    expect(await run("retry", "--state", "failed"), "nothing to retry").toMatchObject({ code: 1 });
    const check = await run("check");
    expect(check.out).toMatch(/PostgreSQL 1\d.*schema/);
    expect(check.out).toContain("the database's clock is");
    expect(check.out).toContain("fsync = off");
    for (const words of [
      ["backup", "x.db"],
      ["restore", "x.db"],
    ]) {
      const refused = await run(...words);
      expect([refused.code, refused.err]).toEqual([
        1,
        expect.stringContaining("the database's own tools do this"),
      ]);
    }
    // While one runs, others see it.
    await using daemon = aProcess(["--config", file, "run"]);
    await daemon.says(/"started"/);
    expect(JSON.parse((await run("status", "--json")).out)).toMatchObject({
      running: true,
      daemon: { pid: daemon.child.pid },
    });
    expect(await daemon.end("SIGTERM")).toBe(0);
    // One of a wrong password, and one that is written in the URL.
    writeFileSync(join(world.dir, "secrets.db"), "wrong\n", { mode: 0o600 });
    expect(await run("status")).toMatchObject({ code: 1 });
    const text = readFileSync(file, "utf8")
      .replace(", passwordFile: secrets.db", "")
      .replace("guarded@", `guarded:${encodeURIComponent(CANARY.journalPassword)}@`);
    writeFileSync(file, text, { mode: 0o600 });
    expect((await run("check")).out).toContain("the password is in the URL");
    expect(await run("sync")).toMatchObject({ code: 0 });
    said.push(daemon.output.stdout, daemon.output.stderr);
    expect(leaksIn("what was said", said.join("\n")).map(leakLine)).toEqual([]);
    expect(said.join("\n")).toContain(schema);
  });

  test("neither driver is loaded where the other one serves", async () => {
    await using world = await aWorld();
    const { file } = await configIn(world);
    const plain = join(world.dir, "plain.yaml");
    writeFileSync(plain, readFileSync(world.configFile(), "utf8"), { mode: 0o600 });
    // The one above writes over it.
    const shared = join(world.dir, "shared.yaml");
    const { file: again } = await configIn(world);
    expect(again).toBe(file);
    writeFileSync(shared, readFileSync(file, "utf8"), { mode: 0o600 });
    const loadedBy = (config: string, ...words: string[]) =>
      execFileSync(process.execPath, ["--input-type=module", "-e", LOADED, config, ...words], {
        encoding: "utf8",
      });
    // What writes makes the journal; what looks comes after it.
    for (const word of ["pause", "status"]) {
      const ofShared = loadedBy(shared, word);
      expect(ofShared).toMatch(/^loaded pg$/m);
      expect(ofShared).not.toMatch(/^loaded better-sqlite3$/m);
      const ofPlain = loadedBy(plain, word);
      expect(ofPlain).toMatch(/^loaded better-sqlite3$/m);
      expect(ofPlain).not.toMatch(/^loaded pg$/m);
    }
  });
});

type Configured = { readonly file: string; readonly page: string; readonly schema: string };

/** Runs a command, and prints the packages that it loaded, a line each. */
const LOADED = `
import module from "node:module";
import { runProgram } from ${JSON.stringify(new URL("../../src/cli/run-program.ts", import.meta.url).href)};
import { systemClock, systemRandom } from ${JSON.stringify(new URL("../../src/std/clock.ts", import.meta.url).href)};
const [config, ...words] = process.argv.slice(1);
await runProgram(["--config", config, ...words], {
  env: {}, cwd: "/", stdout: process.stdout, stderr: process.stderr,
  clock: systemClock, random: systemRandom, stopping: () => new AbortController().signal,
});
const names = Object.keys(module._cache).map((path) => /node_modules[/]([^/]+)/.exec(path)?.[1]);
for (const name of new Set(names)) console.log("loaded", name);
`;
