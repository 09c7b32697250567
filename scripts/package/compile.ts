import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./packages.ts";

/** Compiles src into a directory of its own, which holds nothing that an earlier build left. */
export function compile(to: string): void {
  const words = ["-p", join(ROOT, "tsconfig.build.json"), "--outDir", to];
  execFileSync(join(ROOT, "node_modules/.bin/tsc"), words, { cwd: ROOT, stdio: "inherit" });
}
