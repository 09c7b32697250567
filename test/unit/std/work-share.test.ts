import { expect, test } from "vitest";
import { WorkShare } from "../../../src/std/work-share.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";

const POLICY = { times: 3, minMs: 20, maxMs: 1_000 };

test.for<[number, number, string]>([
  [0, 20, "work that took no time is followed by the shortest rest"],
  [100, 300, "a rest is so many times as long as the work"],
  [10_000, 1_000, "what took long may have waited for something else"],
])("after %i ms of work it rests %i ms: %s", async ([tookMs, restMs]) => {
  const clock = new ManualClock();
  const share = new WorkShare(clock, POLICY);
  expect(share.restMs).toBe(0);
  expect(
    await share.work(async () => {
      await clock.advance(tookMs);
      return "done";
    }),
  ).toBe("done");
  expect(share.restMs).toBe(restMs);
  await clock.advance(restMs - 1);
  expect(share.restMs).toBe(1);
  await clock.advance(1);
  expect(share.restMs).toBe(0);
});

test("work that failed is followed by no rest", async () => {
  const share = new WorkShare(new ManualClock(), POLICY);
  await expect(share.work(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(share.restMs).toBe(0);
});
