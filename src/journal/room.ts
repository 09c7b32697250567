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

/** True where the disk of the file at `path` may have room, and takes no further file. */
export function hasNoInodes(path: string): boolean {
  try {
    const { files, ffree } = statfsSync(dirname(path));
    return files > 0 && ffree === 0;
  } catch {
    return false;
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

/**
 * File systems on which a journal would come to harm: the shared memory and the locks that SQLite's
 * write-ahead log rests on hold between processes of one host only. FUSE is among them because what
 * stands behind it cannot be known. The numbers are those of Linux (`statfs(2)`, `linux/magic.h`).
 */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x65735546, "FUSE"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x73757245, "Coda"],
  [0x564c, "NCP"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x786f4256, "VirtualBox shared folder"],
  [0xbacbacbc, "VMware shared folder"],
  [0x7c7c6673, "Parallels shared folder"],
]);

/** The name of the network file system with this `statfs` type; undefined for a local one. */
export function networkFileSystem(type: number): string | undefined {
  // Some runtimes give 32-bit types with the sign of a C int.
  return NETWORK.get(type >>> 0);
}
