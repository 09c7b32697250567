import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { type CheckResult, fail, ok } from "./check-result.ts";

/** Are the commands of the hooks, and those that tell people, there, and can they be run? None of them is. */
export function* examinePrograms(
  { mirrors, notify }: Pick<Config, "mirrors" | "notify">,
  path: string,
): Generator<CheckResult> {
  for (const { name, hooks } of mirrors) {
    for (const kind of ["before", "after"] as const) {
      const [program] = hooks?.[kind]?.command ?? [];
      if (program !== undefined) yield findingOf(`mirror ${name}: ${kind} hook`, program, path);
    }
  }
  for (const channel of notify?.channels ?? []) {
    const [program] = channel.by === "command" ? channel.run : [];
    if (program !== undefined) yield findingOf(`notify ${channel.name}:`, program, path);
  }
}

function findingOf(what: string, program: string, path: string): CheckResult {
  const places = program.includes("/")
    ? [program]
    : path
        .split(":")
        .filter((folder) => folder !== "")
        .map((folder) => join(folder, program));
  const problems = places.map(problemWith);
  const found = problems.indexOf(undefined);
  if (found >= 0) return ok(`${what} ${places[found]} is executable`);
  const told = problems.find((problem) => problem !== NOT_THERE) ?? NOT_THERE;
  const fix =
    told === NOT_THERE
      ? "Write its full path, or install it."
      : "Run chmod +x, or name another program.";
  return fail(`${what} ${program} ${told}`, fix);
}

const NOT_THERE = "is not there";

/** Why it cannot be run; undefined when it can. */
function problemWith(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return "is no file";
  } catch {
    return NOT_THERE;
  }
  try {
    accessSync(path, constants.X_OK);
    return undefined;
  } catch {
    return "is not executable for this user";
  }
}
