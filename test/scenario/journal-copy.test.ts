/** `scanferry journal copy`: killed, refused, guarded, and silent about passwords. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LEASE_MS, type PostgresPlace } from "../../src/network/journal-place.ts";
import { openJournal } from "../../src/journal/open-journal.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { CANARY, leakLine, leaksIn } from "../fixtures/canary.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { earlierJournal } from "../fixtures/earlier-journal.ts";
import { fullJournal } from "../fixtures/full-journal.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../fixtures/postgres.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { linesOf, scanferry, Sink } from "../unit/cli/in-process.ts";
import { scratch } from "../unit/journal/scratch.ts";

const LINES = 40_000;

/** A copy that takes a rest in the middle, until it is killed: it cannot be done before that. */
const RESTING = `
import timers from "node:timers/promises";
import { syncBuiltinESMExports } from "node:module";
const { setImmediate } = timers;
let pages = 0;
timers.setImmediate = (...given) => {
  if (++pages === 15) process.kill(process.pid, "SIGSTOP");
  return setImmediate(...given);
};
syncBuiltinESMExports();
`;

type Record = {
  same: boolean;
  tables: { table: string; rows: number; digest: string }[];
};

const copied = async (from: string, to: string, env: NodeJS.ProcessEnv = {}) =>
  scanferry(["journal", "copy", "--from", from, "--to", to], { env });

