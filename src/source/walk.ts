import { closeSync, lstatSync, readdirSync } from "node:fs";
import { setImmediate as nextTick } from "node:timers/promises";
import { joinRaw, type RawPath, ROOT } from "../std/raw-path.ts";
import { entryOf, openDirectory, openRoot } from "./directory-fd.ts";
import { eligibility } from "./eligible.ts";
import type { SourceSettings } from "./source.ts";

/** A directory and the names in it that are no directories. */
export type WalkStep = { readonly dir: RawPath; readonly others: readonly RawPath[] };

/**
 * Walks the eligible directories at and below `from` by name alone, without a look at the files:
 * some four times as fast as a scan, and no base for conclusions. What cannot be read is passed
 * over.
 */
export async function* walk(
  settings: SourceSettings,
  signal: AbortSignal,
  from: RawPath = ROOT,
): AsyncGenerator<WalkStep> {
  const eligible = eligibility(settings);
  const waiting = eligible.directory(from) ? [from] : [];
  for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
    signal.throwIfAborted();
    const others: RawPath[] = [];
    for (const { name, isDirectory } of entriesOf(settings.source, dir)) {
      const path = joinRaw(dir, name);
      if (!isDirectory) others.push(name);
      else if (eligible.directory(path)) waiting.push(path);
    }
    yield { dir, others };
    await nextTick();
  }
}

type Entry = { readonly name: RawPath; readonly isDirectory: boolean };

/** The entries of a directory of a source; none when it cannot be read. */
export function entriesOf(source: string, dir: RawPath): Entry[] {
  return listedIn(source, dir) ?? [];
}

/** The same, undefined when it cannot be read: for anyone who concludes anything from what is missing. */
export function listedIn(source: string, dir: RawPath): Entry[] | undefined {
  let root: number | undefined;
  let fd: number | undefined;
  try {
    root = openRoot(source);
    fd = openDirectory(root, dir);
    return listed(fd);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
    if (root !== undefined) closeSync(root);
  }
}

function listed(fd: number): Entry[] {
  try {
    return readdirSync(entryOf(fd), { encoding: "latin1", withFileTypes: true }).map((entry) => ({
      name: entry.name as RawPath,
      isDirectory: entry.isDirectory(),
    }));
  } catch {
    // Where the file system does not tell types, Node looks at each entry itself, and ends with
    // an error at the first that has gone or is not UTF-8.
    return (readdirSync(entryOf(fd), { encoding: "latin1" }) as RawPath[]).map((name) => ({
      name,
      isDirectory: lstatSync(entryOf(fd, name), { throwIfNoEntry: false })?.isDirectory() ?? false,
    }));
  }
}
