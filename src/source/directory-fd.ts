/**
 * Directories as open descriptors, reached one hop at a time.
 *
 * `O_NOFOLLOW` guards the last part of a path only: with a directory on the way swapped for a link,
 * a plain `open` reads a file outside the source. So every directory below the source is opened
 * from its parent's descriptor, through `/proc/self/fd/N/name`, and must be a directory itself.
 * That is `openat` in plain Node; it also has no limit on the length of the whole path.
 */
import { closeSync, constants, lstatSync, openSync, type Stats } from "node:fs";
import { invariant } from "../std/fault.ts";
import { type RawPath, dirOf, nameOf, partsOf } from "../std/raw-path.ts";
import { fileFault } from "./file-fault.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Linux's number on every architecture Node is built for; Node does not name it. */
export const O_PATH = 0o10000000;

const HOP = O_PATH | O_DIRECTORY | O_NOFOLLOW;
const LISTED = O_RDONLY | O_DIRECTORY | O_NONBLOCK;

/** The path of a directory's entry by its descriptor; the directory itself without a name. */
export function entryOf(fd: number, name?: RawPath): string | Buffer {
  if (name === undefined) return `/proc/self/fd/${fd}`;
  const path = `/proc/self/fd/${fd}/${name}`;
  return /[\x80-\xff]/.test(path) ? Buffer.from(path, "latin1") : path;
}

/**
 * Calls `use` while `fd` is the directory that this process works in, so that its entries are reached by
 * their bare names: half the time of a look through `/proc`. `use` must be synchronous: nobody else may
 * find the process elsewhere than it was.
 */
export function workingIn<T>(fd: number, use: (entry: typeof entryIn) => T): T {
  if (!moves(fd)) return use((name) => entryOf(fd, name));
  try {
    return use(entryIn);
  } finally {
    if (!moves(homeFd())) process.chdir("/");
  }
}

/** The path of an entry of the directory that is worked in. */
function entryIn(name: RawPath): string | Buffer {
  return /[\x80-\xff]/.test(name) ? Buffer.from(name, "latin1") : name;
}

let home: number | undefined;

/** Where this process works, whatever that is called by now. */
function homeFd(): number {
  home ??= openSync(".", O_PATH | O_DIRECTORY);
  return home;
}

/** Not in a worker, and not to where the process may only look at names. */
function moves(to: number): boolean {
  try {
    homeFd();
    process.chdir(`/proc/self/fd/${to}`);
    return true;
  } catch {
    return false;
  }
}

/** A descriptor of the directory at an absolute path, which may be a link. The caller closes it. */
export function openRoot(path: string): number {
  return openSync(path, O_PATH | O_DIRECTORY);
}

/**
 * A descriptor of a directory below `root`, fit for listing and syncing. The caller closes it.
 *
 * @throws `FileGone` where a part is missing, a link or no directory; `FileUnreadable`;
 *   `SourceOffline`
 */
export function openDirectory(root: number, dir: RawPath): number {
  if (dir === "") return opened(root, undefined, LISTED, dir);
  return within(root, dirOf(dir), (parent) =>
    opened(parent, nameOf(dir), LISTED | O_NOFOLLOW, dir),
  );
}

/** Calls `use` with a descriptor of a directory below `root`, good for naming its entries only. */
export function within<T>(root: number, dir: RawPath, use: (fd: number) => T): T {
  const fd = descend(root, dir);
  try {
    return use(fd);
  } finally {
    if (fd !== root) closeSync(fd);
  }
}

/** The same descriptor, which the caller closes; `root` itself where `dir` is empty. */
export function descend(root: number, dir: RawPath): number {
  let fd = root;
  for (const part of partsOf(dir)) {
    const passed = fd;
    try {
      fd = opened(passed, part, HOP, dir);
    } finally {
      if (passed !== root) closeSync(passed);
    }
  }
  return fd;
}

/** Of what is gone by now, or must not be looked at: nothing. */
export function statsOf(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Refuses the names that would lead out of a directory; no listing ever holds them. */
export function assertName(name: RawPath): void {
  invariant(
    name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name),
    "a path has only real names in it",
  );
}

function opened(parent: number, name: RawPath | undefined, flags: number, path: RawPath): number {
  if (name !== undefined) assertName(name);
  const entry = entryOf(parent, name);
  try {
    return openSync(entry, flags);
  } catch (error) {
    throw fileFault(error, path, statOf(entry));
  }
}

/** For the owner and mode in the message; no more than that depends on it. */
function statOf(entry: string | Buffer) {
  try {
    return lstatSync(entry, { bigint: true });
  } catch {
    return undefined;
  }
}
