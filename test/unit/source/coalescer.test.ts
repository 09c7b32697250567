import { expect, test } from "vitest";
import { Coalescer } from "../../../src/source/coalescer.ts";
import { type Clock, systemClock } from "../../../src/std/clock.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { never } from "./scratch.ts";

/** Hands on what it is given together with when that was. */
function coalescing(timing: { windowMs: number; firstMs?: number; delayMs: number }, stop = never) {
  const clock = new ManualClock();
  const handed: [number, string][] = [];
  const flush = (items: string[]) => void handed.push([clock.monotonic(), items.join()]);
  return { clock, handed, coalescer: new Coalescer<string>(clock, timing, flush, stop) };
}

test("what comes within the window is handed on once, without doubles", async () => {
  const { clock, handed, coalescer } = coalescing({ windowMs: 50, delayMs: 0 });
  for (const item of ["a", "b", "a"]) coalescer.add(item);
  await clock.advance(49);
  expect(handed).toEqual([]);
  await clock.advance(1);
  expect(handed).toEqual([[50, "a,b"]]);
});

test("the first of several soon; what goes on coming, no more often than the window", async () => {
  const { clock, handed, coalescer } = coalescing({ windowMs: 50, firstMs: 10, delayMs: 0 });
  for (let at = 0; at < 120; at += 5) {
    coalescer.add(`${at}`);
    await clock.advance(5);
  }
  expect(handed.map(([at]) => at)).toEqual([10, 60, 110]);
  await clock.advance(1_000);
  coalescer.add("after a rest");
  await clock.advance(10);
  expect(handed.at(-1)).toEqual([1_130, "after a rest"]);
});

test("what waits is waited for by nobody else: the next comes with a window of its own", async () => {
  const { clock, handed, coalescer } = coalescing({ windowMs: 50, delayMs: 200 });
  coalescer.add("a");
  await clock.advance(60);
  coalescer.add("b");
  await clock.advance(300);
  expect(handed).toEqual([
    [250, "a"],
    [310, "b"],
  ]);
});

test("what comes so fast that no timer rings is handed on when it is due all the same", () => {
  let now = 0;
  const sleep = () => new Promise<void>(() => {});
  const clock: Clock = { ...systemClock, monotonic: () => now, sleep };
  const handed: [number, string][] = [];
  const timing = { windowMs: 50, firstMs: 10, delayMs: 0 };
  const flush = (items: string[]) => void handed.push([now, items.join()]);
  const coalescer = new Coalescer<string>(clock, timing, flush, never);
  for (const item of ["a", "b", "c", "d", "e", "f"]) {
    coalescer.add(item);
    now += 6;
  }
  now = 62;
  coalescer.add("g");
  expect(handed).toEqual([
    [12, "a,b,c"],
    [62, "d,e,f,g"],
  ]);
});

test("nothing is handed on once it is stopped", async () => {
  const stop = new AbortController();
  const { clock, handed, coalescer } = coalescing({ windowMs: 50, delayMs: 0 }, stop.signal);
  coalescer.add("a");
  stop.abort();
  coalescer.add("b");
  await clock.advance(100);
  expect(handed).toEqual([]);
});
