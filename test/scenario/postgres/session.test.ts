import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PgSession } from "../../../src/journal/postgres/session.ts";
import { InvariantError } from "../../../src/std/fault.ts";
import { freePort } from "../../fixtures/free-port.ts";
import { anInstance, aPlace, count, counted, type Place } from "../../fixtures/pg-sessions.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../../fixtures/postgres.ts";
import { aSeveringProxy } from "../../fixtures/severing-proxy.ts";
import { until } from "../../fixtures/until.ts";

describe.skipIf(NO_POSTGRES !== undefined)("a session on PostgreSQL", () => {
  let postgres: Postgres;
  let place: Place;

  beforeAll(async () => {
    postgres = await aPostgres();
  });

  afterAll(() => postgres[Symbol.asyncDispose]());

  beforeEach(async () => {
    place = await aPlace(postgres);
  });

  test("reads what was written before, and writes in the order issued", async () => {
    await using a = await anInstance(place, "a");
    const written = [count(a.session, "x"), count(a.session, "x"), count(a.session, "x")];
    expect(await counted(a.session)).toEqual(new Map([["x", 3]]));
    expect(await Promise.all(written)).toEqual([1, 2, 3]);
  });

  test.each([
    ["25P04", "it was in a transaction for too long"],
    ["08P01", "a pooler in between lost its thread"],
  ])("a read that the server ends with %s is asked once more: %s", async (code) => {
    await using a = await anInstance(place, "a");
    let tries = 0;
    const answer = await a.session.read(async (query) => {
      tries += 1;
      if (tries === 1)
        await query(`DO $$ BEGIN RAISE EXCEPTION 'ended' USING ERRCODE = '${code}'; END $$`);
      return (await query<{ pid: number }>("SELECT pg_backend_pid() AS pid", [])).rows[0]?.pid;
    });
    expect([typeof answer, tries]).toEqual(["number", 2]);
    expect(a.changes, "it is not away").toEqual([]);
  });

  test("commits what comes together at once", async () => {
    await using a = await anInstance(place, "a");
    await count(a.session, "first");
    const [before] = await postgres.ask(
      `SELECT commits FROM ${place.schema}.writer_sessions WHERE instance = ${a.cluster.instanceId}`,
    );
    await Promise.all(Array.from({ length: 100 }, (_, at) => count(a.session, `n${at}`)));
    const [after] = await postgres.ask(
      `SELECT commits FROM ${place.schema}.writer_sessions WHERE instance = ${a.cluster.instanceId}`,
    );
    expect([before?.["commits"], after?.["commits"]]).toEqual(["1", "2"]);
    expect((await counted(a.session)).size).toBe(101);
  });

  test("who leaves in good order takes along what was left a day ago, and nothing later", async () => {
    {
      await using a = await anInstance(place, "a");
      await count(a.session, "x");
    }
    {
      await using b = await anInstance(place, "b");
      await count(b.session, "x");
      const { schema } = place;
      const ago = "clock_timestamp() - interval '2 days'";
      await postgres.ask(`UPDATE ${schema}.instances SET lease_until = ${ago} WHERE name = 'a'`);
      await postgres.ask(`UPDATE ${schema}.writer_sessions SET since = ${ago}`);
    }
    const ask = async (table: string) =>
      (await postgres.ask(`SELECT * FROM ${place.schema}.${table}`)).length;
    expect([await ask("instances"), await ask("writer_sessions")]).toEqual([1, 1]);
  });

  test("undoes a write that throws alone, and tells the others' values once", async () => {
    await using a = await anInstance(place, "a");
    const told: string[] = [];
    const bug = new Error("a bug");
    const write = (what: string) =>
      a.session.write(
        async (query) => {
          await query("INSERT INTO counted VALUES ($1, 1)", [what]);
          if (what === "bug") throw bug;
          return what;
        },
        (value) => told.push(value),
      );
    const outcomes = await Promise.allSettled([write("a"), write("bug"), write("a"), write("b")]);
    expect(outcomes).toEqual([
      { status: "fulfilled", value: "a" },
      { status: "rejected", reason: bug },
      { status: "rejected", reason: expect.any(InvariantError) as Error },
      { status: "fulfilled", value: "b" },
    ]);
    expect(told).toEqual(["a", "b"]);
    expect([...(await counted(a.session)).keys()].sort()).toEqual(["a", "b"]);
  });

  test("does not commit a write that hides a statement's failure", async () => {
    await using a = await anInstance(place, "a");
    const hidden = a.session.write(async (query) => {
      await query("INSERT INTO counted VALUES ('x', 1)", []);
      await query("SELECT 1 / 0", []).catch(() => undefined);
    });
    await expect(hidden).rejects.toBeInstanceOf(InvariantError);
    expect(await count(a.session, "x")).toBe(1);
  });

  test("one that only looks cannot write", async () => {
    const reader = await PgSession.open({ ...place, role: "reader" });
    await expect(count(reader, "x")).rejects.toMatchObject({ code: "JOURNAL_READ_ONLY" });
    expect(await counted(reader)).toEqual(new Map());
    await reader.close();
    await expect(counted(reader)).rejects.toMatchObject({ code: "JOURNAL_CLOSED" });
  });

  test("hears of what others write, and not of what it writes itself", async () => {
    await using a = await anInstance(place, "a");
    await using b = await anInstance(place, "b");
    const guest = await PgSession.open({ ...place, role: "guest" });
    // What the server had to tell of b's coming came before this answer, on the same connection.
    await a.session.announce(null);
    const known = a.session.outsideWrites;
    await count(a.session, "own");
    await until("b to hear of it", () => b.session.outsideWrites > 1);
    expect(a.session.outsideWrites).toBe(known);
    await count(guest, "a guest's");
    await until("a to hear of it", () => a.session.outsideWrites > known);
    await guest.close();
  });

  describe("a commit without an answer", () => {
    test("that was committed is not repeated", async () => {
      await using proxy = await aSeveringProxy(postgres.port);
      const url = place.url.replace(`:${postgres.port}`, `:${proxy.port}`);
      await using a = await anInstance({ ...place, url }, "a");
      await count(a.session, "x");
      const swallowed = proxy.swallowAnswerTo(/COMMIT/);
      const writes = Promise.all([count(a.session, "x"), count(a.session, "y")]);
      await swallowed;
      expect(await writes).toEqual([2, 1]);
      expect(await counted(a.session)).toEqual(
        new Map([
          ["x", 2],
          ["y", 1],
        ]),
      );
    });

    test("that was not committed is repeated", async () => {
      await using proxy = await aSeveringProxy(postgres.port);
      const url = place.url.replace(`:${postgres.port}`, `:${proxy.port}`);
      await using a = await anInstance({ ...place, url }, "a");
      await count(a.session, "x");
      const swallowed = proxy.swallowAnswerTo(/fresh/);
      const write = count(a.session, "fresh");
      await swallowed;
      expect(await write).toBe(1);
      expect((await counted(a.session)).get("fresh")).toBe(1);
    });
  });

  test("of reads that one was to parse a statement for, and was cancelled, each is answered", async () => {
    await using a = await anInstance(place, "a");
    const { url, schema } = place;
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`BEGIN; LOCK TABLE ${schema}.counted IN ACCESS EXCLUSIVE MODE`);
    // On both of its connections.
    const reads = Promise.all([1, 2, 3, 4].map(() => counted(a.session)));
    const waiting = "FROM pg_locks WHERE NOT granted AND relation IS NOT NULL";
    await until("them to wait", async () => {
      const [row] = await postgres.ask(`SELECT count(*)::int AS reads ${waiting}`);
      return row?.["reads"] === 2;
    });
    await postgres.ask(`SELECT pg_cancel_backend(pid) ${waiting}`);
    await client.query("COMMIT");
    await client.end();
    expect((await reads).map(({ size }) => size)).toEqual([0, 0, 0, 0]);
  });

  test("connections that break are replaced without a word", async () => {
    await using proxy = await aSeveringProxy(postgres.port);
    const url = place.url.replace(`:${postgres.port}`, `:${proxy.port}`);
    await using a = await anInstance({ ...place, url }, "a");
    for (let round = 1; round <= 5; round++) {
      const write = count(a.session, "x");
      proxy.sever();
      expect(await write).toBe(round);
      expect((await counted(a.session)).get("x")).toBe(round);
    }
    expect(a.changes.filter(({ type }) => type === "lost")).toEqual([]);
  });

  test("waits while the server takes no more connections", async () => {
    await using small = await aPostgres("max_connections = 12");
    const there = await aPlace(small);
    const opened: PgSession[] = [];
    const refusal = async () => {
      for (;;) opened.push(await PgSession.open({ ...there, role: "reader" }));
    };
    await expect(refusal()).rejects.toMatchObject({
      code: "JOURNAL_UNREACHABLE",
      message: expect.stringContaining("53300") as string,
      hint: expect.stringContaining("max_connections") as string,
    });
    const aways: string[] = [];
    const patient = anInstance(there, "a", {
      patience: { signal: new AbortController().signal, onAway: (why) => aways.push(why) },
    });
    await until("it to be away", () => aways.length > 0);
    for (const each of opened) await each.close();
    await using a = await patient;
    expect(await count(a.session, "x")).toBe(1);
    expect(aways).toHaveLength(1);
  });

  test("waits while the database is read-only", async () => {
    await using a = await anInstance(place, "a", { leaseMs: 2_000 });
    const reader = await PgSession.open({ ...place, role: "reader" });
    setReadOnly("on");
    await until("it to hold", async () => {
      const [row] = await postgres.ask("SHOW default_transaction_read_only");
      return row?.["default_transaction_read_only"] === "on";
    });
    const write = count(a.session, "x");
    expect(await a.hears("away")).toMatchObject({
      why: expect.stringContaining("25006") as string,
    });
    expect((await counted(reader)).size).toBe(0);
    setReadOnly("off");
    expect(await write).toBe(1);
    await a.hears("back");
    expect(a.changes.map(({ type }) => type)).toEqual(["away", "back"]);
    await reader.close();
  });

  test("waits while the certificate that it trusts is not there", async () => {
    const directory = mkdtempSync(join(tmpdir(), "certificate-"));
    const file = join(directory, "ca.pem");
    writeFileSync(file, "");
    const url = new URL(place.url);
    // Read whether it is needed or not.
    url.search = new URLSearchParams({ sslrootcert: file, sslmode: "disable" }).toString();
    await using a = await anInstance({ ...place, url: url.href }, "a");
    expect(await count(a.session, "x")).toBe(1);
    rmSync(directory, { recursive: true });
    await postgres.ask(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
    );
    const write = count(a.session, "x");
    expect(await a.hears("away")).toMatchObject({ why: expect.stringContaining(file) as string });
    mkdirSync(directory);
    writeFileSync(file, "");
    expect(await write).toBe(2);
    rmSync(directory, { recursive: true });
  });

  function setReadOnly(to: "on" | "off"): void {
    postgres.configure(`default_transaction_read_only = ${to}`);
    postgres.reload();
  }

  describe("what keeps it from being opened", () => {
    test.for([
      ["nobody listens", async () => ({ port: await freePort() }), "JOURNAL_UNREACHABLE"],
      ["no such database", () => ({ database: "nowhere" }), "JOURNAL_REFUSED"],
      ["a wrong password", () => ({ user: "guarded", password: "wrong" }), "JOURNAL_REFUSED"],
      ["no password", () => ({ user: "guarded" }), "JOURNAL_REFUSED", "none is set"],
      ["another encoding", () => ({ database: "latin" }), "JOURNAL_UNFIT"],
      [
        "a host that nobody knows",
        () => ({ host: "ssl-certificate.invalid" }),
        "JOURNAL_UNREACHABLE",
      ],
      ["a certificate that is not there", () => ({ file: "/nowhere/ca.pem" }), "JOURNAL_REFUSED"],
    ] as const)("%s", async ([, make, code, why = "postgres://"]) => {
      await postgres.ask(`DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD 'of-a-test';
        EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
      if (code === "JOURNAL_UNFIT") {
        await postgres.ask("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
      }
      const made: Partial<Record<"host" | "database" | "user" | "password" | "file", string>> & {
        port?: number;
      } = await make();
      const url = new URL(place.url);
      if (made.host) url.hostname = made.host;
      if (made.file) url.searchParams.set("sslrootcert", made.file);
      if (made.port) url.port = String(made.port);
      if (made.database) url.pathname = `/${made.database}`;
      if (made.user) url.username = made.user;
      const password = made.password;
      const open = PgSession.open({
        url: url.href,
        schema: place.schema,
        role: "guest",
        password: password === undefined ? undefined : () => password,
      });
      const error: unknown = await open.then(
        () => undefined,
        (caught: unknown) => caught,
      );
      expect(error).toMatchObject({
        code,
        message: expect.stringContaining(why) as string,
      });
      expect(String(error)).toContain("postgres://");
      expect(String(error)).not.toContain("wrong");
    });
  });
});