describe.skipIf(NO_POSTGRES !== undefined)("journal copy", () => {
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await aPostgres();
    await postgres.ask(`CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '${CANARY.journalPassword}'`);
  });

  afterAll(() => postgres[Symbol.asyncDispose]());

  function aPlace() {
    const { url, schema } = postgres.place();
    const rest = { password: undefined, hasPasswordInUrl: false, instance: "one" };
    const place: PostgresPlace = { server: url, schema, leaseMs: LEASE_MS, ...rest };
    return { place, url: `${url}?schema=${schema}`, schema };
  }

  /** A journal in PostgreSQL that no daemon works on. */
  async function aJournal() {
    const made = aPlace();
    await (await openJournal(made.place, "owner", { owner: OWNER })).close();
    return made;
  }

  /** Configurations of the world with its journal in a file, and in PostgreSQL. */
  function twoOn(world: World) {
    const file = world.configFile();
    const { url } = aPlace();
    const other = join(world.dir, "elsewhere.yaml");
    const text = readFileSync(file, "utf8").replace(/^journal: .*$/m, `journal: "${url}"`);
    writeFileSync(other, text, { mode: 0o600 });
    const run = (config: string, ...words: string[]) =>
      scanferry(["--config", config, ...words], { cwd: world.dir });
    return { file, other, url, run };
  }

  /** The key of the last line of history that is in the half of a copy. */
  const reached = {
    async postgres(schema: string): Promise<unknown> {
      const name = `${schema}.copying`;
      const [there] = await postgres.ask(`SELECT to_regclass('${name}') IS NOT NULL AS there`);
      if (there?.["there"] !== true) return undefined;
      return (await postgres.ask(`SELECT last FROM ${name} WHERE name = 'history'`))[0]?.["last"];
    },
    sqlite(path: string): unknown {
      if (!existsSync(path)) return undefined;
      const db = new Database(path, { readonly: true });
      try {
        return db.prepare("SELECT last FROM copying WHERE name = 'history'").pluck().get();
      } catch {
        // Not yet there.
        return undefined;
      } finally {
        db.close();
      }
    },
  };

  test("killed again and again, both ways, it goes on; every row is the source's", {
    timeout: 180_000,
  }, async () => {
    using directory = scratch();
    const [from, back] = [join(directory.path, "a.db"), join(directory.path, "b.db")];
    fullJournal(from, LINES);
    const there = aPlace();
    const ways = [
      [from, there.url, () => reached.postgres(there.schema)],
      [there.url, back, () => reached.sqlite(back)],
    ] as const;
    for (const [source, target, look] of ways) {
      let before: unknown = null;
      for (let kill = 0; kill < 2; kill++) {
        await using copying = aProcess(["journal", "copy", "--from", source, "--to", target], {
          NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(RESTING)}`,
        });
        const passed = await until("more of it", async () => {
          const now = await look();
          return now !== null && now !== before && now;
        });
        expect(await copying.end("SIGKILL")).toBe("SIGKILL");
        // What it was killed in stays, and is more than before.
        expect(numberIn(await look())).toBeGreaterThanOrEqual(numberIn(passed));
        expect(numberIn(passed)).toBeGreaterThan(numberIn(before));
        before = await look();
      }
      expect(numberIn(before)).toBeLessThan(LINES);
      const last = await scanferry(["journal", "copy", "--from", source, "--to", target, "--json"]);
      expect(last).toMatchObject({ code: 0, stderr: "" });
      const record = JSON.parse(last.stdout) as Record;
      expect(record.same).toBe(true);
      expect(record.tables.find(({ table }) => table === "history")?.rows).toBe(LINES + 15);
    }
  });

  test("the source goes on after the copy: nothing is sent twice, by the copy", async () => {
    await using world = await aWorld();
    const { file, other, url, run } = twoOn(world);
    world.write("a.pdf", pdfOf(1, { seed: 1 }));
    expect(await run(file, "sync")).toMatchObject({ code: 0 });
    const made = await copied(world.journal, url);
    expect(made.stderr).toBe("");
    expect(linesOf(made.stdout)).toEqual([
      ...TABLES.map((name) =>
        expect.stringMatching(`^${name} +\\d+  the same  sha256 [0-9a-f]{64}$`),
      ),
      expect.stringMatching(
        /^copied and compared every row: \d+ rows in 14 tables; from .*journal\.db to postgres/,
      ),
      expect.stringMatching(
        /^next: set it as `journal`, \S+scanferry adopt, then start the daemon$/,
      ),
    ]);
    world.write("b.pdf", pdfOf(1, { seed: 2 }));
    // The archive knows no b.pdf, so that the source continues automatically.
    expect(await run(file, "sync")).toMatchObject({ code: 0 });
    expect(world.archive.documents()).toHaveLength(2);
    const beside = await run(other, "sync");
    expect(beside).toMatchObject({
      code: 3,
      stdout: expect.stringContaining("FIRST_RUN") as string,
    });
    expect(world.archive.documents()).toHaveLength(2);
    expect(await run(other, "adopt")).toMatchObject({ code: 0 });
    world.write("c.pdf", pdfOf(1, { seed: 3 }));
    expect(await run(other, "sync")).toMatchObject({ code: 0 });
    expect(await run(other, "verify")).toMatchObject({ code: 0 });
    expect(world.archive.documents()).toHaveLength(3);
  });

  test("the copy goes on: the source, taken up again, sends nothing twice", async () => {
    await using world = await aWorld();
    const { file, other, url, run } = twoOn(world);
    world.write("a.pdf", pdfOf(1, { seed: 1 }));
    expect(await run(file, "sync")).toMatchObject({ code: 0 });
    expect(await copied(world.journal, url)).toMatchObject({ code: 0 });
    expect(await run(other, "adopt")).toMatchObject({ code: 0 });
    world.write("b.pdf", pdfOf(1, { seed: 2 }));
    expect(await run(other, "sync")).toMatchObject({ code: 0 });
    expect(world.archive.documents()).toHaveLength(2);
    const again = await run(file, "sync");
    expect(again).toMatchObject({
      code: 3,
      stdout: expect.stringContaining("FIRST_RUN") as string,
    });
    expect(world.archive.documents()).toHaveLength(2);
  });

  test("what was being sent when its daemon was killed is in doubt for the next one", async () => {
    using directory = scratch();
    const from = join(directory.path, "a.db");
    fullJournal(from);
    const { url, place } = aPlace();
    expect(await copied(from, url)).toMatchObject({ code: 0 });
    await using journal = await openJournal(place, "owner", { owner: OWNER });
    const lost = await journal.underWay(100);
    expect(lost.map(({ state, name }) => [state, name])).toEqual([
      ["uploading", "uploading.pdf"],
      ["uploading", "uploading.pdf"],
    ]);
  });

  describe("refuses, in one line", () => {
    type Ends = { from: string; to: string };
    const cases: [string, RegExp, (dir: string) => Promise<Ends & Partial<AsyncDisposable>>][] = [
      [
        "a source that is not there",
        /nowhere\.db: there is none/,
        async (dir) => ({ from: join(dir, "nowhere.db"), to: join(dir, "b.db") }),
      ],
      [
        "a source that is not there, in PostgreSQL",
        /postgres:.*: there is none/,
        async (dir) => ({ from: aPlace().url, to: join(dir, "b.db") }),
      ],
      [
        "a source of another version",
        /a\.db: schema 1, this scanferry writes \d+/,
        async (dir) => {
          earlierJournal(join(dir, "a.db"), 1);
          return { from: join(dir, "a.db"), to: aPlace().url };
        },
      ],
      [
        "a source that a later version wrote",
        /schema 99, this scanferry writes \d+/,
        async (dir) => {
          const { url, schema } = await aJournal();
          await postgres.ask(`UPDATE ${schema}.schema_version SET version = 99`);
          return { from: url, to: join(dir, "b.db") };
        },
      ],
      [
        "a target of another version",
        /b\.db: schema 1, this scanferry writes \d+/,
        async (dir) => {
          fullJournal(join(dir, "a.db"));
          earlierJournal(join(dir, "b.db"), 1);
          return { from: join(dir, "a.db"), to: join(dir, "b.db") };
        },
      ],
      [
        "a target with rows of its own",
        /b\.db: holds rows already, .* of a finished copy; copy to where there is no journal yet/,
        async (dir) => {
          fullJournal(join(dir, "a.db"));
          fullJournal(join(dir, "b.db"));
          return { from: join(dir, "a.db"), to: join(dir, "b.db") };
        },
      ],
      [
        "a target with a mirror of its own, in PostgreSQL",
        /holds rows already/,
        async (dir) => {
          fullJournal(join(dir, "a.db"));
          const { url, schema } = await aJournal();
          await postgres.ask(`INSERT INTO ${schema}.mirrors (name, source) VALUES ('m', '/m')`);
          return { from: join(dir, "a.db"), to: url };
        },
      ],
      [
        "a target that something else is in",
        /holds other things, and no scanferry journal/,
        async (dir) => {
          fullJournal(join(dir, "a.db"));
          const { url, schema } = aPlace();
          await postgres.ask(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.t (a int)`);
          return { from: join(dir, "a.db"), to: url };
        },
      ],
      [
        "a source that a daemon works on",
        new RegExp(`a\\.db: in use by process ${process.pid}`),
        async (dir) => {
          fullJournal(join(dir, "a.db"));
          const daemon = await openJournal(join(dir, "a.db"), "owner", { owner: OWNER });
          return {
            from: join(dir, "a.db"),
            to: aPlace().url,
            [Symbol.asyncDispose]: () => daemon.close(),
          };
        },
      ],
      [
        "a source that an instance works on",
        new RegExp(`in use by process ${process.pid} of one`),
        async (dir) => {
          const { url, place } = aPlace();
          const daemon = await openJournal(place, "owner", { owner: OWNER });
          return { from: url, to: join(dir, "b.db"), [Symbol.asyncDispose]: () => daemon.close() };
        },
      ],
      [
        "a target that an instance works on",
        new RegExp(`in use by process ${process.pid} of one`),
        async (dir) => {
          fullJournal(join(dir, "a.db"));
          const { url, place } = aPlace();
          const daemon = await openJournal(place, "owner", { owner: OWNER });
          return { from: join(dir, "a.db"), to: url, [Symbol.asyncDispose]: () => daemon.close() };
        },
      ],
      [
        "half a copy of another journal",
        /holds half a copy of .*a\.db/,
        async (dir) => {
          fullJournal(join(dir, "a.db"));
          fullJournal(join(dir, "c.db"));
          await halfOf(join(dir, "a.db"), join(dir, "b.db"));
          return { from: join(dir, "c.db"), to: join(dir, "b.db") };
        },
      ],
      [
        "half a copy as a source",
        /b\.db: only a part of it was copied yet; run the same/,
        async (dir) => {
          fullJournal(join(dir, "a.db"));
          await halfOf(join(dir, "a.db"), join(dir, "b.db"));
          return { from: join(dir, "b.db"), to: join(dir, "c.db") };
        },
      ],
      [
        "what is no journal",
        /a\.db: a database, but not a scanferry journal/,
        async (dir) => {
          new Database(join(dir, "a.db")).exec("CREATE TABLE t (a)").close();
          return { from: join(dir, "a.db"), to: join(dir, "b.db") };
        },
      ],
      [
        "a database that cannot be reached",
        /postgres:\/\/x@127\.0\.0\.1:1\/db\?schema=scanferry: .*ECONNREFUSED/,
        async (dir) => ({ from: "postgres://x@127.0.0.1:1/db", to: join(dir, "b.db") }),
      ],
    ];

    test.for(cases)("%s", async ([, line, prepare]) => {
      using directory = scratch();
      const { from, to, ...daemon } = await prepare(directory.path);
      try {
        const ran = await copied(from, to);
        expect(linesOf(ran.stderr)).toEqual([expect.stringMatching(line)]);
        expect(ran).toMatchObject({ code: 1, stdout: "" });
      } finally {
        await daemon[Symbol.asyncDispose]?.();
      }
    });

    /** Stopped before the first page of rows was followed by another. */
    async function halfOf(from: string, to: string): Promise<void> {
      const stopping = AbortSignal.abort(new Error("stopped"));
      const words = ["journal", "copy", "--from", from, "--to", to];
      const ran = await scanferry(words, { stopping });
      expect(ran).toMatchObject({
        code: 130,
        stderr: "scanferry: stopped; run the same command again to continue\n",
      });
    }
  });

  test("a row that differs: exit code 1, and which it is", async () => {
    using directory = scratch();
    const [from, to] = [join(directory.path, "a.db"), join(directory.path, "b.db")];
    fullJournal(from);
    const stopping = AbortSignal.abort(new Error("stopped"));
    const words = ["journal", "copy", "--from", from, "--to", to];
    // One page of rows each time: the accounts' first.
    for (const page of ["account", "archives"]) {
      expect([page, (await scanferry(words, { stopping })).code]).toEqual([page, 130]);
    }
    new Database(from).exec("UPDATE archives SET pace_limit = 7 WHERE id = 2").close();
    const ran = await scanferry(words);
    expect(ran.code).toBe(1);
    expect(linesOf(ran.stdout)).toContainEqual(
      expect.stringMatching(
        /^archives +2 {2}differs: 2 rows in the copy, id=2 differs in pace_limit$/,
      ),
    );
    expect(linesOf(ran.stderr)).toEqual([
      expect.stringMatching(
        /b\.db: archives: id=2 differs in pace_limit, compared with .*a\.db; delete/,
      ),
    ]);
    const record = JSON.parse((await scanferry([...words, "--json"])).stdout) as object;
    expect(record).toMatchObject({
      same: false,
      difference: { table: "archives", row: "id=2", what: ["pace_limit"] },
    });
  });

  test("a password: in the environment, the configuration or the address, and never shown", async () => {
    await using world = await aWorld();
    const from = join(world.dir, "a.db");
    fullJournal(from);
    const said: string[] = [];
    const tell = async (ran: ReturnType<typeof scanferry>) => {
      const { code, stdout, stderr } = await ran;
      said.push(stdout, stderr);
      return code;
    };
    const guarded = () => aPlace().url.replace("scanferry@", "guarded@");
    expect(await tell(copied(from, guarded()))).toBe(1);
    expect(said.at(-1)).toMatch(/password/);
    const SCANFERRY_JOURNAL_PASSWORD = CANARY.journalPassword;
    expect(await tell(copied(from, guarded(), { SCANFERRY_JOURNAL_PASSWORD }))).toBe(0);
    const secret = encodeURIComponent(CANARY.journalPassword);
    expect(await tell(copied(from, guarded().replace("@", `:${secret}@`)))).toBe(0);

    const config = join(world.dir, "other.yaml");
    const text = readFileSync(world.configFile(), "utf8").replace(
      /^journal: .*$/m,
      `journal: { url: "${guarded()}", passwordFile: secrets.db }`,
    );
    writeFileSync(config, text, { mode: 0o600 });
    writeFileSync(join(world.dir, "secrets.db"), CANARY.journalPassword, { mode: 0o600 });
    const words = ["--config", config, "journal", "copy", "--from", from, "--to", guarded()];
    expect(await tell(scanferry(words))).toBe(0);
    // Another server is not told it.
    words[words.length - 1] = guarded().replace("127.0.0.1", "localhost");
    expect(await tell(scanferry(words))).toBe(1);
    expect(leaksIn("what was said", said.join("\n")).map(leakLine)).toEqual([]);
  });

  test("on a terminal a line tells how far it is, and is cleared", async () => {
    using directory = scratch();
    mkdirSync(join(directory.path, "to"));
    fullJournal(join(directory.path, "a.db"), 3_000);
    const stdout = new Sink(true);
    const words = ["journal", "copy", "--from", "a.db", "--to", "to/b.db"];
    expect(await scanferry(words, { cwd: directory.path, stdout })).toMatchObject({ code: 0 });
    expect(stdout.text).toMatch(/copying account: 1 of 1 rows, 100 %/);
    expect(stdout.text.lastIndexOf("\u001b[2K")).toBeLessThan(stdout.text.indexOf("the same"));
  });
});

const OWNER = { pid: process.pid, startedAt: 1, version: "0.0.0" };

const TABLES = [
  "account",
  "archives",
  "mirrors",
  "directories",
  "documents",
  "history",
  "forgotten",
  "attempts",
  "batches",
  "contents",
  "tombstones",
  "usage_buckets",
  "outbox",
  "key_values",
];

/** Of a key of history, the line's. */
function numberIn(key: unknown): number {
  return typeof key === "string" ? Number((JSON.parse(key) as number[])[1]) : 0;
}
