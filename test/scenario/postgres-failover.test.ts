/** A journal in PostgreSQL with a standby that takes over, behind an address that moves with it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { digestOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { anInstance, aPlace, count, counted } from "../fixtures/pg-sessions.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../fixtures/postgres.ts";
import { aSeveringProxy, type SeveringProxy } from "../fixtures/severing-proxy.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";

type Pair = AsyncDisposable & {
  readonly primary: Postgres;
  readonly standby: Postgres;
  /** Where the primary is, whichever that is. */
  readonly address: SeveringProxy;
  /** Kills the primary, and after `meanwhile` has the standby take its place and its address. */
  failOver(meanwhile?: () => Promise<unknown>): Promise<void>;
};

/** Two servers; nothing is committed that is not on both. */
async function aPair(): Promise<Pair> {
  await using parts = new AsyncDisposableStack();
  const primary = parts.use(await aPostgres());
  const standby = parts.use(await aPostgres("", primary));
  primary.configure("synchronous_standby_names = '*'");
  primary.reload();
  await until("the standby to be waited for", async () => {
    const asked = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
    return (await primary.ask(asked)).length > 0;
  });
  const address = parts.use(await aSeveringProxy(primary.port));
  const owned = parts.move();
  return {
    primary,
    standby,
    address,
    async failOver(meanwhile: () => Promise<unknown> = async () => {}) {
      await primary.crash();
      await meanwhile();
      await standby.ask("SELECT pg_promote()");
      address.turnTo(standby.port);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Of this one server behind the address. */
const urlAt = ({ url, port }: Postgres, address: SeveringProxy) =>
  url.replace(`:${port}/`, `:${address.port}/`);

describe.skipIf(NO_POSTGRES !== undefined)("a primary that dies, and its standby", () => {
  test("daemons continue automatically: nothing is lost, nothing is sent twice", async () => {
    await using pair = await aPair();
    await using world = await aWorld({ convertDelayMs: 100 });
    const { schema } = pair.primary.place();
    const url = `${urlAt(pair.primary, pair.address)}?schema=${schema}`;
    const sent: string[] = [];
    const write = (name: string, seed: number) => {
      const content = pdfOf(1, { seed });
      sent.push(digestOf(content));
      world.write(name, content);
    };
    await using one = aProcess(["--config", configIn(world, url, "one"), "run"]);
    await using other = aProcess(["--config", configIn(world, url, "other"), "run"]);
    for (const { output } of [one, other])
      await until("both to run", () => output.stdout.includes("assignments taken"));
    for (let n = 0; n < 60; n++) write(`before-${n}.pdf`, n);
    await until("some documents", () => world.archive.documents().length > 10);
    await pair.failOver(async () => {
      for (const { output } of [one, other])
        await until("both to miss it", () => output.stdout.includes("nothing new is sent"));
    });
    for (let n = 0; n < 10; n++) write(`after-${n}.pdf`, 100 + n);
    await until("all documents", async () => {
      const asked = `SELECT count(*) AS n FROM ${schema}.documents WHERE state = 'converted'`;
      return (await pair.standby.ask(asked))[0]?.["n"] === String(sent.length);
    });
    const stored = world.archive.documents().map(({ sha256 }) => sha256);
    expect(stored.toSorted()).toEqual(sent.toSorted());
    for (const daemon of [one, other]) {
      expect(await daemon.end("SIGTERM"), daemon.output.stdout).toBe(0);
      const { stdout } = daemon.output;
      expect(stdout.match(/the journal cannot be reached; nothing new is sent/g)).toHaveLength(1);
      expect(stdout.match(/the journal can be reached again/g)).toHaveLength(1);
    }
  });

  test("every write is done once, and none that was acknowledged is lost", async () => {
    await using pair = await aPair();
    const place = await aPlace(pair.primary);
    const moving = { ...place, url: urlAt(pair.primary, pair.address) };
    await using instance = await anInstance(moving, "one", { leaseMs: 60_000 });
    const done = new Map<string, number>();
    const over = new AbortController();
    const writers = Array.from({ length: 20 }, async (_, writer) => {
      for (let n = 0; !over.signal.aborted; n++) {
        const what = `${writer} ${n}`;
        done.set(what, await count(instance.session, what));
      }
    });
    await until("writes", () => done.size > 300);
    await pair.failOver();
    const before = done.size;
    await until("more writes", () => done.size > before + 300);
    over.abort();
    await Promise.all(writers);
    const kept = await counted(instance.session);
    expect([...done.values()].filter((times) => times !== 1)).toEqual([]);
    expect([...kept.values()].filter((times) => times !== 1)).toEqual([]);
    expect([...kept.keys()].toSorted()).toEqual([...done.keys()].toSorted());
  });

  test("what the standby lacks is acknowledged to nobody, whatever becomes of the connection", async () => {
    await using pair = await aPair();
    const place = await aPlace(pair.primary);
    const moving = { ...place, url: urlAt(pair.primary, pair.address) };
    await using instance = await anInstance(moving, "one", { leaseMs: 6_000 });
    await count(instance.session, "both have it");
    await pair.standby.ask("ALTER SYSTEM SET primary_conninfo = ''");
    pair.standby.reload();
    await until("the standby to hear no more", async () => {
      return (await pair.primary.ask("SELECT FROM pg_stat_replication")).length === 0;
    });
    let isAcknowledged = false;
    const late = count(instance.session, "one has it").finally(() => {
      isAcknowledged = true;
    });
    const waiting = (query: string) =>
      until(`${query} to wait for the standby`, async () => {
        const asked = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '${query}%'`;
        return (await pair.primary.ask(asked)).length > 0;
      });
    await waiting("COMMIT");
    // Committed there by now. Anyone who asks after it has to wait for the standby, too.
    pair.address.sever();
    await waiting("SELECT commits FROM writer_sessions");
    await instance.hears("away");
    expect(isAcknowledged).toBe(false);
    await pair.failOver();
    expect(await late).toBe(1);
    await instance.hears("back");
    expect(await counted(instance.session)).toEqual(
      new Map([
        ["both have it", 1],
        ["one has it", 1],
      ]),
    );
  });
});

/** A configuration of the world, with its journal at this address. */
function configIn(world: World, url: string, instance: string): string {
  const file = join(world.dir, `${instance}.yaml`);
  const text = readFileSync(world.configFile(), "utf8").replace(
    /^journal: .*$/m,
    `journal: { url: "${url}", lease: 5s, instance: ${instance} }`,
  );
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}
