/** The ways to a PostgreSQL: through a pooler, without a connection to spare, by socket, by TLS. */
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { postgresUrl } from "../../../src/config/place-kinds.ts";
import type { PostgresUrl } from "../../../src/network/journal-place.ts";
import { PgSession } from "../../../src/journal/postgres/session.ts";
import { type Clock, sleepOn, systemClock } from "../../../src/std/clock.ts";
import { Certificates, hasOpenssl } from "../../fixtures/certificates.ts";
import { anInstance, aPlace, count, counted, type Place } from "../../fixtures/pg-sessions.ts";
import { aPgbouncer, NO_PGBOUNCER } from "../../fixtures/pgbouncer.ts";
import { aPostgres, NO_POSTGRES, type Postgres, unprivileged } from "../../fixtures/postgres.ts";
import { aWorld } from "../../fixtures/world.ts";
import { scanferry } from "../../unit/cli/in-process.ts";

/** Of which a second takes 20 ms. */
const hasty: Clock = {
  ...systemClock,
  monotonic: () => systemClock.monotonic() * 50,
  alarm: (ms, notify) => systemClock.alarm(ms / 50, notify),
  sleep: (ms, signal) => sleepOn(hasty, ms, signal),
};

const caught = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => "nothing",
    (error: unknown) => error,
  );

