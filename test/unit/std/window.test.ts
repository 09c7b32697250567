import { describe, expect, test } from "vitest";
import { Window } from "../../../src/std/window.ts";

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
    [[9, 1, 1], 3, [true, false, false], "what is too heavy goes by itself"],
    [[1, 9, 1], 3, [true, false, false], "and waits until it can"],
  ] as const)("of weights %j in %i begins %j: %s", async ([weights, max, begun]) => {
    const window = new Window(max);
    const tasks = weights.map(() => aTask());
    const added = (async () => {
      for (const [index, task] of tasks.entries()) await window.add(weights[index] ?? 0, task.run);
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

  test("tells a failure to whoever adds next, and at the end; nothing more is begun", async () => {
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
