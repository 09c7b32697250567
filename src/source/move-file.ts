/**
 * Moves a proven file to where finished files are kept, below the same directories as before.
 *
 * Within a file system that is a new name. To another one it is a copy under a temporary name,
 * synced, read back and compared, named, and only then is the original removed: at every moment
 * there is a whole file somewhere.
 */
import {
  close,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  fsyncSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  unlinkSync,
  write,
} from "node:fs";
import { promisify } from "node:util";
import type { Random } from "../std/clock.ts";
import { codeOf, Fault } from "../std/fault.ts";
import { makeDirectory } from "../std/make-directory.ts";
import { dirOf, joinRaw, nameOf, partsOf, type RawPath, shown } from "../std/raw-path.ts";
import { entryOf, openDirectory, openRoot, within } from "./directory-fd.ts";
import { FileChanged, isSystemError, systemText } from "./file-fault.ts";
import { type Entry, nameNew, numbered } from "./new-name.ts";
import { unmountedNow } from "./mounts.ts";
import { openEntry } from "./open-inside.ts";
import { randomHex } from "./quarantine.ts";
import { digestOf } from "./read-file.ts";

const writeFd = promisify(write);
const syncFd = promisify(fsync);
const closeFd = promisify(close);

/** A file whose content has just been read and found to be what it should be. */
export type Proven = {
  readonly entry: Entry;
  readonly path: RawPath;
  readonly digest: string;
  /** Throws `FileChanged` when the file has been touched since. */
  readonly assertStill: () => void;
};

/** The directory, opened, that a file is moved into, and what its path is shown with. */
export type MoveTarget = Disposable & { readonly dir: number; readonly shown: string };

/**
 * Opens the directory below `to` (absolute; made if missing) for the file of this path, which lies in the
 * open directory `from`. What keeps every file from being moved is known by it before one is touched.
 *
 * @throws `Fault` `AFTER_REFUSED`
 */
export function openMoveTarget(to: string, path: RawPath, from: number): MoveTarget {
  let target: number | undefined;
  try {
    const dir = (target = openTarget(to, dirOf(path)));
    assertElsewhere(dir, from);
    return { dir, shown: to.replace(/\/+$/, ""), [Symbol.dispose]: () => closeSync(dir) };
  } catch (error) {
    if (target !== undefined) closeSync(target);
    throw refusal(error, to);
  }
}

/**
 * Moves the file into the target and returns its new path, as it is shown. A file of the same name
 * there is never replaced; where it has the same content, it is the one that stays.
 *
 * @throws `Fault` `AFTER_REFUSED`, `FILE_CHANGED`; the signal's reason. The file is then where
 *   it was.
 */
export async function moveFile(
  proven: Proven,
  { dir, shown: to }: MoveTarget,
  random: Random,
  signal: AbortSignal,
): Promise<string> {
  try {
    const name = await place(proven, dir, random, signal);
    syncQuietly(dir);
    return `${to}/${shown(joinRaw(dirOf(proven.path), name))}`;
  } catch (error) {
    throw refusal(error, to);
  }
}

/** A file or directory that is missing or shut is one below the target, not the one to be moved. */
function refusal(error: unknown, to: string): unknown {
  const isOfTarget = error instanceof Fault && !(error instanceof FileChanged);
  if (!isSystemError(error) && !isOfTarget) return error;
  return new Fault(
    "AFTER_REFUSED",
    `${systemText(error)}, below ${to}`,
    "Check the directory that finished files are moved to.",
    { cause: error },
  );
}

async function place(
  proven: Proven,
  target: number,
  random: Random,
  signal: AbortSignal,
): Promise<RawPath> {
  const { entry, path } = proven;
  const name = nameOf(path);
  const twin = await sameThere(proven, target, signal);
  if (twin !== undefined) {
    proven.assertStill();
    unlinkSync(entryOf(entry.dir, entry.name));
    return twin;
  }
  proven.assertStill();
  try {
    return nameNew(entry, target, name);
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
  }
  const placed = await copyAcross(proven, target, random, signal);
  syncDirectory(target);
  proven.assertStill();
  unlinkSync(entryOf(entry.dir, entry.name));
  return placed;
}

