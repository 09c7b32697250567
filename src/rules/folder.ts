/** The archive folder of a document: the tree as it is, or what a template says. */
import { type Target, targetPathOf } from "../domain/naming.ts";
import { dirOf, type RawPath } from "../std/raw-path.ts";
import { Hold } from "./hold.ts";
import { render, type Values } from "./render.ts";
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
 * nothing leads up, or beside the template's own base.
 */
export function folderOf(
  template: Template | undefined,
  target: Target,
  path: RawPath,
  values: Values,
): string {
  if (!template) return targetPathOf(target, dirOf(path));
  const rendered = render(template, values, ["dir"]);
  if ("missing" in rendered) {
    const message = `the folder ${template.source} needs ${rendered.missing}, which has no value here`;
    throw new Hold("TARGET_UNKNOWN", message);
  }
  const names = rendered.text
    .normalize("NFC")
    .split("/")
    .filter((name) => name !== "");
  const folder = `/${names.join("/")}`;
  const unfit = names.find((name) => name === "." || name === ".." || name.trim() === "");
  const base = baseOf(template);
  const isBelow = folder === base || base === "/" || folder.startsWith(`${base}/`);
  if (unfit !== undefined || /\p{Cc}/u.test(folder) || folder.length > FOLDER_MAX || !isBelow) {
    throw new Hold(
      "TARGET_UNKNOWN",
      `the folder ${template.source} would be ${JSON.stringify(folder)}`,
    );
  }
  return folder;
}
