/**
 * A file that is to be moved or deleted is first given a name of its own in its directory, so that
 * nobody opens it by its old name any more, and only then proven and acted on. The name holds the
 * original one: whatever ends the process in between, the next start puts the file back.
 */
import { fstatSync, lstatSync, readdirSync, renameSync } from "node:fs";
import type { Random } from "../std/clock.ts";
import type { RawPath } from "../std/raw-path.ts";
import { entryOf } from "./directory-fd.ts";
import { NAME_BYTES_MAX, nameNew } from "./new-name.ts";

const PREFIX = ".scanferry-";

/**
 * The directory that was looked into last, as it was then, and what lay aside in it; forgotten with each
 * file that is put aside or back, since the times of a directory may be too coarse to tell that.
 */
let lastLook: { readonly as: string; readonly aside: readonly RawPath[] } | undefined;

/** `.scanferry-<original>-<8 hex>`; undefined when that is longer than a name may be. */
export function quarantineName(name: RawPath, random: Random): RawPath | undefined {
  const quarantined = `${PREFIX}${name}-${randomHex(random)}` as RawPath;
  return quarantined.length <= NAME_BYTES_MAX ? quarantined : undefined;
}

/** The name that `quarantineName` was given; undefined for any other name. */
export function originalName(quarantined: RawPath): RawPath | undefined {
  return /^\.scanferry-(.+)-[0-9a-f]{8}$/s.exec(quarantined)?.[1] as RawPath | undefined;
}

/**
 * Puts a file aside within its open directory and returns the name it has now: its own, when that
 * is too long to hold another.
 */
export function putAside(dir: number, name: RawPath, random: Random): RawPath {
  const aside = quarantineName(name, random);
  if (!aside) return name;
  if (lstatSync(entryOf(dir, aside), { throwIfNoEntry: false })) return putAside(dir, name, random);
  lastLook = undefined;
  renameSync(entryOf(dir, name), entryOf(dir, aside));
  return aside;
}

/**
 * The names of what lies aside in an open directory. One that has not changed is not listed again: thousands
 * of files may be gone from among a hundred thousand, and each would take as long as all of them.
 */
export function asideIn(dir: number): readonly RawPath[] {
  const { dev, ino, mtimeNs, ctimeNs } = fstatSync(dir, { bigint: true });
  const as = [dev, ino, mtimeNs, ctimeNs].join(".");
  if (lastLook?.as === as) return lastLook.aside;
  const names = readdirSync(entryOf(dir), { encoding: "latin1" }) as RawPath[];
  const aside = names.filter((name) => originalName(name) !== undefined);
  lastLook = { as, aside };
  return aside;
}

/**
 * Gives a file that was put aside its name back; where that has been taken meanwhile, a numbered
 * one. Returns the name it has now.
 */
export function putBack(dir: number, aside: RawPath, name: RawPath): RawPath {
  lastLook = undefined;
  return aside === name ? name : nameNew({ dir, name: aside }, dir, name);
}

/** Eight hexadecimal digits. */
export function randomHex(random: Random): string {
  return Math.floor(random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");
}
