/**
 * Whether a source shows what it holds.
 *
 * A share that is not mounted leaves an empty directory behind, which looks as if everyone had
 * deleted everything. So a mirror remembers what its source was made of when it last had entries:
 * file system and the directory itself. Then
 *
 * - the same again: online, even when it is empty. It is the real directory, people emptied it.
 * - another one with entries: online, and the new one is remembered. Device numbers of network
 *   shares change with mounts, those of disks with the order they were found in.
 * - another one that is empty: offline. That is the bare mount point (the inode tells it even
 *   where a directory of the same file system had been bound over it), or a new and empty file
 *   system; both are good reasons to wait, and nothing is lost by waiting. The inode counts on a
 *   network share too: the next mount gets the number that the last one gave back, and a server
 *   whose own disk is missing shows an empty directory under the very same number.
 *
 * Another one at or below a mount point of `/etc/fstab` where nothing is mounted is offline, whatever is
 * in it: files that strayed onto the disk below would make those of the share look removed. The one that
 * is remembered stays online there: an fstab may name disks that are no more.
 *
 * Entries that are on the built-in ignore list do not count, nor do hidden ones that are not mirrored:
 * `lost+found` and a stray `.DS_Store` are found on bare mount points too.
 */
import { opendirSync, statfsSync, statSync } from "node:fs";
import { codeOf } from "../std/fault.ts";
import type { RawPath } from "../std/raw-path.ts";
import { isIgnored } from "./eligible.ts";
import { systemText } from "./file-fault.ts";
import { isHidden, plainGlobs, reachInto } from "./globs.ts";
import { unmountedNow } from "./mounts.ts";
import type { SourceSettings, SourceStatus } from "./source.ts";

/** Whether the source can be trusted now. Never throws; may hang with the file system. */
export function sourceStatus(
  settings: SourceSettings,
  unmountedAt: (path: string) => string | undefined = unmountedNow,
): SourceStatus {
  const { source } = settings;
  try {
    const device = deviceOf(source);
    if (device === undefined) return offline(`${source} is not a directory`);
    // Also shows that the directory can be read, so it comes before anything is concluded.
    const empty = isEmpty(settings);
    const online: SourceStatus = { kind: "online", device };
    if (settings.device === device) return online;
    const point = unmountedAt(source);
    if (point !== undefined)
      return offline(`nothing is mounted at ${point}, where /etc/fstab has a file system`);
    if (settings.device === null || !empty) return online;
    return offline(
      `${source} is empty and not the directory that had files in it: its file system is not mounted`,
    );
  } catch (error) {
    if (codeOf(error) === "ENOENT") return offline(`${source} does not exist`);
    return offline(`${source}: ${systemText(error)}`);
  }
}

function offline(why: string): SourceStatus {
  return { kind: "offline", why };
}

/** `major:minor/type/inode`; undefined for no directory. */
function deviceOf(source: string): string | undefined {
  const stat = statSync(source, { bigint: true });
  if (!stat.isDirectory()) return undefined;
  const type = statfsSync(source).type.toString(16);
  return `${majorOf(stat.dev)}:${minorOf(stat.dev)}/${type}/${stat.ino}`;
}

/** glibc's packing of device numbers. */
function majorOf(dev: bigint): bigint {
  return ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
}

function minorOf(dev: bigint): bigint {
  return (dev & 0xffn) | ((dev >> 12n) & ~0xffn & 0xffffffffn);
}

function isEmpty({ source, include }: SourceSettings): boolean {
  const includes = plainGlobs(include);
  const reaches = reachInto(include);
  const entries = opendirSync(source, { encoding: "latin1" });
  try {
    for (let entry = entries.readSync(); entry; entry = entries.readSync()) {
      const name = entry.name as RawPath;
      const isDirectory = entry.isDirectory();
      if (isIgnored(name, isDirectory ? "directory" : "file")) continue;
      if (!isHidden(name) || (isDirectory ? reaches(name) : includes(name))) return false;
    }
    return true;
  } finally {
    entries.closeSync();
  }
}
