import { expect, test } from "vitest";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { UploadMeter } from "../../../src/dashboard/upload-meter.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { seenOf } from "../../contract/journal-desk.ts";

const STORED: Outcome = { kind: "accepted", documentId: 1, status: null };
const document = (id: number, bytes: number) => ({ id, seen: seenOf(bytes) });

test("an upload is followed from its beginning to its end, and its bytes are the rate", async () => {
  const clock = new ManualClock();
  const meter = new UploadMeter(clock);
  let changes = 0;
  meter.changed.add(() => changes++);
  const ended = Promise.withResolvers<Outcome>();
  const sending = meter.during(document(7, 1_000), () => ended.promise);
  await clock.advance(2_000);
  meter.sent(7, 600);
  expect(meter.read()).toEqual({
    uploads: [{ id: 7, sentBytes: 600, sizeBytes: 1_000 }],
    bytesPerSecond: 300,
    documentsPerSecond: 0,
  });
  ended.resolve(STORED);
  expect(await sending).toBe(STORED);
  expect(meter.read()).toEqual({ uploads: [], bytesPerSecond: 500, documentsPerSecond: 0.5 });
  expect(changes).toBe(4);
  meter.sent(7, 900);
  expect(changes, "what comes late of an upload that is over").toBe(4);
});

test("what failed has not left, and a minute later nothing is moving any more", async () => {
  const clock = new ManualClock();
  const meter = new UploadMeter(clock);
  await expect(
    meter.during(document(1, 10), () => Promise.reject(new Error("no"))),
  ).rejects.toThrow();
  await meter.during(document(2, 10), async () => ({ kind: "released" }) as const);
  expect(meter.read()).toMatchObject({ uploads: [], documentsPerSecond: 0, bytesPerSecond: 0 });
  await meter.during(document(3, 10), async () => STORED);
  expect(meter.read()).toMatchObject({ documentsPerSecond: 1 });
  await clock.advance(60_001);
  expect(meter.read()).toMatchObject({ documentsPerSecond: 0, bytesPerSecond: 0 });
});
