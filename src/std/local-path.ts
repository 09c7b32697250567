/** Which local folder lies in which; nothing is looked up. */
import { isAbsolute, relative, sep } from "node:path";

/** The way from `folder` down to `path`: empty when they are the same, undefined when not below. */
export function wayDown(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) return undefined;
  return way.split(sep).join("/");
}

/** True when `path` is `folder` itself or lies below it. */
export function isWithin(folder: string, path: string): boolean {
  return wayDown(folder, path) !== undefined;
}
