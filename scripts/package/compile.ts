import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./packages.ts";

/** Builds src into a directory of its own, which holds nothing that an earlier build left. */
export function compile(to: string): void {
  const words = [join(ROOT, "scripts/build.ts"), to];
  execFileSync(process.execPath, words, { cwd: ROOT, stdio: "inherit" });
}