describe.skipIf(NO_POSTGRES !== undefined)("the way to PostgreSQL", () => {
  let postgres: Postgres;
  let place: Place;

  beforeAll(async () => {
    postgres = await aPostgres();
  });

  afterAll(() => postgres[Symbol.asyncDispose]());

  beforeEach(async () => {
    place = await aPlace(postgres);
  });

  describe.skipIf(NO_PGBOUNCER !== undefined)("through pgbouncer", () => {
    const through = ({ port }: { port: number }): Place => ({
      ...place,
      url: place.url.replace(`:${postgres.port}`, `:${port}`),
    });

    test("that keeps sessions, all is as without it", async () => {
      await using pool = await aPgbouncer(postgres, "pool_mode = session");
      for (let times = 1; times <= 2; times++) {
        await using a = await anInstance(through(pool), "a");
        await using b = await anInstance(through(pool), "b");
        expect(await count(a.session, "x")).toBe(times);
        expect(await counted(b.session)).toEqual(new Map([["x", times]]));
      }
    });

    test.each([
      ["transaction", ""],
      ["transaction", "server_round_robin = 1"],
      ["statement", ""],
    ])("that does not (%s, %s), none is opened", async (mode, more) => {
      await using pool = await aPgbouncer(postgres, `pool_mode = ${mode}\n${more}`);
      const refused = {
        code: "JOURNAL_UNFIT",
        hint: expect.stringContaining("pool_mode = session") as string,
      };
      // The first to come has a pool without sessions before it, later ones have several.
      for (const role of ["reader", "guest", "owner"] as const) {
        const opened = anInstance(through(pool), "a", { role });
        await expect(opened, role).rejects.toMatchObject(refused);
      }
      expect(await postgres.ask(`SELECT * FROM ${place.schema}.instances`)).toEqual([]);
    });

    test.each([
      ["its queue", "default_pool_size = 2", "no connection to spare"],
      ["its own limit", "max_client_conn = 2", "max_client_conn"],
    ])("that has no connection to spare (%s), it is reported", async (_, settings, why) => {
      await using pool = await aPgbouncer(postgres, `pool_mode = session\n${settings}`);
      const holder = await PgSession.open({ ...through(pool), role: "guest" });
      const exhausted = {
        code: "JOURNAL_UNREACHABLE",
        message: expect.stringContaining(why) as string,
        hint: expect.stringContaining("each daemon needs 4, a command 2") as string,
      };
      const from = hasty.monotonic();
      const command = PgSession.open({ ...through(pool), role: "reader", clock: hasty });
      await expect(command).rejects.toMatchObject(exhausted);
      const aways: string[] = [];
      const ending = new AbortController();
      const daemon = anInstance(through(pool), "a", {
        clock: hasty,
        patience: {
          signal: ending.signal,
          onAway: (told) => {
            aways.push(told);
            ending.abort();
          },
        },
      });
      await expect(daemon).rejects.toMatchObject({ code: "JOURNAL_UNREACHABLE" });
      expect(aways).toEqual([expect.stringContaining(why)]);
      // Of the hasty clock: 30 s for the command and for the daemon, and what the machine needs.
      expect(hasty.monotonic() - from).toBeLessThan(120_000);
      await holder.close();
    });
  });

  test.skipIf(NO_PGBOUNCER !== undefined)(
    "`status` ends, and says why and what to do",
    async () => {
      await using world = await aWorld();
      await using pool = await aPgbouncer(postgres, "pool_mode = session\ndefault_pool_size = 1");
      const url = place.url.replace(`:${postgres.port}`, `:${pool.port}`);
      const client = new Client({ connectionString: url });
      await client.connect();
      const file = join(world.dir, "scanferry.yaml");
      const text = readFileSync(world.configFile(), "utf8");
      writeFileSync(file, text.replace(/^journal: .*$/m, `journal: ${url}?schema=${place.schema}`));
      const from = Date.now();
      const { code, stderr } = await scanferry(["--config", file, "status"]);
      expect(Date.now() - from).toBeLessThan(30_000);
      expect([code, stderr]).toEqual([1, expect.stringContaining("no connection to spare")]);
      expect(stderr).toContain("max_connections");
      await client.end();
    },
  );

  test("a command whose database goes away does not wait for it for ever", async () => {
    const small = await aPostgres();
    await using _ = small;
    const there = await aPlace(small);
    await using a = await anInstance(there, "a", { role: "guest", clock: hasty });
    expect(await counted(a.session)).toEqual(new Map());
    await small.stop();
    const away = { code: "JOURNAL_UNREACHABLE" };
    await expect(counted(a.session)).rejects.toMatchObject(away);
    await expect(count(a.session, "x")).rejects.toMatchObject(away);
  });

  test("a socket, as libpq writes it", async () => {
    const directory = mkdtempSync(join(tmpdir(), "socket-"));
    chmodSync(directory, 0o777);
    await using local = await aPostgres(`unix_socket_directories = '${directory}'`);
    // Nobody listens on the network.
    local.configure(`listen_addresses = ''\nport = 5499`);
    await local.stop();
    await local.start();
    for (const written of [
      `postgresql://scanferry@/postgres?host=${directory}&port=5499&sslmode=require`,
      `postgresql:///postgres?host=${directory}&port=5499&user=scanferry`,
      `postgresql://scanferry@${encodeURIComponent(directory)}:5499/postgres`,
    ]) {
      const { server } = read(written);
      const session = await PgSession.open({ url: server, schema: "public", role: "reader" });
      const { rows } = await session.read((query) => query("SELECT inet_server_addr() AS at", []));
      expect(rows, written).toEqual([{ at: null }]);
      await session.close();
    }
    rmSync(directory, { recursive: true });
  });

  describe.skipIf(!hasOpenssl)("by TLS", () => {
    const made = new Certificates();
    const at = (file: string) => join(made.path, file);

    beforeAll(() => {
      made.make("ca", "");
      made.make("server", "IP:127.0.0.1", "ca");
      made.make("elsewhere", "DNS:db.example.com", "ca");
      chmodSync(made.path, 0o755);
      const user = unprivileged();
      for (const name of ["server", "elsewhere"]) {
        if (user) chownSync(at(`${name}.key`), user.uid, user.gid);
        chmodSync(at(`${name}.key`), 0o600);
      }
    });

    afterAll(() => made[Symbol.dispose]());

    test.for([
      [undefined, "sslmode=require", "Switch TLS on", "a server without"],
      ["server", "sslmode=require", "sslrootcert=FILE", "an authority that nobody knows"],
      ["elsewhere", "sslmode=verify-ca&sslrootcert=CA", "as the host", "another name"],
      ["server", "sslmode=verify-full&sslrootcert=CA.gone", "absolute path", "no such file"],
      ["server only", "sslmode=disable", "sslmode=verify-full", "a server that wants it"],
      ["server", "sslmode=prefer&sslrootcert=CA", undefined, "the right authority"],
      ["server", "sslmode=no-verify", undefined, "no look at it"],
    ] as const)("%s, %s: %s (%s)", async ([server, asked, hint]) => {
      const name = server?.split(" ")[0];
      const settings = name
        ? [
            `ssl = on`,
            `ssl_cert_file = '${at(`${name}.crt`)}'`,
            `ssl_key_file = '${at(`${name}.key`)}'`,
          ]
        : [];
      if (name !== server) {
        writeFileSync(at("hba"), "hostssl all all 127.0.0.1/32 trust\n");
        settings.push(`hba_file = '${at("hba")}'`);
      }
      await using secure = await aPostgres(settings.join("\n"));
      const written = `${secure.url}?${asked.replace("CA", at("ca.crt"))}`;
      const { server: url } = read(written);
      const opening = PgSession.open({ url, schema: "public", role: "reader" });
      if (hint === undefined) return await (await opening).close();
      const error = await caught(opening);
      expect(error).toMatchObject({
        code: "JOURNAL_REFUSED",
        hint: expect.stringMatching(hint) as string,
      });
    });
  });
});

function read(written: string): PostgresUrl {
  return postgresUrl().parse(written);
}
