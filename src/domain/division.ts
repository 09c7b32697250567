/**
 * How a large mirror is divided among several daemons: by its top directories. A directory belongs to
 * one part with all that is below it, and what lies in the source itself to part 1. The journal knows
 * nothing of it: who scans a file is decided anew with every configuration.
 */
import { hash } from "node:crypto";
import { bytesOf, type RawPath, ROOT } from "../std/raw-path.ts";

/** Some of a mirror's parts, which are numbered from 1. */
export type Division = { readonly of: number; readonly own: readonly number[] };

/** The part, of so many, that a directory of a mirror belongs to with its files. */
export function partOf(dir: RawPath, of: number): number {
  if (dir === ROOT || of === 1) return 1;
  const slash = dir.indexOf("/");
  const top = slash < 0 ? dir : dir.slice(0, slash);
  // PostgreSQL reckons the same (src/journal/postgres/due-in-parts.ts).
  return 1 + (hash("sha256", bytesOf(top as RawPath), "buffer").readUIntBE(0, 3) % of);
}

/** Whether a directory's files are in these parts; without a division, all are. */
export function isOwn(division: Division | undefined, dir: RawPath): boolean {
  return division === undefined || division.own.includes(partOf(dir, division.of));
}
