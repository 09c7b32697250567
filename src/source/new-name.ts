/** Gives files new names without ever replacing another file. */
import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
} from "node:fs";
import { codeOf, Fault } from "../std/fault.ts";
import { type RawPath, shown } from "../std/raw-path.ts";
import { entryOf } from "./directory-fd.ts";

/** An entry of an open directory. */
export type Entry = { readonly dir: number; readonly name: RawPath };

/** What Linux file systems take. */
export const NAME_BYTES_MAX = 255;
/** More files of one name in one directory than this are a mistake somewhere. */
const NUMBERS_MAX = 1000;

/**
 * Names `from` `name` in the directory `to`, or `name (2)`, `name (3)`…, whatever is free, and
 * returns the name. The old name is gone afterwards.
 *
 * @throws the system's error, `EXDEV` for one; `Fault` `AFTER_REFUSED` when no name is free
 */
export function nameNew(from: Entry, to: number, name: RawPath): RawPath {
  for (let number = 1; number <= NUMBERS_MAX; number++) {
    const candidate = numbered(name, number);
    if (takeName(from, to, candidate)) return candidate;
    if (isHardLink(from, { dir: to, name: candidate })) {
      unlinkSync(entryOf(from.dir, from.name));
      return candidate;
    }
  }
  throw new Fault(
    "AFTER_REFUSED",
    `${shown(name)} and ${NUMBERS_MAX} numbered names are taken`,
    "Clear out the directory that finished files are moved to.",
  );
}

/** `scan (2).pdf` for `scan.pdf` and 2, shortened where a name may not be as long as that. */
export function numbered(name: RawPath, number: number): RawPath {
  if (number === 1) return name;
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 ? name.slice(dot) : "";
  const ending = ` (${number})${extension}`;
  const stem = name.slice(0, name.length - extension.length);
  const kept = Math.min(stem.length, Math.max(0, NAME_BYTES_MAX - ending.length));
  return `${wholeCharacters(stem, kept)}${ending}` as RawPath;
}

/** The first `length` bytes, less the beginning of a UTF-8 character that is cut by the end. */
function wholeCharacters(stem: string, length: number): string {
  let end = length;
  while (end > 0 && end < stem.length && isContinuation(stem.charCodeAt(end))) end -= 1;
  return stem.slice(0, end);
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/**
 * `link` and `unlink` instead of `rename`, which would replace what is there. Where links are not
 * to be had (FAT, some shares, files of other owners), an empty file is made under the name,
 * which fails when it is taken, and is then replaced.
 */
function takeName(from: Entry, to: number, name: RawPath): boolean {
  const target = entryOf(to, name);
  try {
    linkSync(entryOf(from.dir, from.name), target);
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (code === "EEXIST") return false;
    if (!WITHOUT_LINKS.has(code)) throw error;
    return replacePlaceholder(from, target);
  }
  unlinkSync(entryOf(from.dir, from.name));
  return true;
}

const WITHOUT_LINKS: ReadonlySet<string> = new Set(
  "EPERM EOPNOTSUPP ENOTSUP ENOSYS EMLINK EINVAL".split(" "),
);

function replacePlaceholder(from: Entry, target: string | Buffer): boolean {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  try {
    closeSync(openSync(target, O_CREAT | O_EXCL | O_WRONLY, 0o600));
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
  try {
    renameSync(entryOf(from.dir, from.name), target);
  } catch (error) {
    unlinkSync(target);
    throw error;
  }
  return true;
}

/** True when a crash came between `link` and `unlink`: the name is this file's already. */
function isHardLink(a: Entry, b: Entry): boolean {
  const one = lstatSync(entryOf(a.dir, a.name), { bigint: true, throwIfNoEntry: false });
  const other = lstatSync(entryOf(b.dir, b.name), { bigint: true, throwIfNoEntry: false });
  return one !== undefined && other?.ino === one.ino && other.dev === one.dev;
}
