/** Several daemons that start at once on a journal that knows nothing, next to an archive in use. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { digestOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { NO_POSTGRES } from "../fixtures/postgres.ts";
import { thePostgres } from "../fixtures/the-postgres.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const OLD = 12;
const NEW = 24;
const NAMES = ["one", "two", "three"];

describe.skipIf(NO_POSTGRES !== undefined)("the first run of a cluster", () => {
  const postgres = thePostgres();

  /** The world's configuration for one of the cluster, with its journal in `schema`. */
  function configIn(world: World, schema: string, instance: string): string {
    const file = join(world.dir, `${instance}.yaml`);
    const text = readFileSync(world.configFile(), "utf8").replace(
      /^journal: .*$/m,
      `journal: { url: "${postgres.url}?schema=${schema}", lease: 5s, instance: ${instance} }`,
    );
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  test("holds for all of them what the archive may have, until it is adopted; all else is sent once", async () => {
    await using world = await aWorld({ convertDelayMs: 50 });
    const files = new Map<string, Buffer>();
    const write = (name: string, seed: number) => {
      const content = pdfOf(1, { seed });
      files.set(name, content);
      world.write(name, content);
    };
    for (let n = 0; n < OLD; n++) write(`old-${n}.pdf`, n);
    const before = configIn(world, postgres.place().schema, "before");
    expect((await scanferry(["--config", before, "sync"], { cwd: world.dir })).code).toBe(0);
    // That journal is lost: theirs is another, empty one.
    for (let n = 0; n < NEW; n++) write(`new-${n}.pdf`, 100 + n);
    const { schema } = postgres.place();
    const count = async (where: string) => {
      const asked = `SELECT count(*)::int AS n FROM ${schema}.documents WHERE ${where}`;
      const there = await postgres.ask(`SELECT to_regclass('${schema}.documents') AS is`);
      return there[0]?.["is"] === null ? 0 : (await postgres.ask(asked))[0]?.["n"];
    };
    const configs = NAMES.map((name) => configIn(world, schema, name));
    await using daemons = new AsyncDisposableStack();
    const running = configs.map((config) => daemons.use(aProcess(["--config", config, "run"])));
    const held = "state = 'held' AND problem_code = 'FIRST_RUN'";
    const standing = async () => ({
      rows: await postgres.ask(
        `SELECT state, problem_code, problem_message, count(*) FROM ${schema}.documents GROUP BY 1, 2, 3`,
      ),
      archived: world.archive.documents().length,
      said: running.map(({ output }) => `${output.stdout}${output.stderr}`),
    });
    await until(
      "the new ones to be converted",
      async () => (await count("state = 'converted'")) === NEW && (await count(held)) === OLD,
      undefined,
      standing,
    );
    expect(world.archive.documents()).toHaveLength(OLD + NEW);
    const words = ["--config", configs[0] ?? "", "adopt"];
    const adopted = await scanferry(words, { cwd: world.dir });
    expect(adopted.stdout, adopted.stderr).toContain(`${OLD} claimed`);
    await until("all of them", async () => (await count("state = 'converted'")) === OLD + NEW);
    await until("the first run to be over", async () => {
      const asked = `SELECT FROM ${schema}.mirrors WHERE first_run_over_at IS NULL`;
      return (await postgres.ask(asked)).length === 0;
    });
    for (let n = 0; n < 9; n++) write(`later-${n}.pdf`, 200 + n);
    await until("later ones", async () => {
      return (await count("state = 'converted'")) === files.size;
    });
    const sums = [...files.values()].map(digestOf).toSorted();
    expect(
      world.archive
        .documents()
        .map(({ sha256 }) => sha256)
        .toSorted(),
    ).toEqual(sums);
    for (const daemon of running) {
      expect(await daemon.end("SIGTERM"), daemon.output.stdout).toBe(0);
    }
  });

  test("a mirror that gets another name goes on, and so does one that gets it back", async () => {
    await using world = await aWorld();
    const { schema } = postgres.place();
    const run = (name: string, ...words: string[]) => {
      const config = configIn(world, schema, "one");
      const text = readFileSync(config, "utf8").replace(
        /(?<=mirrors:\n(?:.*\n)*? *- )/,
        `name: ${name}\n    `,
      );
      writeFileSync(config, text);
      return scanferry(["--config", config, ...words], { cwd: world.dir });
    };
    world.write("a.pdf", pdfOf(1, { seed: 1 }));
    expect(await run("scans", "sync")).toMatchObject({ code: 0 });
    expect(await run("office", "sync")).toMatchObject({ code: 0 });
    expect(await run("office", "adopt")).toMatchObject({ code: 0 });
    expect(await run("scans", "sync")).toMatchObject({ code: 0 });
    expect(world.archive.documents()).toHaveLength(1);
  });
});
