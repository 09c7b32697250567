/**
 * Opens files of a source without ever leaving it and without ever waiting for anyone: a pipe
 * without a writer, a tape, a socket.
 *
 * The name is pinned first (`O_PATH`: nothing is opened yet, no device stirs), what it stands for
 * is looked at, and only a regular file is then opened, through the pin, so that it is the very
 * file that was looked at.
 */
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import type { Seen } from "../domain/document.ts";
import { type RawPath, dirOf, joinRaw, nameOf } from "../std/raw-path.ts";
import { type Directories, OPENED_FOR_EACH } from "./directories.ts";
import { assertName, entryOf, O_PATH, statsOf } from "./directory-fd.ts";
import { FileGone, fileFault, NotRegular } from "./file-fault.ts";
import { seenOf } from "./seen.ts";

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * A descriptor of a file for reading. The caller closes it.
 *
 * @throws `NotRegular`; `FileGone` where the file, or a directory on the way, is missing;
 *   `FileUnreadable`; `SourceOffline`
 */
export function openInside(
  source: string,
  path: RawPath,
  directories: Directories = OPENED_FOR_EACH,
): number {
  return directories.use(source, path, ({ fd }) => openEntry(fd, nameOf(path), path));
}

/**
 * What is to be seen of a file now; undefined when it is gone, be it that something else than a
 * regular file has its name. It is also gone when the source is: anyone who concludes something from
 * that asks `sourceStatus` first.
 *
 * @throws `FileUnreadable`, `SourceOffline`
 */
export function lookInside(source: string, path: RawPath, network = false): Seen | undefined {
  const stat = statInside(source, path);
  return stat && seenOf(stat, network);
}

/** The whole of what `lookInside` sees. Throws the same. */
export function statInside(source: string, path: RawPath): BigIntStats | undefined {
  return statWithCompanion(source, path, [])?.stat;
}

/**
 * The same, and the first regular file next to it whose name is its own with one of these suffixes; one that cannot be
 * looked at does not count.
 */
export function statWithCompanion(
  source: string,
  path: RawPath,
  suffixes: readonly string[],
  directories: Directories = OPENED_FOR_EACH,
): { readonly stat: BigIntStats; readonly companion: RawPath | undefined } | undefined {
  try {
    return directories.use(source, path, (dir) => {
      const name = nameOf(path);
      const stat = statOfEntry(dir.fd, name, path);
      if (!stat?.isFile()) return undefined;
      const hasEntry = dir.hasEntry();
      const companion = suffixes
        .map((suffix) => `${name}${suffix}` as RawPath)
        .find((each) => hasEntry(each) && statsOf(entryOf(dir.fd, each))?.isFile());
      return { stat, companion: companion && joinRaw(dirOf(path), companion) };
    });
  } catch (error) {
    if (error instanceof FileGone) return undefined;
    throw error;
  }
}

function statOfEntry(dir: number, name: RawPath, path: RawPath): BigIntStats | undefined {
  assertName(name);
  try {
    return lstatSync(entryOf(dir, name), { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw fileFault(error, path);
  }
}

/** The same as `openInside` for an entry of a directory that is open already. */
export function openEntry(dir: number, name: RawPath, path: RawPath): number {
  assertName(name);
  let pin: number;
  try {
    pin = openSync(entryOf(dir, name), O_PATH | O_NOFOLLOW);
  } catch (error) {
    throw fileFault(error, path);
  }
  try {
    const stat = fstatSync(pin, { bigint: true });
    if (!stat.isFile()) throw new NotRegular(path, kindOf(stat));
    return openPinned(pin, path, stat);
  } finally {
    closeSync(pin);
  }
}

function openPinned(pin: number, path: RawPath, stat: BigIntStats): number {
  try {
    return openSync(`/proc/self/fd/${pin}`, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    throw fileFault(error, path, stat);
  }
}

function kindOf(stat: BigIntStats): string {
  if (stat.isSymbolicLink()) return "a link";
  if (stat.isDirectory()) return "a directory";
  if (stat.isFIFO()) return "a pipe";
  if (stat.isSocket()) return "a socket";
  return "a device";
}
