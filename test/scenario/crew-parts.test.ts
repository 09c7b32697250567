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
/** Long enough for a machine that has no breath for some seconds: who does not renew it in time is lost. */
const LEASE_MS = 15_000;

/** Top directories of every part, several each. */
const TOPS = Array.from({ length: 16 }, (_, at) => `client-${at + 1}`);

describe.skipIf(NO_POSTGRES !== undefined)("a divided mirror", () => {
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await aPostgres();
  });

  afterAll(() => postgres[Symbol.asyncDispose]());

  /** Configurations that differ in how the mirror is divided, on one journal. */
  function configsIn(world: World, ...divisions: readonly number[]) {
    const { url, schema } = postgres.place();
    const files = divisions.map((parts) => {
      const mirror = `    parts: ${parts}\n    missingFolder: nearest`;
      const journal = `journal: { url: "${url}?schema=${schema}", lease: ${LEASE_MS}ms }`;
      const text = readFileSync(world.configFile("", mirror), "utf8");
      const file = join(world.dir, `scanferry-${parts}.yaml`);
      writeFileSync(file, text.replace(/^journal: .*$/m, journal), { mode: 0o600 });
      return file;
    });
    return { files, ...lookInto(schema) };
  }

  /** What the journal says. */
  function lookInto(schema: string) {
    const ask = (text: string) => postgres.ask(text.replaceAll("journal.", `${schema}.`));
    const count = async (where: string) => {
      const [row] = await ask(`SELECT count(*) AS n FROM journal.documents WHERE ${where}`);
      return Number(row?.["n"]);
    };
    /** Who leads each part of the mirror, by the duty's name without the mirror's. */
    const leaders = async () => {
      const rows = await ask("SELECT duty, member FROM journal.duties WHERE duty LIKE 'mirror:%'");
      return new Map(
        rows.map(({ duty, member }) => [String(duty).split("/")[1] ?? "", String(member)]),
      );
    };
    return { count, leaders, converted: () => count("state = 'converted'") };
  }

  /** Writes documents, each of another content, and knows them. */
  function writerIn(world: World) {
    const sent: string[] = [];
    const write = (path: string) => {
      const content = pdfOf(1, { seed: sent.length });
      sent.push(digestOf(content));
      world.write(path, content);
    };
    const stored = () =>
      world.archive
        .documents()
        .map(({ sha256 }) => sha256)
        .toSorted();
    return { sent, write, stored };
  }

  test("is shared; one that is killed is followed within seconds; nothing is missed or sent twice", {
    timeout: 240_000,
  }, async () => {
    await using world = await aWorld({ convertDelayMs: 100 });
    const { files, count, leaders, converted } = configsIn(world, PARTS);
    const file = files[0] ?? "";
    const { sent, write, stored } = writerIn(world);
    expect(new Set(TOPS.map((top) => partOf(rawOfText(top), PARTS))).size).toBe(PARTS);
    for (const top of TOPS) {
      write(`${top}/2026/a.pdf`);
      write(`${top}/b.pdf`);
    }
    write("in-the-source.pdf");

    // Whichever is there first has all of it, and gives the other one its share.
    await using first = aProcess(["--config", file, "run"]);
    await using second = aProcess(["--config", file, "run"]);
    await Promise.all([first, second].map((daemon) => daemon.says(/one of several daemons/)));
    await until("every part to be led", async () => (await leaders()).size === PARTS);
    const shares = async () =>
      [...Map.groupBy(await leaders(), ([, member]) => member).values()].map(
        ({ length }) => length,
      );
    await until("each to have its share", async () => (await shares()).join() === "2,2");
    await until("all to be archived", async () => (await converted()) === sent.length);
    const status = await scanferry(["--config", file, "status"], { cwd: world.dir });
    expect(status.stdout).toMatch(/leads .*mirror scans \(part \d of 4\)/);

    // In each part a file comes and one goes, and in the source itself.
    for (const top of TOPS) {
      write(`${top}/2026/c.pdf`);
      write(`${top}/new/deep/d.pdf`);
      rmSync(join(world.source, `${top}/b.pdf`));
    }
    write("another.pdf");
    rmSync(join(world.source, "in-the-source.pdf"));
    await until("what came", async () => (await converted()) === sent.length);
    process.kill(second.child.pid ?? 0, "SIGUSR1");
    await until("what went", async () => (await count("gone_at IS NOT NULL")) === TOPS.length + 1);

    // One is killed; a file comes in each part while nobody looks after half of them.
    const before = await leaders();
    const killedAt = performance.now();
    await first.end("SIGKILL");
    for (const top of TOPS) write(`${top}/2026/e.pdf`);
    await until("every part to be taken over", async () => {
      const now = await leaders();
      return now.size === PARTS && new Set(now.values()).size === 1;
    });
    expect(performance.now() - killedAt).toBeLessThan(2 * LEASE_MS);
    const left = new Set(before.values());
    expect(left.has([...(await leaders()).values()][0] ?? "")).toBe(true);
    await until("what came meanwhile", async () => (await converted()) === sent.length);

    expect(stored()).toEqual(sent.toSorted());
    const there = await count("current = 1 AND gone_at IS NULL");
    expect(there, "every file that is there").toBe(TOPS.length * 4 + 1);
    expect(await second.end("SIGTERM"), second.output.stdout).toBe(0);
  });

  test("is divided anew when the last with the old configuration has gone", {
    timeout: 240_000,
  }, async () => {
    await using world = await aWorld({ convertDelayMs: 100 });
    const { files, leaders, count, converted } = configsIn(world, PARTS, 3);
    const [four = "", three = ""] = files;
    const { sent, write, stored } = writerIn(world);
    const done = () => until("all to be archived", async () => (await converted()) === sent.length);
    for (const top of TOPS) write(`${top}/a.pdf`);
    await using old = aProcess(["--config", four, "run"]);
    await old.says(/one of several daemons/);
    await until("the old one to lead", async () => (await leaders()).size === PARTS);
    await using next = aProcess(["--config", three, "run"]);
    await next.says(/one of several daemons/);
    for (const top of TOPS) write(`${top}/b.pdf`);
    await done();
    const ways = async () => new Set([...(await leaders()).keys()].map((way) => way.slice(1)));
    expect([...(await ways())]).toEqual(["of4"]);
    expect(await old.end("SIGTERM"), old.output.stdout).toBe(0);
    await until("the new one to lead", async () => (await leaders()).size === 3);
    expect([...(await ways())]).toEqual(["of3"]);
    for (const top of TOPS) {
      write(`${top}/c.pdf`);
      rmSync(join(world.source, `${top}/a.pdf`));
    }
    await done();
    await until("what went", async () => (await count("gone_at IS NOT NULL")) === TOPS.length);
    expect(stored()).toEqual(sent.toSorted());
    expect(await count("current = 1 AND gone_at IS NULL")).toBe(TOPS.length * 2);
  });
});
