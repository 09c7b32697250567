/** Text that has to fit on a screen: what is long gives way first, and says that it did. */

/** Lines that belong together; the first `keeps` of them are left out last. */
export type Section = {
  readonly lines: readonly string[];
  readonly keeps: number;
};

/**
 * The sections one below the other, a blank line between them, in at most `rowsMax` lines. A section
 * that is cut ends with how many lines are missing. On a screen too small for what should be kept,
 * what stands first is, without blank lines.
 */
export function fit(sections: readonly Section[], rowsMax: number): string[] {
  const there = sections.filter(({ lines }) => lines.length > 0);
  const shown = there.map(({ lines }) => lines.length);
  let rows = shown.reduce((sum, count) => sum + count, 0) + Math.max(0, there.length - 1);
  while (rows > rowsMax) {
    const longest = longestOf(there, shown);
    if (longest === undefined) break;
    const count = shown[longest] ?? 0;
    shown[longest] = count - 1;
    // The first cut costs one line more, for what is said of the others.
    rows -= count === there[longest]?.lines.length ? 0 : 1;
  }
  if (rows > rowsMax) return squeezed(there, shown, Math.max(1, rowsMax));
  return there.flatMap(({ lines }, index) => {
    const count = shown[index] ?? 0;
    const left = lines.length - count;
    return [...(index === 0 ? [] : [""]), ...lines.slice(0, count), ...moreLine(left)];
  });
}

/** What is kept of the first sections, and how many lines of all are missing. */
function squeezed(sections: readonly Section[], shown: readonly number[], rows: number): string[] {
  const all = sections.reduce((sum, { lines }) => sum + lines.length, 0);
  const kept = sections.flatMap(({ lines }, index) => lines.slice(0, shown[index]));
  const first = kept.slice(0, Math.max(1, rows - 1));
  return [...first, ...moreLine(all - first.length)].slice(0, rows);
}

function moreLine(left: number): string[] {
  return left === 0 ? [] : [`  … ${left} more; scanferry status --all`];
}

/** The one of which most is shown beyond what must be kept. */
function longestOf(sections: readonly Section[], shown: readonly number[]): number | undefined {
  let found: number | undefined;
  let most = 0;
  for (const [index, { keeps }] of sections.entries()) {
    const spare = (shown[index] ?? 0) - keeps;
    if (spare > most) [found, most] = [index, spare];
  }
  return found;
}
