/**
 * Whether a file is there under just this name. Many a share, and some disks, find a file by a name that
 * differs in case or in Unicode composition; only a directory's own list tells how it is spelt.
 */
import { closeSync, readdirSync } from "node:fs";
import { joinRaw, partsOf, type RawPath, ROOT } from "../std/raw-path.ts";
import { entryOf, openDirectory, openRoot } from "./directory-fd.ts";
import { FileGone, fileFault } from "./file-fault.ts";

/**
 * True when each directory on the way, and the last one, has an entry that is spelt so.
 *
 * @throws `FileUnreadable`, `SourceOffline`
 */
export function isSpelt(source: string, path: RawPath): boolean {
  const root = openRoot(source);
  try {
    let dir = ROOT;
    for (const part of partsOf(path)) {
      if (!namesIn(root, dir).includes(part)) return false;
      dir = joinRaw(dir, part);
    }
    return true;
  } catch (error) {
    const fault = fileFault(error, path);
    if (fault instanceof FileGone) return false;
    throw fault;
  } finally {
    closeSync(root);
  }
}

function namesIn(root: number, dir: RawPath): RawPath[] {
  const fd = openDirectory(root, dir);
  try {
    // Latin-1 keeps every byte: these are raw names already.
    return readdirSync(entryOf(fd), { encoding: "latin1" }) as RawPath[];
  } finally {
    closeSync(fd);
  }
}
