/** Two whole daemons on one journal: real readers, real files, the embedded archive over HTTP. */
import { mkdirSync, renameSync } from "node:fs";
import { expect, test } from "vitest";
import { DaemonJournal } from "../../src/daemon/daemon-journal.ts";
import { systemClock } from "../../src/std/clock.ts";
import { MemoryCluster } from "../fakes/memory-cluster.ts";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import { MemoryStore } from "../fakes/memory-store.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { digestOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { ACCOUNT } from "../fixtures/assignments.ts";

/** Long enough for a machine that has no breath for some seconds: who does not renew it in time is lost. */
const LEASE_MS = 10_000;

const joined = (store: MemoryStore, name: string) =>
  MemoryCluster.join(store, { name, clock: systemClock, leaseMs: LEASE_MS });

/** A daemon of a cluster; its instance ends when a test says so. */
async function anInstance(
  world: World,
  store: MemoryStore,
  name: string,
  { config = world.config(), cluster = joined(store, name) } = {},
) {
  cluster.stayAlive();
  const journal = await DaemonJournal.over(
    async (onApplied) => new MemoryJournal({ store, cluster, onApplied }),
  );
  const live = await aDaemon(config, { journal, web: false, tells: false });
  return { ...live, cluster, [Symbol.asyncDispose]: live[Symbol.asyncDispose] };
}

const sums = (world: World) =>
  world.archive
    .documents()
    .map(({ sha256 }) => sha256)
    .toSorted();

test("both carry one tree, and every document is in the archive once", async () => {
  await using world = await aWorld();
  const store = new MemoryStore();
  const files = Array.from({ length: 30 }, (_, n) => pdfOf(1, { seed: n }));
  for (const [n, bytes] of files.entries()) world.write(`scan-${n}.pdf`, bytes);
  await using first = await anInstance(world, store, "first");
  await using second = await anInstance(world, store, "second");
  await Promise.all([first.idle(), second.idle()]);
  expect(sums(world)).toEqual(files.map(digestOf).toSorted());
  const report = await second.daemon.status();
  expect(report.documents).toMatchObject({ converted: 30 });
  expect(report.instances).toMatchObject([
    { name: "first", assignments: ["archive main", "mirror scans"] },
    { name: "second", assignments: [] },
  ]);
});

test("a file that moves to a mirror of another daemon, and back, is archived once", async () => {
  await using world = await aWorld();
  const config = world.config();
  const mirrors = ["one", "two"].flatMap((name) =>
    config.mirrors.map((each) => ({ ...each, name, source: `${each.source}/${name}` })),
  );
  for (const { source } of mirrors) mkdirSync(source);
  for (let n = 0; n < 10; n++) world.write(`one/${n}.pdf`, pdfOf(1, { seed: n }));
  const store = new MemoryStore();
  const clusters = ["first", "second"].map((name) => joined(store, name));
  for (const [n, cluster] of clusters.entries())
    await cluster.seek([{ kind: "mirror", id: n + 1 }]);
  await using first = await anInstance(world, store, "first", {
    config: { ...config, mirrors },
    cluster: clusters[0],
  });
  await using second = await anInstance(world, store, "second", {
    config: { ...config, mirrors },
    cluster: clusters[1],
  });
  const idle = () => Promise.all([first.idle(), second.idle()]);
  await idle();
  const { instances } = await first.daemon.status();
  expect(instances.map(({ assignments }) => assignments.at(-1))).toEqual([
    "mirror one",
    "mirror two",
  ]);
  for (const [from, to] of [
    ["one", "two"],
    ["two", "one"],
  ] as const) {
    const [before, after] = [from, to].map((name) => mirrors.find((each) => each.name === name));
    for (let n = 0; n < 10; n++)
      renameSync(`${before?.source}/${n}.pdf`, `${after?.source}/${n}.pdf`);
    const moved = (await first.daemon.journal.mirrors()).find(({ name }) => name === to)?.id;
    await until("the rows to follow", () =>
      store.rows.every(({ mirrorId, current }) => mirrorId === moved && current),
    );
    await idle();
    expect(world.archive.documents()).toHaveLength(10);
  }
});

test("the second takes over what the first did, while it runs, once the first is gone", async () => {
  await using world = await aWorld();
  const store = new MemoryStore();
  const first = await anInstance(world, store, "first");
  await using second = await anInstance(world, store, "second");
  world.write("before.pdf", pdfOf(1, { seed: 1 }));
  await first.idle();
  first.cluster.goAway("stopped");
  // Nobody looks at the source just now: only the scan of who takes over finds it.
  world.write("after.pdf", pdfOf(1, { seed: 2 }));
  await until("the second to have it all", () => second.cluster.owns(ACCOUNT));
  await second.idle();
  expect(world.archive.documents()).toHaveLength(2);
  // And from then on events tell it.
  world.write("later.pdf", pdfOf(1, { seed: 3 }));
  await until("the third document", () => world.archive.documents().length === 3);
  await second.idle();
  const { instances } = await second.daemon.status();
  expect(instances).toMatchObject([
    { name: "second", assignments: ["archive main", "mirror scans"] },
  ]);
  // The first one finds out, and its loops end.
  first.cluster.comeBack();
  expect(await first.daemon.startOver).toBe("lost");
  await expect(first[Symbol.asyncDispose]()).rejects.toMatchObject({ code: "LEASE_LOST" });
});

test("a daemon whose journal is away says so, sends nothing, and goes on when it is back", async () => {
  await using world = await aWorld();
  const store = new MemoryStore();
  await using live = await anInstance(world, store, "only");
  await live.idle();
  live.cluster.goAway("nobody answers at 5432");
  expect(await live.daemon.look()).toEqual({
    line: "the journal cannot be reached: nobody answers at 5432",
    stuck: undefined,
  });
  await until("the time to send to be over", () => live.cluster.sendLeftMs <= 0);
  live.cluster.comeBack();
  world.write("scan.pdf", pdfOf(1));
  await until("the document to be archived", () => world.archive.documents().length === 1);
  expect((await live.daemon.look()).line).not.toMatch(/cannot be reached/);
});
