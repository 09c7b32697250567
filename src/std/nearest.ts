/** Mistakes that a typing person plausibly makes in one word. */
const DISTANCE_MAX = 3;

/**
 * The word among `known` that `word` was probably meant to be; undefined when none is near.
 * Upper and lower case count as the same, and half of the longer word stays, or all its letters in another order.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: { word: string; distance: number } | undefined;
  const [written, letters] = read(word);
  for (const candidate of known) {
    // The table is as long as the word; pasted text need not be compared.
    if (Math.abs(candidate.length - word.length) > DISTANCE_MAX) continue;
    const [name, its] = read(candidate);
    const distance = editDistance(written, name);
    const half = its === letters ? DISTANCE_MAX : Math.max(candidate.length, word.length) / 2;
    const most = Math.min(DISTANCE_MAX, half);
    if (distance <= most && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { word: candidate, distance };
    }
  }
  return best?.word;
}

/** The word as it is compared, and its letters in an order of their own. */
function read(word: string): [string, string] {
  const lower = word.toLowerCase();
  return [lower, Array.from(lower).toSorted().join("")];
}

/** Levenshtein's distance: insertions, deletions and replacements from `a` to `b`. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
