import { execFileSync } from "node:child_process";

/**
 * Runs a script as a user without rights, to whom permissions apply; undefined where this process
 * has not the right to become one. The script is a module; `src` begins the paths of its imports,
 * and what it prints is the answer.
 */
export function asNobody(script: string, ...args: string[]): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const src = new URL("../../../src", import.meta.url).pathname;
  const drop = "process.setgroups([]); process.setgid(65534); process.setuid(65534);";
  const code = script.replaceAll('"src/', `"${src}/`);
  return execFileSync(
    process.execPath,
    ["--input-type=module", "-e", `${drop}\n${code}`, ...args],
    {
      encoding: "utf8",
    },
  ).trim();
}
