/**
 * The globs of a mirror over paths relative to its source, compared without regard to case and Unicode
 * composition. A name that is not UTF-8 is compared as if it were Latin-1, which it commonly is.
 */
import picomatch from "picomatch";
import { partsOf, type RawPath, textOf } from "../std/raw-path.ts";

/** True when a path, or a directory, is meant. */
export type Matcher = (path: RawPath) => boolean;

/** "s": a newline in a name is a character like any other. */
const OPTIONS = { nocase: true, flags: "is" };

/** Matches whatever one of the globs matches, a leading dot like any other character. */
export function globs(patterns: readonly string[]): Matcher {
  return matcherOf(patterns, true);
}

/** The same, a leading dot only where a glob writes it, as in a shell: hidden names stay out. */
export function plainGlobs(patterns: readonly string[]): Matcher {
  const all = globs(patterns);
  const dotted = matcherOf(patterns.filter(namesDot), false);
  return (path) => (isHidden(path) ? dotted(path) : all(path));
}

function matcherOf(patterns: readonly string[], dot: boolean): Matcher {
  if (patterns.length === 0) return () => false;
  if (dot && patterns.some((pattern) => pattern === "**" || pattern === "**/*")) return () => true;
  const matches = picomatch(
    patterns.map((pattern) => pattern.normalize("NFC")),
    { ...OPTIONS, dot },
  );
  return (path) => matches(pathText(path));
}

/** A dot that begins a name, in a group too: `{.a,b}`. What `!(x)` leaves open is no such dot. */
function namesDot(pattern: string): boolean {
  return /(?:^|[/{,(|[!\\])\./.test(pattern);
}

/** True when a name on the way has a leading dot. */
export function isHidden(path: RawPath): boolean {
  return path.startsWith(".") || path.includes("/.");
}

/**
 * Whether anything below a hidden directory can match one of the globs, so that it has to be entered. Where
 * that cannot be told, it is entered.
 */
export function reachInto(patterns: readonly string[]): Matcher {
  const reaches = patterns.filter(namesDot).map(reachOf);
  return (dir) => reaches.some((reach) => reach(partsOf(dir)));
}

type Reach = (parts: readonly RawPath[]) => boolean;

function reachOf(pattern: string): Reach {
  const segments = pattern.normalize("NFC").split("/");
  // A group over several names, `{a/b,c}`.
  if (!segments.every(isClosed)) return () => true;
  const matchers = segments.map((segment) =>
    segment === "**" ? null : picomatch(segment, { ...OPTIONS, dot: false }),
  );
  return (parts) => {
    // Which segments the next name may be compared with; `**` stands for any number of names, or none.
    let at = withNone(new Set([0]), matchers);
    for (const part of parts) {
      const next = new Set<number>();
      for (const index of at) {
        const matches = matchers[index];
        if (matches === null && !part.startsWith(".")) next.add(index);
        else if (matches?.(nameText(part))) next.add(index + 1);
      }
      at = withNone(next, matchers);
    }
    return [...at].some((index) => index < matchers.length);
  };
}

function withNone(at: Set<number>, matchers: readonly unknown[]): Set<number> {
  // Grows while it is gone through.
  for (const index of at) if (matchers[index] === null) at.add(index + 1);
  return at;
}

/** True when every bracket of it closes in it. */
function isClosed(segment: string): boolean {
  const bare = segment.replace(/\\./gs, "");
  const count = (each: RegExp) => bare.match(each)?.length ?? 0;
  return (
    count(/\{/g) === count(/\}/g) && count(/\(/g) === count(/\)/g) && count(/\[/g) === count(/\]/g)
  );
}

/** Part by part: one name in an old encoding must not garble the names around it. */
function pathText(path: RawPath): string {
  if (isAscii(path)) return path;
  return partsOf(path).map(nameText).join("/");
}

/** A name as it is compared. */
export function nameText(name: RawPath): string {
  if (isAscii(name)) return name;
  return (textOf(name) ?? name).normalize("NFC");
}

function isAscii(path: RawPath): boolean {
  return !/[\x80-\xff]/.test(path);
}
