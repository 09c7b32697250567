import { describe, expect, onTestFinished, test } from "vitest";
import type { Document } from "../../src/domain/document.ts";
import { type ClusterChange, UNCLEAN_KEYS } from "../../src/journal/cluster.ts";
import type { Change, Journal } from "../../src/journal/journal.ts";
import { codeOf } from "../../src/std/fault.ts";
import { appearing, Desk, events, NOW } from "./journal-desk.ts";
import { ACCOUNT, ofMirror } from "../fixtures/assignments.ts";

/** A store, and what lets instances join and fail. */
export type ClusterFixture = AsyncDisposable & {
  /** Another instance on the same store, with a lease that it renews on its own. */
  join(name: string): Promise<Journal>;
  /** The instance does not renew any more, and its lease runs out; resolves then. Nobody is told. */
  stall(journal: Journal): Promise<void>;
  /** The instance goes on after it was stalled, as if nothing had happened. */
  resume(journal: Journal): Promise<void>;
  /** Resolves once anyone who is there has looked for lost instances, and heard what there is to hear. */
  look(): Promise<void>;
  /** What `take` has taken is anybody's again once this resolves. */
  untake(): Promise<void>;
};

const READY = { state: "pending", now: NOW + 60_000, limit: 9 } as const;

const ids = (documents: readonly Document[]) => documents.map(({ id }) => id);

/** Changes that an instance hears of. */
function heard(journal: Journal): ClusterChange[] {
  const changes: ClusterChange[] = [];
  onTestFinished(journal.cluster.listen((change) => changes.push(change)));
  return changes;
}

const claimed = (id: number, alone?: "name" | "nameAndContent", folderId = 7): Change => {
  const event = events.claimed(folderId);
  return { type: "event", id, event, from: ["pending"], ...(alone && { alone }) };
};

const took = async (journal: Journal, ...changes: Change[]) =>
  (await journal.apply(changes)).map(({ skipped }) => !skipped);

