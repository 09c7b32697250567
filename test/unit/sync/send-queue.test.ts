import { expect, test } from "vitest";
import { SendQueue } from "../../../src/sync/send-queue.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { FakeReader } from "../../fakes/fake-reader.ts";

test("documents that follow one another are a stream; one that takes minutes is none", async () => {
  const clock = new ManualClock();
  const queue = new SendQueue(2, clock);
  expect(queue.isStreaming).toBe(false);
  queue.add(new FakeReader().asReader, (line) => line(() => clock.pass(60_000)));
  await clock.advance(100);
  expect(queue.isStreaming, "it has just begun").toBe(true);
  await clock.advance(1_000);
  expect(queue.isStreaming, "it takes long").toBe(false);
  await clock.advance(59_000);
  expect(queue.isStreaming, "it has just ended").toBe(true);
  await clock.advance(200);
  expect(queue.isStreaming).toBe(false);
});

/** Two at a time: four may be claimed, and eight that are ready will do for a while. */
async function aStream() {
  const clock = new ManualClock();
  const queue = new SendQueue(2, clock);
  queue.add(new FakeReader().asReader, (line) => line(async () => {}));
  await clock.advance(0);
  return { clock, queue };
}

test("a stream is supplied while twice as many are ready as may be claimed", async () => {
  const { queue } = await aStream();
  queue.ready(7);
  expect(queue.isSupplied).toBe(false);
  queue.ready(5);
  expect(queue.isSupplied).toBe(true);
  queue.found(4, 4);
  expect(queue.isSupplied, "eight are left").toBe(true);
  queue.found(4, 4);
  expect(queue.isSupplied, "four are left").toBe(false);
});

test("what is ready is overrated no longer than until less is found than was looked for", async () => {
  const { queue } = await aStream();
  queue.ready(100);
  queue.found(3, 4);
  expect(queue.isSupplied).toBe(false);
  queue.ready(8);
  expect(queue.isSupplied).toBe(true);
});

test("what is not sent is no supply", async () => {
  const { clock, queue } = await aStream();
  queue.ready(100);
  await clock.advance(200);
  expect(queue.isSupplied).toBe(false);
});
