import { readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Database } from "better-sqlite3";
import { beginDraft, dropDraft, publishDraft } from "../std/durable.ts";

/** How many steps have made the tables of this database. */
export function schemaVersionOf(db: Database): number {
  return Number(db.pragma("user_version", { simple: true }));
}

/**
 * Takes the steps that the tables lack, the n-th from version n to n + 1, each in one transaction: a crash leaves
 * a whole version. `applicationId` says whose the file is.
 */
export function takeSteps(db: Database, steps: readonly string[], applicationId = 0): void {
  for (const [index, step] of steps.entries()) {
    if (index < schemaVersionOf(db)) continue;
    db.transaction(() => {
      db.exec(step);
      db.pragma(`application_id = ${applicationId}`);
      db.pragma(`user_version = ${index + 1}`);
    }).immediate();
  }
}

/**
 * Copies of a database as it was before its tables were changed, next to it: the way back to the
 * program that wrote it.
 */

/** How many copies stay; each is as large as the database was. */
const KEPT = 2;
/** Room that is left free next to copy and changes. */
const SPARE_BYTES = 8 * 1024 * 1024;

/**
 * Writes the copy of the database at `path`, durably, and lets go of all but the latest ones. `finish` may change
 * the copy before anyone sees it. Returns its path. Throws an error with the code ENOSPC, before anything is
 * written, where there is no room for the copy and for changing the tables, which may rewrite them whole.
 */
export function keepEarlierCopy(
  db: Database,
  path: string,
  version: number,
  finish: (draft: string) => void = () => {},
): string {
  const pages = Number(db.pragma("page_count", { simple: true }));
  const bytes = pages * Number(db.pragma("page_size", { simple: true }));
  assertRoom(dirname(path), 2 * bytes + SPARE_BYTES);
  const copy = `${path}.schema-${version}`;
  const draft = `${copy}.partial`;
  try {
    beginDraft(draft);
    db.prepare("VACUUM INTO ?").run(draft);
    finish(draft);
    publishDraft(draft, copy);
  } catch (error) {
    dropDraft(draft);
    throw error;
  }
  letGo(path, copy);
  return copy;
}

function assertRoom(directory: string, needed: number): void {
  const { blocks, bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  // A file system without a bound says that it has no blocks.
  if (blocks === 0 || free >= needed) return;
  const mega = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  const message = `${mega(needed)} of room needed to copy it before its tables are changed, ${mega(free)} free`;
  throw Object.assign(new Error(message), { code: "ENOSPC" });
}

/** Of the others the latest stay; of which version they are says nothing once an old one was restored. */
function letGo(path: string, made: string): void {
  const directory = dirname(path);
  const prefix = `${basename(path)}.schema-`;
  const others = readdirSync(directory)
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => join(directory, name))
    .filter((other) => other !== made)
    .map((other) => ({ other, at: statSync(other).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { other } of others.slice(KEPT - 1)) rmSync(other);
}
