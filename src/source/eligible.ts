import picomatch from "picomatch";
import { isOwn } from "../domain/division.ts";
import {
  dirOf,
  joinRaw,
  nameOf,
  partsOf,
  type RawPath,
  ROOT,
  rawOfText,
  textOf,
} from "../std/raw-path.ts";
import { type BesideUse, documentBeside } from "./beside.ts";
import { IGNORED, type Ignored } from "./ignored.ts";
import type { SourceSettings } from "./source.ts";

/** What of a source is mirrored, by name alone; both take the path relative to the source. */
export type Eligibility = {
  /** True when the file is mirrored: itself and every directory on the way. */
  readonly file: (path: RawPath) => boolean;
  /** True when the directory is entered. */
  readonly directory: (path: RawPath) => boolean;
  /** True when files are looked for in it: every directory that is entered, but for the source of a division. */
  readonly listed: (dir: RawPath) => boolean;
};

/**
 * The rules of a mirror: the built-in list, the directories that are left out, the globs.
 *
 * Globs are compared without regard to case and Unicode composition, and take names with a leading
 * dot like any other. A name that is not UTF-8 is compared as if it were Latin-1, which it
 * commonly is. A directory is left out whole by a glob of `exclude` that ends in `/**`; other
 * globs are about files.
 */
export function eligibility(settings: SourceSettings): Eligibility {
  const includes = globs(settings.include);
  const excludes = globs(settings.exclude);
  const excludesBelow = globs(settings.exclude.filter((glob) => glob.endsWith("/**")));
  const use = besideUse(settings);
  const without = new Set(settings.without.map((dir) => rawOfText(dir.replace(/\/+$/, ""))));

  const enters = (dir: RawPath): boolean =>
    !isIgnored(nameOf(dir), "directory") && !without.has(dir) && !excludesBelow(dir);
  // Every top directory is of one part with all that is below it; the source itself is entered for them.
  const directory = (path: RawPath): boolean => {
    if (path !== ROOT && !isOwn(settings.division, path)) return false;
    let at = ROOT;
    for (const part of partsOf(path)) {
      at = joinRaw(at, part);
      if (!enters(at)) return false;
    }
    return true;
  };

  const listed = (dir: RawPath) => directory(dir) && isOwn(settings.division, dir);
  // A listing asks for one file after another of the same directory.
  let last: { dir: RawPath; entered: boolean } = { dir: ROOT, entered: listed(ROOT) };
  const file = (path: RawPath): boolean => {
    const dir = dirOf(path);
    if (dir !== last.dir) last = { dir, entered: listed(dir) };
    if (!last.entered || isIgnored(nameOf(path), "file")) return false;
    return includes(path) && !excludes(path) && documentBeside(path, use) === undefined;
  };
  return { file, directory, listed };
}

/** Which files of the mirror stand beside others. */
export function besideUse({ sidecar = "none", ready }: SourceSettings): BesideUse {
  return { sidecars: sidecar !== "none", markers: ready === "marker" };
}

/** True when the built-in list leaves out this name; for a name of unknown kind, as a file's. */
export function isIgnored(name: RawPath, of: "file" | "directory"): boolean {
  return IGNORED_NAMES[of].test(asText(name));
}

type Matcher = (path: RawPath) => boolean;

function globs(patterns: readonly string[]): Matcher {
  if (patterns.length === 0) return () => false;
  if (patterns.some((pattern) => pattern === "**" || pattern === "**/*")) return () => true;
  const matches = picomatch(
    patterns.map((pattern) => pattern.normalize("NFC")),
    // "s": a newline in a name is a character like any other.
    { dot: true, nocase: true, flags: "is" },
  );
  return (path) => matches(pathText(path));
}

/** Part by part: one name in an old encoding must not garble the names around it. */
function pathText(path: RawPath): string {
  if (!/[\x80-\xff]/.test(path)) return path;
  return partsOf(path).map(asText).join("/");
}

function asText(name: RawPath): string {
  return (textOf(name) ?? name).normalize("NFC");
}

/** One expression for the whole list: a million names are compared with it. */
function expressionOf(ignored: readonly Ignored[]): RegExp {
  const sources = ignored.map(
    ({ pattern }) => picomatch.makeRe(pattern, { dot: true, nocase: true }).source,
  );
  return new RegExp(sources.join("|"), "is");
}

const IGNORED_NAMES = {
  file: expressionOf(IGNORED.filter(({ of }) => of !== "directory")),
  directory: expressionOf(IGNORED.filter(({ of }) => of !== "file")),
};
