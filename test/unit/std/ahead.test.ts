import { expect, test, vi } from "vitest";
import { ahead } from "../../../src/std/ahead.ts";
import { Stopping } from "../../../src/std/abort.ts";

const never = new AbortController().signal;

/** Makes what it is told to, when it is told to. */
function aWorkshop() {
  const begun: number[] = [];
  const signals: AbortSignal[] = [];
  const ends: PromiseWithResolvers<number>[] = [];
  const make = (item: number, signal: AbortSignal) => {
    begun.push(item);
    signals.push(signal);
    const end = Promise.withResolvers<number>();
    ends[item] = end;
    signal.addEventListener("abort", () => end.reject(signal.reason as Error));
    return end.promise;
  };
  return { begun, signals, make, end: (item: number) => ends[item] };
}

test.for([
  [0, 4],
  [1, 4],
  [4, 4],
  [9, 4],
  [9, 1],
] as const)("of %i items, %i at a time, all come in their order", async ([length, count]) => {
  const items = Array.from({ length }, (_, item) => item);
  const made = ahead(items, count, async (item) => item * 2, never);
  expect(await Array.fromAsync(made)).toEqual(items.map((item) => item * 2));
});

test("no more are made at a time, and the first is waited for", async () => {
  const { begun, make, end } = aWorkshop();
  const made = ahead([0, 1, 2, 3, 4], 3, make, never);
  const first = made.next();
  expect(begun).toEqual([0, 1, 2]);
  end(1)?.resolve(11);
  end(2)?.resolve(12);
  end(0)?.resolve(10);
  expect(await first).toEqual({ done: false, value: 10 });
  void made.next();
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3]));
});

test("the first failure in their order is the one that is told, and ends the others", async () => {
  const { begun, signals, make, end } = aWorkshop();
  const made = Array.fromAsync(ahead([0, 1, 2, 3], 3, make, never));
  end(1)?.reject(new Error("the second"));
  end(0)?.reject(new Error("the first"));
  await expect(made).rejects.toThrow("the first");
  expect(begun).toEqual([0, 1, 2]);
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});

test("anyone who wants no more ends what is under way", async () => {
  const { signals, make, end } = aWorkshop();
  const made = ahead([0, 1, 2, 3], 3, make, never);
  const first = made.next();
  end(0)?.resolve(10);
  await first;
  await made.return(undefined);
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});

test("to be asked to stop ends it with that", async () => {
  const { make } = aWorkshop();
  const stopping = new AbortController();
  const made = Array.fromAsync(ahead([0, 1], 2, make, stopping.signal));
  stopping.abort(new Stopping());
  await expect(made).rejects.toBe(stopping.signal.reason);
});
