/**
 * Whether two stamps are of a file that did not change in between. A stamp of a network file system
 * is the first half of what a local one says of the same file, so that hosts which see it through
 * either agree on what both know: its size and its time.
 */
export function isSameStamp(one: string, other: string): boolean {
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return isOfNetwork(short) && !isOfNetwork(long) && long.startsWith(`${short}.`);
}

function isOfNetwork(stamp: string): boolean {
  const dot = stamp.indexOf(".");
  return dot > 0 && !stamp.includes(".", dot + 1);
}
