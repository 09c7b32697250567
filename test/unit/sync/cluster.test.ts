/** Several daemons on one journal: who does what, and what becomes of the work of one that is lost. */
import { expect, test } from "vitest";
import type { Mirror } from "../../../src/config/config.ts";
import { joinRaw } from "../../../src/std/raw-path.ts";
import { Sync } from "../../../src/sync/sync.ts";
import { MINUTE, online, SECOND, SyncDesk } from "./desk.ts";
import { RESCAN_KEY } from "../../../src/sync/scan-scheduler.ts";

/** Two daemons: the first one has the assignments. */
async function aCluster(mirror: Partial<Mirror> = {}, other = mirror) {
  const a = await SyncDesk.open({ instance: "a", mirrors: [mirror] });
  const b = await SyncDesk.open({ instance: "b", beside: a, mirrors: [other] });
  a.archive.addFolder("Scans");
  const opened = [];
  for (const desk of [a, b]) {
    const sync = await Sync.open(
      desk.context,
      () => null,
      () => {},
    );
    await desk.run(sync);
    await sync.told(online());
    opened.push(sync);
  }
  const [syncA, syncB] = opened as [Sync, Sync];
  await a.advance(SECOND);
  return { a, b, syncA, syncB };
}

test("both send, and no document is sent by both", async () => {
  const { a, b } = await aCluster();
  for (let n = 0; n < 40; n++) a.pending();
  let documentId = 1_000;
  for (const { reader } of [a, b]) {
    reader.onSend = async () => {
      await a.clock.pass(SECOND);
      return { kind: "accepted", documentId: documentId++, status: "UPLOADED" };
    };
  }
  await a.journal.setPaused(false);
  await a.advance(MINUTE);
  expect(a.states().filter((state) => state !== "uploaded")).toEqual([]);
  expect(a.reader.sent.length).toBeGreaterThan(5);
  expect(b.reader.sent.length).toBeGreaterThan(5);
  const names = [...a.reader.sent, ...b.reader.sent].map(({ filename }) => filename);
  expect(new Set(names).size).toBe(40);
  expect(names).toHaveLength(40);
});

test("one whose settings are others sends nothing that was decided by those before, and decides it once it has the mirror", async () => {
  const { a, b } = await aCluster({}, { target: { path: "/Right" } });
  a.reader.silent = true;
  const row = a.pending();
  await a.journal.setPaused(false);
  await a.advance(SECOND);
  expect([b.reader.sent, a.states()]).toEqual([[], ["pending"]]);
  b.reader.files.set(joinRaw(row.dir, row.name), { seen: row.seen, digest: "d" });
  a.cluster?.die();
  await b.advance(MINUTE);
  expect((await b.row(row)).targetPath).toBe("/Right/2026");
});

test("one scans and settles; what the other's reader reports is not taken in", async () => {
  const { a, b, syncB } = await aCluster();
  expect(a.reader.scans).toBe(1);
  expect(b.reader.scans).toBe(0);
  const path = "x.pdf" as never;
  const seen = { sizeBytes: 5, modifiedAt: 0, stamp: "a" };
  await syncB.readerCalls.hint(1, [{ path, seen }]);
  const listing = { dir: "" as never, fingerprint: "f", files: [] };
  expect(await syncB.readerCalls.listing(1, listing)).toBe(false);
  expect(a.states()).toEqual([]);
});

test("a rescan that a person asks any of them for is done by the one that leads the mirror", async () => {
  const { a, b } = await aCluster();
  await b.journal.setKeyValue(RESCAN_KEY, "now");
  await a.advance(SECOND);
  expect([a.reader.scans, b.reader.scans]).toEqual([2, 0]);
});

test("what one has under way is in doubt once it is lost, and it journals nothing more", async () => {
  const { a, b } = await aCluster();
  const { id } = a.pending();
  const answer = Promise.withResolvers<void>();
  b.reader.onSend = async () => {
    await answer.promise;
    return { kind: "accepted", documentId: 1, status: "UPLOADED" };
  };
  // The first daemon's reader is silent: the other one takes it.
  a.reader.silent = true;
  await a.journal.setPaused(false);
  await a.advance(SECOND);
  expect(a.states()).toEqual(["uploading"]);
  b.cluster?.goAway("stopped");
  await a.advance(10 * SECOND);
  expect(a.states(), "its lease goes on").toEqual(["uploading"]);
  await a.advance(10 * SECOND);
  expect(a.states()).toEqual(["inDoubt"]);
  expect((await a.row(id)).problem?.code).toBe("REPLY_LOST");
  b.cluster?.comeBack();
  answer.resolve();
  await expect(b.advance(SECOND)).rejects.toMatchObject({ code: "LEASE_LOST" });
  expect(a.states()).toEqual(["inDoubt"]);
});

test("one takes over what another did while it sends, and puts nothing away before its reader hosts the mirror", async () => {
  const { a, b } = await aCluster({ after: { kind: "delete" } });
  await a.journal.setPaused(false);
  const answer = Promise.withResolvers<void>();
  b.reader.onSend = async () => {
    await answer.promise;
    return { kind: "accepted", documentId: 77, status: "UPLOADED" };
  };
  a.reader.silent = true;
  const sent = a.pending();
  await a.advance(SECOND);
  expect(b.reader.sent).toHaveLength(1);
  const folderId = a.archive.addFolder("Old");
  const documentId = a.archive.addDocument({ folderId, filename: "old.pdf", status: "CONVERTED" });
  a.put({ path: "old.pdf", state: "converted", documentId, folderId, after: "due", dueAt: 0 });
  const hosted = Promise.withResolvers<void>();
  b.reader.host = () => hosted.promise;
  a.cluster?.die();
  await b.advance(21 * SECOND);
  expect([b.context.ownership?.owns(1), b.context.ownership?.account]).toEqual([true, true]);
  expect([b.reader.acted, b.reader.scans]).toEqual([[], 0]);
  hosted.resolve();
  await b.advance(SECOND);
  expect([b.reader.acted, b.reader.scans]).toEqual([["old.pdf"], 1]);
  answer.resolve();
  await b.advance(SECOND);
  expect(await b.row(sent)).toMatchObject({ state: "uploaded", documentId: 77 });
});

test("who has no assignment closes the gate, holds still behind it and leaves probing to the other", async () => {
  const { a, b } = await aCluster();
  a.reader.silent = true;
  for (let n = 0; n < 3; n++) a.pending();
  b.reader.onSend = () => ({
    kind: "refused",
    problem: { code: "QUOTA_LIMIT", message: "no pages left" },
    retryAfterMs: null,
  });
  await a.journal.setPaused(false);
  await a.advance(2 * SECOND);
  expect((await a.journal.gate()).problem?.code).toBe("QUOTA_LIMIT");
  expect(new Set(a.states())).toEqual(new Set(["held"]));
  a.reader.silent = false;
  b.reader.silent = true;
  await a.advance(6 * MINUTE);
  expect(a.reader.sent).toHaveLength(3);
  expect(new Set(a.states())).toEqual(new Set(["uploaded"]));
});

test("nothing is begun without a lease, and it goes on with the next renewal", async () => {
  const { a, b } = await aCluster();
  a.reader.silent = true;
  b.cluster?.goAway("the database cannot be reached");
  await a.advance(13_300);
  const { id } = a.pending();
  await a.journal.setPaused(false);
  await a.advance(200);
  expect(b.reader.sent).toEqual([]);
  b.cluster?.comeBack();
  await b.advance(2 * SECOND);
  expect((await a.row(id)).state).toBe("uploaded");
});