/** What `Journal.cluster` and the journal of several daemons keep to. */
export function journalClusterContract(name: string, open: () => Promise<ClusterFixture>): void {
  describe(`${name}: a cluster`, () => {
    const withCluster =
      (run: (cluster: ClusterFixture, a: Desk, b: Desk) => Promise<void>) =>
      async (): Promise<void> => {
        await using cluster = await open();
        const a = await Desk.at(await cluster.join("a"));
        const b = await Desk.at(await cluster.join("b"));
        await run(cluster, a, b);
      };

    const ready = async (desk: Desk, path: string, digest = path, sentName = path) => {
      const { id } = await desk.add(path);
      return desk.after(id, events.settled(digest, "/Scans", sentName));
    };

    test(
      "instances know one another by numbers that are never used twice",
      withCluster(async (cluster, a, b) => {
        const known = await a.journal.cluster.instances();
        expect(known.map((instance) => instance.name)).toEqual(["a", "b"]);
        expect(known.map(({ id }) => id)).toEqual([
          a.journal.cluster.instanceId,
          b.journal.cluster.instanceId,
        ]);
        for (const { leaseUntil, renewedAt } of known)
          expect(leaseUntil - renewedAt).toBeCloseTo(a.journal.cluster.leaseMs, -2);
        await b.journal.close();
        const again = await cluster.join("b");
        expect(again.cluster.instanceId).toBeGreaterThan(b.journal.cluster.instanceId);
        expect((await a.journal.cluster.instances()).map((instance) => instance.name)).toEqual([
          "a",
          "b",
        ]);
      }),
    );

    test(
      "an instance may send for less than its lease, and a stalled one not at all",
      withCluster(async (cluster, a) => {
        const { cluster: own } = a.journal;
        expect(own.sendLeftMs).toBeGreaterThan(0);
        expect(own.sendLeftMs).toBeLessThan(own.leaseMs);
        await cluster.stall(a.journal);
        expect(own.sendLeftMs).toBeLessThanOrEqual(0);
      }),
    );

    test(
      "what one takes nobody else is shown, until it lets go",
      withCluster(async (cluster, a, b) => {
        const [one, two, three] = [
          await ready(a, "1"),
          await ready(a, "2"),
          await ready(a, "3"),
        ] as const;
        expect(ids(await a.journal.take({ ...READY, limit: 2 }))).toEqual([one.id, two.id]);
        expect(ids(await b.journal.take(READY))).toEqual([three.id]);
        expect(ids(await a.journal.take(READY)), "its own again").toEqual([one.id, two.id]);
        expect(ids(await b.journal.due(READY)), "only looking").toEqual([one.id, two.id, three.id]);
        expect(await took(b.journal, claimed(one.id)), "another's").toEqual([false]);
        await cluster.untake();
        expect(ids(await b.journal.take(READY))).toEqual([one.id, two.id, three.id]);
      }),
    );

    test(
      "what a lost instance had taken is anybody's",
      withCluster(async (cluster, a, b) => {
        const { id } = await ready(a, "1");
        await a.journal.take(READY);
        await cluster.stall(a.journal);
        await cluster.look();
        expect(ids(await b.journal.take(READY))).toEqual([id]);
      }),
    );

    test(
      "of two that claim documents of one name in one folder, one does",
      withCluster(async (_, a, b) => {
        const one = await ready(a, "1", "d1", "same.pdf");
        const two = await ready(a, "2", "d2", "same.pdf");
        const other = await ready(a, "3", "d3", "same.pdf");
        expect(await took(a.journal, claimed(one.id, "name"))).toEqual([true]);
        expect(await took(b.journal, claimed(two.id, "name"))).toEqual([false]);
        expect(await took(b.journal, claimed(other.id, "name", 8)), "elsewhere").toEqual([true]);
        expect((await a.journal.document(two.id))?.state).toBe("pending");
        await a.after(one.id, events.inDoubt());
        expect(await took(b.journal, claimed(two.id, "name")), "in doubt").toEqual([false]);
        await a.after(one.id, events.found(1));
        expect(await took(b.journal, claimed(two.id, "name"))).toEqual([true]);
      }),
    );

    test(
      "of two that claim documents of one content, one does, where it is asked for",
      withCluster(async (_, a, b) => {
        const [one, two] = [await ready(a, "1", "same"), await ready(a, "2", "same")] as const;
        await took(a.journal, claimed(one.id, "nameAndContent"));
        expect(await took(b.journal, claimed(two.id, "nameAndContent"))).toEqual([false]);
        expect(await took(b.journal, claimed(two.id, "name"))).toEqual([true]);
      }),
    );

    test(
      "what is under way is nobody's only once its sender is lost",
      withCluster(async (cluster, a, b) => {
        const [one, two] = [await ready(a, "1"), await ready(a, "2")] as const;
        await took(a.journal, claimed(one.id));
        await took(b.journal, claimed(two.id));
        expect(await a.journal.underWay(9)).toEqual([]);
        expect(await b.journal.underWay(9)).toEqual([]);
        await cluster.stall(a.journal);
        await cluster.look();
        expect(ids(await b.journal.underWay(9))).toEqual([one.id]);
      }),
    );

    test(
      "a lost instance writes nothing any more, and is told that it is",
      withCluster(async (cluster, a, b) => {
        const changes = heard(a.journal);
        const { id } = await ready(a, "1");
        await took(a.journal, claimed(id));
        await ready(a, "to be taken");
        await cluster.stall(a.journal);
        await cluster.look();
        await cluster.resume(a.journal);
        for (const write of [
          () => a.journal.apply([{ type: "add", document: appearing(a.mirrorId, "2") }]),
          () => a.journal.setPaused(true),
          () => a.journal.take(READY),
        ]) {
          const error = await write().then(
            () => undefined,
            (failure: unknown) => failure,
          );
          expect(codeOf(error)).toBe("LEASE_LOST");
        }
        expect(changes.filter(({ type }) => type === "lost")).toHaveLength(1);
        expect(a.journal.cluster.sendLeftMs).toBeLessThanOrEqual(0);
        expect((await b.journal.document(id))?.state).toBe("uploading");
        expect(await b.journal.paused()).toBe(false);
      }),
    );

    test(
      "an assignment is one instance's at a time, and another's once that is lost",
      withCluster(async (cluster, a, b) => {
        await a.journal.cluster.seek([ACCOUNT, ofMirror(1)]);
        await b.journal.cluster.seek([ACCOUNT, ofMirror(1), ofMirror(2)]);
        const changes = heard(b.journal);
        expect(a.journal.cluster.owns(ACCOUNT)).toBe(true);
        expect(b.journal.cluster.owns(ACCOUNT)).toBe(false);
        expect(b.journal.cluster.owns(ofMirror(2))).toBe(true);
        const assignments = (await b.journal.cluster.instances()).map(
          (instance) => instance.assignments,
        );
        expect(assignments).toEqual([[ACCOUNT, ofMirror(1)], [ofMirror(2)]]);
        expect(await b.journal.keyValue(`${UNCLEAN_KEYS}1`)).toBeNull();
        await cluster.stall(a.journal);
        await cluster.look();
        expect(await b.journal.keyValue(`${UNCLEAN_KEYS}1`)).toBe("yes");
        const [lost] = changes.filter(({ type }) => type === "others-lost");
        expect(lost).toMatchObject({
          instances: [{ id: a.journal.cluster.instanceId, name: "a" }],
        });
        const gained = changes.flatMap((change) =>
          change.type === "gained" ? change.assignments : [],
        );
        expect(new Set(gained)).toEqual(new Set([ACCOUNT, ofMirror(1)]));
        await cluster.resume(a.journal);
        await cluster.look();
        expect(a.journal.cluster.owns(ACCOUNT)).toBe(false);
        expect(b.journal.cluster.owns(ACCOUNT)).toBe(true);
      }),
    );

    test(
      "an instance that leaves gives its assignments back at once",
      withCluster(async (cluster, a, b) => {
        await a.journal.cluster.seek([ACCOUNT]);
        await b.journal.cluster.seek([ACCOUNT]);
        await a.journal.close();
        await cluster.look();
        expect(b.journal.cluster.owns(ACCOUNT)).toBe(true);
        expect((await b.journal.cluster.instances()).map((instance) => instance.name)).toEqual([
          "b",
        ]);
      }),
    );

    test(
      "what one writes shows to the others as written outside",
      withCluster(async (cluster, a, b) => {
        await cluster.look();
        const [atA, atB] = [await a.journal.outsideWrites(), await b.journal.outsideWrites()];
        await a.journal.setPaused(true);
        await expect.poll(() => b.journal.outsideWrites()).not.toBe(atB);
        expect(await a.journal.outsideWrites()).toBe(atA);
      }),
    );

    test(
      "after-actions of some mirrors are shown alone",
      withCluster(async (_, a) => {
        const other = new Desk(a.journal, (await a.journal.mirror("more", "/srv/more")).id);
        const done = async (desk: Desk, path: string, documentId: number) =>
          desk.after((await desk.uploaded(path, documentId)).id, events.converted("due"));
        const [one, two] = [await done(a, "1", 1), await done(other, "2", 2)];
        const due = async (...mirrors: number[]) => ids(await a.journal.afterDue(NOW, 9, mirrors));
        expect(await due(a.mirrorId)).toEqual([one.id]);
        expect(await due(other.mirrorId)).toEqual([two.id]);
        expect(await due(other.mirrorId, a.mirrorId)).toEqual([one.id, two.id]);
        expect(await due()).toEqual([]);
      }),
    );
  });
}
