import { describe, expect, test } from "vitest";
import { Window } from "../../../src/std/window.ts";
import { type HostClock, hostClock, leftOf, untilIn } from "../../../src/std/clock.ts";

describe("window", () => {
  /** A task that ends when told to. */
  function aTask() {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let begun = false;
    const run = () => {
      begun = true;
      return promise;
    };
    return { run, resolve, reject, begun: () => begun };
  }

  const turn = () => new Promise((resolve) => setImmediate(resolve));

  describe("a window", () => {
    test.for([
      [[1, 1, 1], 3, [true, true, true], "all of it fits"],
      [[2, 1, 1], 3, [true, true, false], "the third would be too much"],
      [[9, 1, 1], 3, [true, false, false], "what is too heavy goes on its own"],
      [[1, 9, 1], 3, [true, false, false], "and waits until it can"],
    ] as const)("of weights %j in %i begins %j: %s", async ([weights, max, begun]) => {
      const window = new Window(max);
      const tasks = weights.map(() => aTask());
      const added = (async () => {
        for (const [index, task] of tasks.entries())
          await window.add(weights[index] ?? 0, task.run);
      })();
      await turn();
      expect(tasks.map((task) => task.begun())).toEqual(begun);
      for (const task of tasks) task.resolve();
      await added;
      await window.drain();
      expect(tasks.map((task) => task.begun())).toEqual([true, true, true]);
    });

    test("drains only once everything has ended", async () => {
      const window = new Window(3);
      const task = aTask();
      await window.add(1, task.run);
      let drained = false;
      const draining = window.drain().then(() => {
        drained = true;
      });
      await turn();
      expect(drained).toBe(false);
      task.resolve();
      await draining;
    });

    test("tells a failure to anyone who adds next, and at the end; nothing more is begun", async () => {
      const window = new Window(1);
      const failing = aTask();
      await window.add(1, failing.run);
      failing.reject(new Error("no"));
      const next = aTask();
      await expect(window.add(1, next.run)).rejects.toThrow("no");
      await expect(window.drain()).rejects.toThrow("no");
      expect(next.begun()).toBe(false);
    });
  });
});

describe("time left", () => {
  /** Clocks that a test sets. */
  function clocks() {
    const at = { monotonic: 1_000, wall: 500_000 };
    const clock: HostClock = { monotonic: () => at.monotonic, wall: () => at.wall };
    const pass = (ms: number) => {
      at.monotonic += ms;
      at.wall += ms;
    };
    return { at, clock, pass };
  }

  test("it is over after as long as was told, also where that is learnt late", () => {
    const { clock, pass } = clocks();
    const until = untilIn(() => 10_000, clock);
    pass(9_999);
    expect(leftOf(until, clock)).toBe(1);
    pass(60_000);
    expect(leftOf(until, clock)).toBeLessThan(0);
  });

  test.for([
    ["set back", { wall: -3_600_000 }, "the monotonic clock tells it"],
    ["running while the monotonic one stands still", { monotonic: -20_000 }, "the host slept"],
  ] as const)("a wall clock that was %s hides nothing: %s", ([, set]) => {
    const { at, clock, pass } = clocks();
    const until = untilIn(() => 10_000, clock);
    pass(20_000);
    at.wall += "wall" in set ? set.wall : 0;
    at.monotonic += "monotonic" in set ? set.monotonic : 0;
    expect(leftOf(until, clock)).toBeLessThanOrEqual(0);
  });

  test("a wall clock that was set forward ends it early, and never late", () => {
    const { at, clock } = clocks();
    const until = untilIn(() => 10_000, clock);
    at.wall += 60_000;
    expect(leftOf(until, clock)).toBe(-50_000);
  });

  test("anyone who is stopped while it asks says too little, not too much", () => {
    const { clock, pass } = clocks();
    const until = untilIn(() => {
      pass(60_000);
      return 10_000;
    }, clock);
    expect(leftOf(until, clock)).toBe(-50_000);
  });

  test("time without an end has none", () => {
    expect(leftOf(untilIn(() => Number.POSITIVE_INFINITY))).toBe(Number.POSITIVE_INFINITY);
  });

  test("the host's clocks go on together", () => {
    const [monotonic, wall] = [hostClock.monotonic(), hostClock.wall()];
    expect(hostClock.monotonic()).toBeGreaterThanOrEqual(monotonic);
    expect(Math.abs(hostClock.wall() - wall)).toBeLessThan(5_000);
  });
});
