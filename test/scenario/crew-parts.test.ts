/** Daemons that divide one mirror, each a process of its own, on a real PostgreSQL. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { partOf } from "../../src/domain/division.ts";
import { rawOfText } from "../../src/std/raw-path.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { digestOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../fixtures/postgres.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const PARTS = 4;
const LEASE_MS = 5_000;

/** Top directories of every part, several each. */
const TOPS = Array.from({ length: 16 }, (_, at) => `client-${at + 1}`);

describe.skipIf(NO_POSTGRES !== undefined)("a divided mirror", () => {
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await aPostgres();
  });

  afterAll(() => postgres[Symbol.asyncDispose]());

  function configIn(world: World) {
    const { url, schema } = postgres.place();
    const text = readFileSync(
      world.configFile("", `    parts: ${PARTS}\n    missingFolder: nearest`),
      "utf8",
    ).replace(
      /^journal: .*$/m,
      `journal: { url: "${url}?schema=${schema}", lease: ${LEASE_MS}ms }`,
    );
    const file = join(world.dir, "scanferry.yaml");
    writeFileSync(file, text, { mode: 0o600 });
    return { file, schema };
  }

  test("is shared; one that is killed is followed within seconds; nothing is missed or sent twice", {
    timeout: 120_000,
  }, async () => {
    await using world = await aWorld({ convertDelayMs: 100 });
    const { file, schema } = configIn(world);
    const sent: string[] = [];
    const write = (path: string, seed: number) => {
      const content = pdfOf(1, { seed });
      sent.push(digestOf(content));
      world.write(path, content);
    };
    const ask = (text: string) => postgres.ask(text.replaceAll("journal.", `${schema}.`));
    const leaders = async () =>
      new Map(
        (await ask("SELECT duty, member FROM journal.duties WHERE duty LIKE 'mirror:%'")).map(
          (row) => [Number(/\/(\d+)of/.exec(String(row["duty"]))?.[1]), String(row["member"])],
        ),
      );
    const converted = async () =>
      Number(
        (await ask("SELECT count(*) AS n FROM journal.documents WHERE state = 'converted'"))[0]?.[
          "n"
        ],
      );
    const gone = async () =>
      Number(
        (await ask("SELECT count(*) AS n FROM journal.documents WHERE gone_at IS NOT NULL"))[0]?.[
          "n"
        ],
      );
    expect(new Set(TOPS.map((top) => partOf(rawOfText(top), PARTS))).size).toBe(PARTS);
    for (const [at, top] of TOPS.entries()) {
      write(`${top}/2026/a.pdf`, at * 10);
      write(`${top}/b.pdf`, at * 10 + 1);
    }
    write("in-the-source.pdf", 1_000);

    // Whichever is there first has all of it, and gives the other one its share.
    await using first = aProcess(["--config", file, "run"]);
    await using second = aProcess(["--config", file, "run"]);
    await Promise.all([first, second].map((daemon) => daemon.says(/one of several daemons/)));
    await until("every part to be led", async () => (await leaders()).size === PARTS, 60_000);
    const shares = async () =>
      [...Map.groupBy(await leaders(), ([, member]) => member).values()].map(
        ({ length }) => length,
      );
    await until("each to have its share", async () => (await shares()).join() === "2,2", 60_000);
    await until("all to be archived", async () => (await converted()) === sent.length, 60_000);
    const status = await scanferry(["--config", file, "status"], { cwd: world.dir });
    expect(status.stdout).toMatch(/leads .*mirror scans \(part \d of 4\)/);

    // In each part a file comes and one goes, and in the source itself.
    for (const [at, top] of TOPS.entries()) {
      write(`${top}/2026/c.pdf`, at * 10 + 2);
      write(`${top}/new/deep/d.pdf`, at * 10 + 3);
      rmSync(join(world.source, `${top}/b.pdf`));
    }
    write("another.pdf", 1_001);
    rmSync(join(world.source, "in-the-source.pdf"));
    await until("what came", async () => (await converted()) === sent.length, 60_000);
    process.kill(second.child.pid ?? 0, "SIGUSR1");
    await until("what went", async () => (await gone()) === TOPS.length + 1, 60_000);

    // One is killed; a file comes in each part while nobody looks after half of them.
    const before = await leaders();
    const killedAt = performance.now();
    await first.end("SIGKILL");
    for (const [at, top] of TOPS.entries()) write(`${top}/2026/e.pdf`, at * 10 + 4);
    await until("every part to be taken over", async () => {
      const now = await leaders();
      return now.size === PARTS && new Set(now.values()).size === 1;
    });
    expect(performance.now() - killedAt).toBeLessThan(2 * LEASE_MS);
    const left = new Set(before.values());
    expect(left.has([...(await leaders()).values()][0] ?? "")).toBe(true);
    await until("what came meanwhile", async () => (await converted()) === sent.length, 60_000);

    const stored = world.archive.documents().map(({ sha256 }) => sha256);
    expect(stored.toSorted()).toEqual(sent.toSorted());
    const rows = await ask(
      `SELECT count(*) AS n FROM journal.documents WHERE current = 1 AND gone_at IS NULL`,
    );
    expect(Number(rows[0]?.["n"]), "every file that is there").toBe(TOPS.length * 4 + 1);
    expect(await second.end("SIGTERM"), second.output.stdout).toBe(0);
  });
});
