import { existsSync, realpathSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { shellWord } from "../std/shell-word.ts";

/** Next to `src` or `dist`, as the package ships it; an image has it elsewhere. */
const OWN = fileURLToPath(new URL("../../bin/scanferry", import.meta.url));

/**
 * What the user types for this program where `cwd` is: `scanferry` where the `PATH` leads to it, else a path that works.
 *
 * @param own the program that this process was started by
 */
export function typedName(env: NodeJS.ProcessEnv, cwd: string, own = OWN): string {
  if (!existsSync(own)) return "scanferry";
  const places = (env["PATH"] ?? "").split(delimiter).filter((place) => place !== "");
  const first = places.map((place) => join(place, "scanferry")).find((path) => existsSync(path));
  if (first !== undefined && realpathSync(first) === realpathSync(own)) return "scanferry";
  const near = relative(cwd, own);
  if (near.startsWith("..")) return shellWord(own);
  return shellWord(near.includes("/") ? near : `./${near}`);
}
