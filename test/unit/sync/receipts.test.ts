/** A folder of receipts that hangs holds nothing else up, the daemon's end neither, and is told. */
import { expect, test } from "vitest";
import { isAbortOf } from "../../../src/std/abort.ts";
import { Fault } from "../../../src/std/fault.ts";
import { Receipts } from "../../../src/sync/receipts.ts";
import { MINUTE, SECOND, SyncDesk } from "./desk.ts";

/** A batch that is closed, and a folder that has been asked to take its receipt and does not answer. */
async function hanging() {
  const desk = await SyncDesk.open();
  const at = desk.clock.now();
  const batch = { id: "b", mirrorId: 1, openedAt: at, joinedAt: at, documents: 1 };
  desk.journal.store.tables.activity.setBatch(batch);
  desk.put({ state: "converted", documentId: 9_000, batch: batch.id });
  const answer = Promise.withResolvers<string[]>();
  const asked = Promise.withResolvers<void>();
  const write = () => {
    asked.resolve();
    return answer.promise;
  };
  const receipts = new Receipts({ ...desk.context, receipts: { write } });
  const stopping = new AbortController();
  await desk.advance(MINUTE);
  const running = receipts.run(stopping.signal);
  running.catch(() => {});
  await desk.advance(0);
  await asked.promise;
  const missing = async () => (await desk.journal.unreceipted(0, 9)).batches.map(({ id }) => id);
  return { desk, receipts, answer, stopping, running, missing };
}

test("the end does not wait for it, and what comes of it later is not remembered", async () => {
  const { answer, stopping, running, missing } = await hanging();
  stopping.abort(new Error("the daemon stops"));
  await expect(running).rejects.toSatisfy((error) => isAbortOf(stopping.signal, error));
  answer.resolve(["late.json"]);
  await new Promise(setImmediate);
  expect(await missing()).toEqual(["b"]);
});

test("draining waits for it until the deadline, and says so", async () => {
  const { desk, receipts } = await hanging();
  const deadline = new AbortController();
  const concluding = receipts.conclude(deadline.signal);
  deadline.abort();
  await concluding;
  expect(desk.warnings).toEqual([
    "some receipts were not written in time; the next run writes them",
  ]);
});

test("it is told after a while, once; the receipt counts when it answers after all", async () => {
  const { desk, answer, missing } = await hanging();
  await desk.advance(29 * SECOND);
  expect(desk.warnings).toEqual([]);
  await desk.advance(5 * MINUTE);
  expect(desk.warnings).toEqual(["the receipts folder does not answer; everything else continues"]);
  answer.resolve(["b.json"]);
  await desk.advance(0);
  expect(await missing()).toEqual([]);
});

test("a folder that refuses is tried twice a minute, however many are converted meanwhile", async () => {
  const desk = await SyncDesk.open();
  const at = desk.clock.now();
  const batch = { id: "b", mirrorId: 1, openedAt: at, joinedAt: at, documents: 1 };
  desk.journal.store.tables.activity.setBatch(batch);
  desk.put({ state: "converted", documentId: 9_000, batch: batch.id });
  await desk.advance(MINUTE);
  let tries = 0;
  const write = () => {
    tries += 1;
    return Promise.reject(new Fault("RECEIPT_UNWRITABLE", "no space left", "Make room."));
  };
  const receipts = new Receipts({ ...desk.context, receipts: { write } });
  await desk.run(receipts);
  for (let converted = 0; converted < 600; converted++) {
    receipts.notify();
    await desk.advance(SECOND);
  }
  expect(tries).toBe(21);
  expect(desk.warnings).toEqual(["no space left"]);
});
