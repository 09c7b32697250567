/**
 * Paths as people type them. A path means a file (or directory) of a mirror: absolute, relative to
 * the working directory, or relative to a mirror's source, and with what `list` shows of bytes that
 * are no text (`\xHH`). No source is looked into: a share may be away, or hang.
 */
import { lstat, realpath } from "node:fs/promises";
import { normalize, resolve } from "node:path";
import type { Mirror } from "../config/config.ts";
import { nearest } from "../std/nearest.ts";
import type { DocumentReader, Registry } from "../journal/journal.ts";
import { rawOf, rawOfText, type RawPath } from "../std/raw-path.ts";
import type { KnownPlace, MirrorPath } from "../report/explanation.ts";
import { UsageError } from "../std/fault.ts";

/** The mirror of this name. Throws `UsageError`. */
export function mirrorNamed(name: string, mirrors: readonly Mirror[]): Mirror {
  const found = mirrors.find((mirror) => mirror.name === name);
  if (found) return found;
  const names = mirrors.map((mirror) => mirror.name);
  const meant = nearest(name, names);
  const fix = meant === undefined ? `there are ${names.join(", ")}` : `did you mean ${meant}?`;
  throw new UsageError(`no mirror is named ${JSON.stringify(name)}; ${fix}`);
}

/**
 * Every place that `typed` may mean, the likeliest first: below a source as an absolute path or
 * from the working directory, else below each source in turn. Throws `UsageError` for an absolute
 * path outside of every source.
 */
export function placesOf(typed: string, cwd: string, mirrors: readonly Mirror[]): MirrorPath[] {
  const absolute = resolve(cwd, typed);
  const [inside] = mirrors
    .filter(({ source }) => isAtOrBelow(absolute, source))
    .sort((a, b) => b.source.length - a.source.length);
  if (inside) return spellings(inside, below(absolute, inside.source));
  if (typed.startsWith("/")) {
    throw outside(typed, mirrors);
  }
  return mirrors.flatMap((mirror) => {
    const path = resolve(mirror.source, typed);
    return isAtOrBelow(path, mirror.source) ? spellings(mirror, below(path, mirror.source)) : [];
  });
}

/** Where a path is typed, `pwd` being what the shell calls that directory, and what it may mean. */
export type PathScope = {
  readonly cwd: string;
  readonly pwd?: string | undefined;
  readonly mirrors: readonly Mirror[];
};

/**
 * The one place that is meant: the only one, or the one the journal knows something of. Throws
 * `UsageError` when several mirrors have it, and where it is in the working directory but in no source.
 */
export async function placeOf(
  typed: string,
  scope: PathScope,
  journal: (DocumentReader & Registry) | undefined,
): Promise<KnownPlace> {
  const cwd = await directoryOf(typed, scope);
  const places = placesOf(typed, cwd, scope.mirrors);
  const ids = new Map((await journal?.mirrors())?.map(({ name, id }) => [name, id]));
  const all = places.map((place) => ({ ...place, mirrorId: ids.get(place.mirror.name) ?? null }));
  const known = [];
  for (const place of all) if (await isKnown(place, journal)) known.push(place);
  const candidates = known.length > 0 ? known : all;
  const names = [...new Set(candidates.map(({ mirror }) => mirror.name))];
  if (names.length > 1) {
    throw new UsageError(
      `${typed} can be in several mirrors (${names.join(", ")}); write the absolute path`,
    );
  }
  const [place] = candidates;
  if (!place) throw new UsageError(`${typed} is not below the source of a mirror`);
  return place;
}

function outside(path: string, mirrors: readonly Mirror[]): UsageError {
  const sources = mirrors.map(({ source }) => source).join(", ");
  return new UsageError(`${path} is not below the source of a mirror; sources: ${sources}`);
}

/**
 * The directory that a path is relative to: the working directory, by the system's own path of it or as the shell got
 * there, as a source may be known by a link. Throws `UsageError` for what is there, and outside of all sources.
 */
async function directoryOf(typed: string, { cwd, pwd, mirrors }: PathScope): Promise<string> {
  const isInside = (directory: string) =>
    mirrors.some(({ source }) => isAtOrBelow(resolve(directory, typed), source));
  if (isInside(cwd)) return cwd;
  // Up from a link the system goes elsewhere than its name says.
  const up = /^(?:\.\.(?:\/|$))*/.exec(normalize(typed))?.[0] ?? "";
  const isSamePlace = (named: string) => isSame(resolve(named, up), resolve(cwd, up));
  if (pwd !== undefined && isInside(pwd) && (await isSamePlace(pwd))) return pwd;
  const path = resolve(cwd, typed);
  const isHere = await lstat(path).then(
    () => true,
    () => false,
  );
  if (isHere) throw outside(path, mirrors);
  return cwd;
}

function isSame(directory: string, real: string): Promise<boolean> {
  return realpath(directory).then(
    (path) => path === real,
    () => false,
  );
}

async function isKnown(place: KnownPlace, journal: DocumentReader | undefined): Promise<boolean> {
  const { mirrorId, path } = place;
  if (!journal || mirrorId === null) return false;
  for await (const _ of journal.list({ path: { mirrorId, path } })) return true;
  return (await journal.forgotten(mirrorId, path)).length > 0;
}

/**
 * A name may hold `\x41` itself, so what was typed goes before what it may stand for: bytes that
 * are no text, or control characters of a name that is.
 */
function spellings(mirror: Mirror, path: string): MirrorPath[] {
  const bytes = unescaped(path, (code) => Buffer.of(code));
  const characters = unescaped(path, (code) => Buffer.from(String.fromCharCode(code)));
  const paths = new Set([rawOfText(path), bytes, characters]);
  return [...paths].map((path) => ({ mirror, path }));
}

/** The path with `\xHH` as `byte` makes it and `\uHHHH` as a character, as `shown` writes them. */
function unescaped(path: string, byte: (code: number) => Buffer): RawPath {
  const pieces = path.split(/(\\x[0-9a-f]{2}|\\u[0-9a-f]{4})/i).map((piece) => {
    const code = Number.parseInt(piece.slice(2), 16);
    if (/^\\x/i.test(piece)) return byte(code);
    return Buffer.from(/^\\u/i.test(piece) ? String.fromCharCode(code) : piece);
  });
  return rawOf(Buffer.concat(pieces));
}

function isAtOrBelow(path: string, top: string): boolean {
  return path === top || top === "/" || path.startsWith(`${top}/`);
}

function below(path: string, top: string): string {
  return path.slice(top.length).replace(/^\//, "");
}
