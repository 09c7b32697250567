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

/**
 * Whether two stamps are of one file, which may have been renamed or moved in between: that changes its ctime
 * alone. A copy that was given its time has another inode; where a network stamp knows of none, it is taken for
 * that file.
 */
export function isSameFile(one: string, other: string): boolean {
  const [size, modified, , inode] = one.split(".");
  const [otherSize, otherModified, , otherInode] = other.split(".");
  if (size !== otherSize || modified !== otherModified) return false;
  return inode === undefined || otherInode === undefined || inode === otherInode;
}

function isOfNetwork(stamp: string): boolean {
  const dot = stamp.indexOf(".");
  return dot > 0 && !stamp.includes(".", dot + 1);
}
