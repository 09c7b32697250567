/**
 * One directory as it is now. Listed and looked at through its own descriptor, so that a directory
 * swapped for a link meanwhile changes nothing; synchronous, which is four times as fast here as
 * the asynchronous calls, and yielding now and then, for directories of a hundred thousand files.
 */
import { hash } from "node:crypto";
import { closeSync, lstatSync, readdirSync } from "node:fs";
import { joinRaw, type RawPath, shown } from "../std/raw-path.ts";
import { entryOf, openDirectory, openRoot, workingIn } from "./directory-fd.ts";
import { type Eligibility, eligibility } from "./eligible.ts";
import { FileGone, fileFault, FileUnreadable, SourceOffline } from "./file-fault.ts";
import { seenOf } from "./seen.ts";
import type { FileSeen, Listing, SourceSettings } from "./source.ts";
import { sourceStatus } from "./source-status.ts";

/** A look at a directory: its listing and what a walk needs beyond it. */
export type DirectoryLook = {
  readonly listing: Listing;
  /** Eligible directories in it. */
  readonly directories: readonly RawPath[];
  /** Eligible names that stand for links, pipes, sockets, devices. */
  readonly leftOut: number;
  /** Links among them, and those with names that only a directory could have. */
  readonly links: readonly RawPath[];
  /** An entry that is there and did not tell what it is: the listing is partial. */
  readonly problem: FileUnreadable | SourceOffline | undefined;
};

/** Entries that are looked at before others get their turn. */
const ENTRIES_A_TICK = 4096;

/**
 * Looks at a directory below an open root; yields after every few thousand entries.
 *
 * @throws what `openDirectory` throws
 */
export function* look(
  root: number,
  dir: RawPath,
  eligible: Eligibility,
  network: boolean,
): Generator<void, DirectoryLook> {
  const fd = openDirectory(root, dir);
  try {
    const files: FileSeen[] = [];
    const directories: RawPath[] = [];
    let leftOut = 0;
    const links: RawPath[] = [];
    let problem: DirectoryLook["problem"];
    const names = namesIn(fd, dir);
    const lookAt = (name: RawPath, entry: string | Buffer) => {
      const path = joinRaw(dir, name);
      const asFile = eligible.file(path);
      if (!asFile && !eligible.directory(path)) return;
      const stat = statEntry(entry, path);
      if (stat instanceof FileGone) return;
      if (stat instanceof Error) problem = stat;
      else if (stat.isSymbolicLink()) {
        links.push(path);
        if (asFile) leftOut += 1;
      } else if (stat.isDirectory()) {
        if (eligible.directory(path)) directories.push(path);
      } else if (!asFile) return;
      else if (stat.isFile()) files.push({ name, seen: seenOf(stat, network) });
      else leftOut += 1;
    };
    for (let at = 0; at < names.length; at += ENTRIES_A_TICK) {
      if (at > 0) yield;
      const some = names.slice(at, at + ENTRIES_A_TICK);
      workingIn(fd, (entry) => some.forEach((name) => lookAt(name, entry(name))));
    }
    const fingerprint = fingerprintOf(files);
    return {
      // A whole listing never has the fingerprint of a partial one, which is about fewer files than there are.
      listing: problem
        ? { dir, fingerprint: `partial/${fingerprint}`, files, isPartial: true }
        : { dir, fingerprint, files },
      directories,
      leftOut,
      links,
      problem,
    };
  } finally {
    closeSync(fd);
  }
}

/**
 * One directory, without what is below it; undefined when it is gone or not eligible.
 *
 * @throws `FileUnreadable` when it, or an entry of it, cannot be looked at; `SourceOffline`
 */
export function listOne(settings: SourceSettings, dir: RawPath): Listing | undefined {
  const status = sourceStatus(settings);
  if (status.kind === "offline") throw new SourceOffline(status.why);
  const eligible = eligibility(settings);
  if (!eligible.directory(dir)) return undefined;
  const root = openRoot(settings.source);
  try {
    const { listing, problem } = drained(look(root, dir, eligible, settings.network));
    if (problem) throw problem;
    return listing;
  } catch (error) {
    if (error instanceof FileGone) return undefined;
    throw error;
  } finally {
    closeSync(root);
  }
}

function drained<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** In byte order: the fingerprint must not depend on the order of the file system. */
function namesIn(fd: number, dir: RawPath): RawPath[] {
  try {
    // Latin-1 keeps every byte: these are raw names already.
    return (readdirSync(entryOf(fd), { encoding: "latin1" }) as RawPath[]).sort();
  } catch (error) {
    throw fileFault(error, dir);
  }
}

function statEntry(entry: string | Buffer, path: RawPath) {
  try {
    return lstatSync(entry, { bigint: true });
  } catch (error) {
    const fault = fileFault(error, path);
    if (fault instanceof FileGone || fault instanceof SourceOffline) return fault;
    return new FileUnreadable(`${fault.message}: ${shown(path)}`, { cause: error });
  }
}

/** Neither a name nor a stamp has a slash in it, so no two listings are written alike. */
function fingerprintOf(files: readonly FileSeen[]): string {
  return hash(
    "sha1",
    files.map(({ name, seen }) => `${name}/${seen.stamp}/`).join(""),
    "base64url",
  );
}
