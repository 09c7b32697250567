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

/**
 * Whether `now` is the stamp of the very inode that had the stamp `before`, whatever was written to it since: it has its
 * number, and was born (`bornAt`, epoch ms) before that was last seen to change. Network stamps do not tell.
 */
export function isSameInode(before: string, now: string, bornAt = Infinity): boolean {
  const [, , changedBefore = "", inodeBefore] = before.split(".");
  const inode = now.split(".")[3];
  return inode !== undefined && inode === inodeBefore && bornAt <= msOf(changedBefore);
}

/** Whether two stamps are of what has other inodes; network stamps know none. */
export function isAnotherInode(one: string, other: string): boolean {
  const [, , , inode] = one.split(".");
  const [, , , otherInode] = other.split(".");
  return inode !== undefined && otherInode !== undefined && inode !== otherInode;
}

/** Backups and other file systems keep a time of writing to two seconds at worst. */
const KEPT_NS = 2e9;

/**
 * Whether `now` may be the stamp of what had the stamp `before`, be it that file or a copy that was given its time, as a
 * restore does: it has its size, and its time as far as copies keep it.
 */
export function isSameWriting(before: string, now: string): boolean {
  const [size, modified = ""] = before.split(".");
  const [sizeNow, modifiedNow = ""] = now.split(".");
  if (size !== sizeNow || modified === modifiedNow) return size === sizeNow;
  return Math.abs(Number.parseInt(modified, 36) - Number.parseInt(modifiedNow, 36)) <= KEPT_NS;
}

/**
 * Whether a file was made under its name, which was free then, instead of being an edit of what had the stamp
 * `before`: nothing has renamed it since it was written, which would set its ctime alone, and it was born (`bornAt`,
 * epoch ms) after that was last seen to change. Where its birth is not known, it has another inode. Network
 * stamps do not tell.
 */
export function isRecreated(before: string, now: string, bornAt: number | undefined): boolean {
  const [, , changedBefore, inodeBefore] = before.split(".");
  const [, modified, changed, inode] = now.split(".");
  if (changedBefore === undefined || changed === undefined || changed !== modified) return false;
  return bornAt === undefined ? inode !== inodeBefore : bornAt > msOf(changedBefore);
}

/** Part of a stamp, nanoseconds of the epoch, in the rounding that a file's birth is given in: `parseInt` has another. */
function msOf(time: string): number {
  let ns = 0n;
  for (const digit of time) ns = ns * 36n + BigInt(Number.parseInt(digit, 36));
  return Number(ns) / 1e6;
}

/** Whether a stamp is of a network share: its size and time of writing alone. */
export function isOfNetwork(stamp: string): boolean {
  const dot = stamp.indexOf(".");
  return dot > 0 && !stamp.includes(".", dot + 1);
}
