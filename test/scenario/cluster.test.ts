/** Two whole daemons on one journal: real readers, real files, the embedded archive over HTTP. */
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

/** A daemon of a cluster; its instance ends when a test says so. */
async function anInstance(world: World, store: MemoryStore, name: string) {
  const cluster = MemoryCluster.join(store, { name, clock: systemClock, leaseMs: LEASE_MS });
  cluster.stayAlive();
  const journal = await DaemonJournal.over(
    async (onApplied) => new MemoryJournal({ store, cluster, onApplied }),
  );
  const live = await aDaemon(world.config(), { journal, web: false, tells: false });
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