/** A directory below `to` that need not exist, made hop by hop and never through a link. */
function openTarget(to: string, dir: RawPath): number {
  const point = unmountedNow(to);
  if (point !== undefined)
    throw new Fault("AFTER_REFUSED", `${point} is not mounted`, "Mount it; files are moved then.");
  makeDirectory(to);
  const root = openRoot(to);
  try {
    let made = "" as RawPath;
    for (const part of partsOf(dir)) {
      within(root, made, (parent) => makeHop(entryOf(parent, part)));
      made = joinRaw(made, part);
    }
    return openDirectory(root, dir);
  } finally {
    closeSync(root);
  }
}

/** By a link or a mount the target may be the source itself: a file found there is the one to be moved. */
function assertElsewhere(target: number, dir: number): void {
  const [there, here] = [fstatSync(target, { bigint: true }), fstatSync(dir, { bigint: true })];
  if (there.ino !== here.ino || there.dev !== here.dev) return;
  throw new Fault("AFTER_REFUSED", "it is there already", "Move finished files elsewhere.");
}

function makeHop(path: string | Buffer): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/**
 * The name under which this very content is there already: left by a move that was cut off before
 * the original was removed, or by another file of the same name and content.
 */
async function sameThere(
  { entry, path, digest }: Proven,
  target: number,
  signal: AbortSignal,
): Promise<RawPath | undefined> {
  const size = lstatSync(entryOf(entry.dir, entry.name)).size;
  for (let number = 1; ; number++) {
    const name = numbered(nameOf(path), number);
    const stat = lstatSync(entryOf(target, name), { throwIfNoEntry: false });
    if (!stat) return undefined;
    if (!stat.isFile() || stat.size !== size) continue;
    const fd = openEntry(target, name, path);
    try {
      if ((await digestOf(fd, size, signal)).digest === digest) return name;
    } finally {
      closeSync(fd);
    }
  }
}

async function copyAcross(
  proven: Proven,
  target: number,
  random: Random,
  signal: AbortSignal,
): Promise<RawPath> {
  const { entry, path, digest } = proven;
  // The tilde keeps it apart from a quarantined file: a copy that was cut off is never put back.
  const temporary = `.scanferry~${randomHex(random)}${randomHex(random)}` as RawPath;
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
  const source = openEntry(entry.dir, entry.name, path);
  try {
    const flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
    const copy = openSync(entryOf(target, temporary), flags, 0o600);
    try {
      await copyProven(source, copy, path, digest, signal);
    } finally {
      await closeFd(copy);
    }
    return nameNew({ dir: target, name: temporary }, target, nameOf(path));
  } catch (error) {
    removeIfThere(entryOf(target, temporary));
    throw error;
  } finally {
    closeSync(source);
  }
}

async function copyProven(
  source: number,
  copy: number,
  path: RawPath,
  digest: string,
  signal: AbortSignal,
): Promise<void> {
  const stat = fstatSync(source);
  let position = 0;
  const read = await digestOf(source, stat.size, signal, async (chunk) => {
    for (let at = 0; at < chunk.length; )
      at += (await writeFd(copy, chunk, at, chunk.length - at, position + at)).bytesWritten;
    position += chunk.length;
  });
  if (read.digest !== digest) throw new FileChanged(path, "changed while it was moved");
  keepOwner(copy, stat.uid, stat.gid);
  fchmodSync(copy, stat.mode & 0o777);
  futimesSync(copy, stat.atime, stat.mtime);
  await syncFd(copy);
  const written = await digestOf(copy, stat.size, signal);
  if (written.digest === digest) return;
  throw new Fault(
    "AFTER_REFUSED",
    "the copy is not what was written",
    "Check the disk that finished files are moved to.",
  );
}

/** Throws when the disk could not write; some network file systems know no such call at all. */
function syncDirectory(dir: number): void {
  try {
    fsyncSync(dir);
  } catch (error) {
    if (!["EINVAL", "EBADF", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"].includes(codeOf(error) ?? ""))
      throw error;
  }
}

/** For a change that is made already: whether it survives a power cut is the disk's to say. */
export function syncQuietly(dir: number): void {
  try {
    fsyncSync(dir);
  } catch {
    // The file reappearing after a power cut would do no harm: its content is known.
  }
}

/** Only root may give files away; for everyone else the copy is the daemon's, as any copy is. */
function keepOwner(fd: number, uid: number, gid: number): void {
  try {
    fchownSync(fd, uid, gid);
  } catch {
    // The owner is a courtesy; the content is what is moved.
  }
}

function removeIfThere(path: string | Buffer): void {
  try {
    unlinkSync(path);
  } catch {
    // It was named, or never made; what stops its removal has stopped the copy too.
  }
}
