import { expect, test } from "vitest";
import { journalClock } from "../../../src/daemon/journal-clock.ts";
import { SOLO_CLUSTER } from "../../../src/journal/cluster.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";

const HOUR = 3_600_000;

/** A host whose clock is wrong, and how far off it was when it was measured last. */
function aHost(offMs: number) {
  const truth = new ManualClock();
  const host = new ManualClock(truth.now() + offMs);
  const cluster = { ...SOLO_CLUSTER, leaseMs: 15_000, clockOffsetMs: -offMs };
  const advance = async (ms: number) => {
    await truth.advance(ms);
    await host.advance(ms);
  };
  const measure = () => {
    cluster.clockOffsetMs = truth.now() - host.now();
  };
  return { truth, host, cluster, advance, measure, clock: journalClock(host, cluster) };
}

test("a journal with one owner is kept by the host's own clock", () => {
  const host = new ManualClock();
  expect(journalClock(host, SOLO_CLUSTER)).toBe(host);
});

test("it shows the journal's time, however wrong the host's is", async () => {
  const { clock, truth, advance } = aHost(HOUR);
  expect(clock.now()).toBe(truth.now());
  await advance(60_000);
  expect(clock.now()).toBe(truth.now());
});

test.for([HOUR, -HOUR])("the host's clock set by %i ms is never seen", async (byMs) => {
  const { clock, truth, host, advance, measure } = aHost(0);
  expect(clock.now()).toBe(truth.now());
  host.jump(byMs);
  expect(clock.now(), "not measured yet").toBe(truth.now());
  await advance(5_000);
  measure();
  expect(clock.now()).toBe(truth.now());
});

test("what the two drift apart is followed with every measurement", async () => {
  const { clock, truth, cluster, advance } = aHost(0);
  clock.now();
  await advance(5_000);
  cluster.clockOffsetMs += 40;
  expect(clock.now()).toBe(truth.now() + 40);
});
