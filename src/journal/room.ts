/** How much room the journal's disk has. The disk is a local one: asking it takes microseconds. */
import { accessSync, constants, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../std/fault.ts";

/**
 * With less room than this, in bytes, the journal is left alone. SQLite maps its shared memory from the disk: on
 * a file system that writes every change elsewhere (btrfs), a full disk answers a write to it with SIGBUS.
 */
export const ROOM_BYTES_MIN = 16_000_000;

/** Bytes that this user may still write next to the file at `path`; undefined where that is not known. */
export function roomOf(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** True where the disk of the file at `path` takes nothing from anyone. */
export function isReadOnly(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch (error) {
    return codeOf(error) === "EROFS";
  }
}

/** `linux/magic.h`: file systems that change no block in its place, so that a full one takes no change at all. */
const COPIES_ON_WRITE: ReadonlySet<number> = new Set([0x9123683e, 0xca451a4e, 0x2fc12fc1]);

/** Whether even reading a journal, which notes down what is being read, may need room at `path`. */
export function readingNeedsRoom(path: string): boolean {
  try {
    return COPIES_ON_WRITE.has(statfsSync(dirname(path)).type >>> 0);
  } catch {
    return false;
  }
}
