/** The archive folder of a document: the tree as it is, or what a template says. */
import { type Target, targetPathOf } from "../domain/naming.ts";
import { dirOf, type RawPath, ROOT } from "../std/raw-path.ts";
import { Hold } from "./rules.ts";
import { render, type PlaceholderValues } from "./values.ts";
import type { Template } from "./template.ts";

/** Longer paths are nobody's intention. */
const FOLDER_MAX = 4_096;

/**
 * The folder that the template of a target always stays in: its text before the first placeholder,
 * up to the last slash; `/` the root.
 */
export function baseOf({ pieces }: Template): string {
  const [first] = pieces;
  const text = first && "text" in first ? first.text : "/";
  const whole = pieces.length === 1 ? text : text.slice(0, text.lastIndexOf("/") + 1);
  return whole.replace(/\/+$/, "") || "/";
}

/**
 * The archive folder path. A value of the path may hold slashes and so lead several folders down;
 * nothing leads up, or next to the template's own base. Throws `Hold` (TARGET_UNKNOWN) where it would,
 * or where the template needs a value that is not there.
 */
export function folderOf(
  template: Template | undefined,
  target: Target,
  path: RawPath,
  values: PlaceholderValues,
): string {
  if (!template) return targetPathOf(target, dirOf(path));
  const rendered = render(template, values, ["dir"]);
  if ("missing" in rendered) {
    const message = `the folder ${template.source} needs ${rendered.missing}, which has no value here`;
    throw new Hold("TARGET_UNKNOWN", message);
  }
  const folder = pathIn(rendered.text);
  if (isFit(folder, [baseOf(template)])) return folder;
  const message = `the folder ${template.source} would be ${JSON.stringify(folder)}`;
  throw new Hold("TARGET_UNKNOWN", message);
}

/**
 * The folder that a hook names, as the archive folder path of a mirror is written: `/Scans/2026`,
 * or `#17/2026` below the folder with id 17. It lies where the mirror's own folder does; throws `Hold`
 * (HOOK_FAILED) for any other.
 */
export function folderSaid(said: string, template: Template | undefined, target: Target): string {
  const below = targetPathOf(target, ROOT);
  const folder = pathIn(said);
  const isPath = /^[/#]/.test(said);
  if (isPath && isFit(folder, template ? [below, baseOf(template)] : [below])) return folder;
  const message = `the before hook names the folder ${JSON.stringify(folder.slice(0, 200))}`;
  throw new Hold("HOOK_FAILED", `${message}, which is not within ${below}`);
}

/** One slash before each name; an id may come first instead. */
function pathIn(text: string): string {
  const normal = text.normalize("NFC");
  const names = normal.split("/").filter((name) => name !== "");
  return `${normal.startsWith("#") ? "" : "/"}${names.join("/")}`;
}

/** At or below one of the bases, and on no way that leads up. */
function isFit(folder: string, bases: readonly string[]): boolean {
  const names = folder.split("/").slice(1);
  const isOdd = names.some((name) => name === "." || name === ".." || name.trim() === "");
  if ((isOdd && folder !== "/") || /\p{Cc}/u.test(folder) || folder.length > FOLDER_MAX)
    return false;
  return bases.some((base) =>
    base === "/" ? folder.startsWith("/") : folder === base || folder.startsWith(`${base}/`),
  );
}
