import type { BigIntStats } from "node:fs";
import type { Seen } from "../domain/document.ts";

const NANOSECONDS_A_MS = 1_000_000n;

/**
 * What a stat says of a file. On network file systems ctime and inode change on their own (after
 * a reconnect, or with the server's cache), so there the stamp is made of size and mtime alone.
 */
export function seenOf(stat: BigIntStats, network: boolean): Seen {
  const content = `${stat.size.toString(36)}.${stat.mtimeNs.toString(36)}`;
  return {
    sizeBytes: Number(stat.size),
    modifiedAt: Number(stat.mtimeNs / NANOSECONDS_A_MS),
    stamp: network ? content : `${content}.${stat.ctimeNs.toString(36)}.${stat.ino.toString(36)}`,
  };
}

/** Whether a file got its name after it was written: a write sets both times to one moment, a new name one of them. */
export function wasRenamed({ ctimeNs, mtimeNs }: BigIntStats): boolean {
  return ctimeNs > mtimeNs;
}

/** Epoch ms; undefined: the file system does not know, or gives another time in its place. */
export function bornAt({ birthtimeNs, ctimeNs }: BigIntStats): number | undefined {
  return birthtimeNs > 0n && birthtimeNs < ctimeNs ? Number(birthtimeNs) / 1e6 : undefined;
}
