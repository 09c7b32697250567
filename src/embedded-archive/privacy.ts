/**
 * The data directory is its owner's alone: others neither read documents nor stop the archive by a lock on its
 * database. It is tightened at every open, for it may have been made by an earlier version, or copied.
 */
import { chmodSync, closeSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../std/fault.ts";
import { makeDirectory } from "../std/make-directory.ts";

/** Of everything that is made in it. */
export const PRIVATE_DIRECTORY = 0o700;
export const PRIVATE_FILE = 0o600;

/** What an archive has in its directory; another file may stand there that others are to read. */
const OWN =
  /^(?:blobs|incoming|(?:archive|lock)\.db(?:-wal|-shm|-journal|\.schema-\d+(?:\.partial)?)?)$/;

/** Makes the directory if it is missing, and closes to others what an archive has there. */
export function makePrivate(dataDir: string): void {
  makeDirectory(dataDir, PRIVATE_DIRECTORY);
  const names = readdirSync(dataDir);
  const own = names.filter((name) => OWN.test(name));
  // One that is used for something else, too, stays open for that.
  if (own.length === names.length) tighten(dataDir);
  for (const name of own) tighten(join(dataDir, name));
  // SQLite would make them as the umask has it, and gives what it makes next to them the same mode.
  for (const name of ["archive.db", "lock.db"])
    if (!names.includes(name)) closeSync(openSync(join(dataDir, name), "a", PRIVATE_FILE));
}

function tighten(path: string): void {
  try {
    const stat = statSync(path);
    const mode = stat.isDirectory() ? PRIVATE_DIRECTORY : PRIVATE_FILE;
    if ((stat.mode & 0o077) !== 0) chmodSync(path, mode);
  } catch (error) {
    // Another user's, to whom it was lent; or a file that SQLite removes.
    if (codeOf(error) !== "EPERM" && codeOf(error) !== "ENOENT") throw error;
  }
}
