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
