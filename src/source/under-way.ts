/**
 * What shows, in addition to its content, that a file is not all there yet: a file next to it that a program keeps
 * while it downloads, or parts of it that the disk does not hold.
 */
import { type BigIntStats, statfsSync } from "node:fs";
import { BLOCK_BYTES } from "../formats/gaps.ts";
import { nameOf, type RawPath, shown } from "../std/raw-path.ts";

/**
 * What stands next to a file under its final name while it is downloaded: aria2's control file; the data of Firefox and of
 * KDE, of Chrome, of uTorrent, of WinSCP, some of which reserve the final name by an empty file, or by one of full size.
 */
export const DOWNLOAD_SUFFIXES = [".aria2", ".part", ".crdownload", ".!ut", ".filepart"] as const;

/** Why a file is not finished that has such a companion. */
export function whyDownloading(companion: RawPath): string {
  return `${shown(nameOf(companion))} stands next to it: a download under way`;
}

/**
 * File systems (`statfs(2)`) that count a block for whatever was written, also before it is on the disk: ext2 to ext4,
 * XFS, tmpfs. Others compress, or leave out zeros that were written, or pass on what a server says.
 */
const COUNT_WHAT_IS_WRITTEN: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x01021994]);

/**
 * Why the file is not finished by what the disk holds of it; undefined where that tells nothing.
 *
 * @param stat of the open file `fd`
 * @param zeroBytes in blocks that read as zeros: a hole does
 */
export function whyHollow(
  fd: number,
  stat: BigIntStats,
  zeroBytes: number,
  typeOf: (fd: number) => number = typeOfFileSystem,
): string | undefined {
  const wholeBlocks = Math.ceil(Number(stat.size) / BLOCK_BYTES) * BLOCK_BYTES;
  const missing = wholeBlocks - Number(stat.blocks) * STAT_BLOCK_BYTES;
  if (missing < BLOCK_BYTES || zeroBytes < missing) return undefined;
  if (!COUNT_WHAT_IS_WRITTEN.has(typeOf(fd))) return undefined;
  return `${missing} of its bytes are holes, not written yet`;
}

/** The unit of `st_blocks`, whatever the file system's own blocks are (`stat(2)`). */
const STAT_BLOCK_BYTES = 512;

function typeOfFileSystem(fd: number): number {
  // Some runtimes give 32-bit types with the sign of a C int.
  return statfsSync(`/proc/self/fd/${fd}`).type >>> 0;
}
