/**
 * What `make` comes to for each item, in their order; `count` of them are made at a time, those ahead of the one that is
 * waited for among them. Rejects with the first failure in that order. What is still under way when this ends, also
 * because nobody wants more, has its signal aborted, as it has when `signal` is.
 */
export async function* ahead<Item, Made>(
  items: Iterable<Item>,
  count: number,
  make: (item: Item, signal: AbortSignal) => Promise<Made>,
  signal: AbortSignal,
): AsyncGenerator<Made> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const making: Promise<Made>[] = [];
  try {
    for (const item of items) {
      const made = make(item, either);
      // It may fail long before its turn.
      made.catch(() => {});
      if (making.push(made) < count) continue;
      const [first] = making.splice(0, 1);
      if (first) yield await first;
    }
    for (const made of making) yield await made;
  } finally {
    over.abort(new Error("nobody waits for this any more"));
  }
}
