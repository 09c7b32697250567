import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../test/fixtures/until.ts";
import type { Twin } from "./twin.ts";

/** How often the page is asked. */
const PAGE_EVERY_MS = 250;

/** One half of the comparison: the same stretch of time next to a hung share and without. */
export class Half {
  /** Local files the archive was asked to take by the twin with the hung share, and by the other. */
  hung = 0;
  free = 0;
  readonly pageMs: number[] = [];
  readonly freePageMs: number[] = [];

  static async run(hung: Twin, free: Twin, ms: number): Promise<Half> {
    const half = new Half();
    free.burst();
    await Half.hang(hung);
    const before = { hung: hung.local, free: free.local };
    const over = AbortSignal.timeout(ms);
    // Both at once: a machine that stands still does so for both.
    while (!over.aborted) {
      const [hungMs, freeMs] = await Promise.all([hung.askPage(), free.askPage()]);
      half.pageMs.push(hungMs);
      half.freePageMs.push(freeMs);
      await delay(PAGE_EVERY_MS);
    }
    half.hung = hung.local - before.hung;
    half.free = free.local - before.free;
    hung.share.goOn();
    await until("the share's files", () => hung.carried >= hung.shared, 180_000);
    return half;
  }

  /** Hangs the share in the middle of a burst: some of it is being sent, some waits for that. */
  static async hang(twin: Twin): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    twin.onShared = () => {
      twin.share.hang();
      resolve();
    };
    twin.burst();
    await promise;
    twin.onShared = () => {};
  }
}

/** A value below which this part of all is. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
