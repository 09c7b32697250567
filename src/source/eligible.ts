import picomatch from "picomatch";
import {
  dirOf,
  joinRaw,
  nameOf,
  partsOf,
  rawOfText,
  type RawPath,
  ROOT,
  shown,
} from "../std/raw-path.ts";
import { type CompanionUse, documentOfCompanion } from "./companions.ts";
import { globs, isHidden, nameText, plainGlobs, reachInto } from "./globs.ts";
import { IGNORED, type Ignored } from "./ignored.ts";
import type { SourceSettings } from "./source.ts";

/** What of a source is mirrored, by name alone; both take the path relative to the source. */
export type Eligibility = {
  /** True when the file is mirrored: itself and every directory on the way. */
  readonly file: (path: RawPath) => boolean;
  /** True when the directory is entered. */
  readonly directory: (path: RawPath) => boolean;
};

/**
 * The rules of a mirror: the built-in list, the directories that are left out, the globs.
 *
 * Globs of `include` match a leading dot only where they write it, as in a shell, so that hidden files
 * and directories stay out; those of `exclude` match it like any other character. A directory is left
 * out whole by a glob of `exclude` that ends in `/**`, and a hidden one that no glob of `include`
 * reaches into; else globs are about files.
 */
export function eligibility(settings: SourceSettings): Eligibility {
  const includes = plainGlobs(settings.include);
  const reaches = reachInto(settings.include);
  const excludes = globs(settings.exclude);
  const excludesBelow = globs(settings.exclude.filter((glob) => glob.endsWith("/**")));
  const use = companionUse(settings);
  const without = new Set(settings.without.map((dir) => rawOfText(dir.replace(/\/+$/, ""))));

  const enters = (dir: RawPath): boolean =>
    !isIgnored(nameOf(dir), "directory") && !without.has(dir) && !excludesBelow(dir);
  const directory = (path: RawPath): boolean => {
    let at = ROOT;
    for (const part of partsOf(path)) {
      at = joinRaw(at, part);
      if (!enters(at)) return false;
    }
    return !isHidden(path) || reaches(path);
  };

  // A listing asks for one file after another of the same directory.
  let last: { dir: RawPath; entered: boolean } = { dir: ROOT, entered: directory(ROOT) };
  const file = (path: RawPath): boolean => {
    const dir = dirOf(path);
    if (dir !== last.dir) last = { dir, entered: directory(dir) };
    if (!last.entered || isIgnored(nameOf(path), "file")) return false;
    return includes(path) && !excludes(path) && documentOfCompanion(path, use) === undefined;
  };
  return { file, directory };
}

/** Which files of the mirror stand next to others. */
export function companionUse({ sidecar = "none", ready }: SourceSettings): CompanionUse {
  return { sidecars: sidecar !== "none", markers: ready === "marker" };
}

/** True when the built-in list leaves out this name; for a name of unknown kind, as a file's. */
export function isIgnored(name: RawPath, of: "file" | "directory"): boolean {
  const text = nameText(name);
  const lower = text.toLowerCase();
  const { names, endings, dotted, others } = IGNORED_NAMES[of];
  if (names.has(lower) || endings.has(lower.slice(lower.lastIndexOf(".")))) return true;
  return others.test(text) || (text.startsWith(".") && dotted.test(text));
}

/** A million names are compared with the list: what is a name, or an ending, is looked up. */
function compiled(of: "file" | "directory") {
  const asked = IGNORED.filter((ignored) => (ignored.of ?? of) === of);
  const patterns = asked.map(({ pattern }) => pattern);
  const names = patterns.filter((pattern) => !SPECIAL.test(pattern));
  const endings = patterns.filter((pattern) => /^\*\.[^.]+$/.test(pattern) && isPlain(pattern));
  const rest = patterns.filter((each) => !names.includes(each) && !endings.includes(each));
  const isDotted = (pattern: string) => pattern.startsWith(".");
  return {
    names: new Set(names.map((name) => name.toLowerCase())),
    endings: new Set(endings.map((ending) => ending.slice(1).toLowerCase())),
    dotted: expressionOf(rest.filter(isDotted)),
    others: expressionOf(rest.filter((pattern) => !isDotted(pattern))),
  };
}

const SPECIAL = /[*?[\]{}()|\\]/;

function isPlain(pattern: string): boolean {
  return !SPECIAL.test(pattern.slice(1));
}

function expressionOf(patterns: readonly string[]): RegExp {
  const sources = patterns.map(
    (pattern) => picomatch.makeRe(pattern, { dot: true, nocase: true }).source,
  );
  return new RegExp(sources.join("|"), "is");
}

const IGNORED_NAMES = { file: compiled("file"), directory: compiled("directory") };

/** Why the rules of a mirror leave a file out, by its path alone; undefined when they do not. */
export function whyLeftOut(settings: SourceSettings, path: RawPath): string | undefined {
  if (eligibility(settings).file(path)) return undefined;
  const parts = partsOf(path);
  for (const [index, name] of parts.entries()) {
    const ignored = ignoredBy(name, index === parts.length - 1 ? "file" : "directory");
    if (ignored) {
      return `${shown(name)} is on the built-in list (${ignored.pattern}): ${ignored.because}`;
    }
  }
  const document = documentOfCompanion(path, companionUse(settings));
  if (document !== undefined)
    return `it belongs to ${shown(document)}, and if it was read is moved or deleted with it`;
  // Taken whole but for what is asked about, hidden or not.
  const plain = { ...settings, include: ["**/*", "**/.*", "**/.*/**"], exclude: [], without: [] };
  let dir = ROOT;
  for (const name of parts) {
    dir = joinRaw(dir, name);
    if (settings.without.includes(shown(dir))) {
      return `${shown(dir)} is where finished files are moved (after)`;
    }
  }
  const excluding = settings.exclude.find(
    (glob) => !eligibility({ ...plain, exclude: [glob] }).file(path),
  );
  if (excluding !== undefined) return `exclude has ${JSON.stringify(excluding)}`;
  const hidden = parts.find((name) => name.startsWith("."));
  const named = settings.include.map((glob) => JSON.stringify(glob)).join(", ");
  return hidden === undefined
    ? `no pattern of include matches: ${named}`
    : `${shown(hidden)} is hidden, and no pattern of include that matches has the dot: ${named}`;
}

function ignoredBy(name: RawPath, of: "file" | "directory"): Ignored | undefined {
  const text = nameText(name);
  return IGNORED.find(
    (ignored) =>
      (ignored.of ?? of) === of &&
      picomatch.makeRe(ignored.pattern, { dot: true, nocase: true }).test(text),
  );
}
