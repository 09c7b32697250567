/**
 * Builds src into dist unless that was done since the sources were changed. Tests, campaigns and the bench start
 * the program and its readers as they are built, as users have them, which start in half the time.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const BUILT = join(ROOT, "dist/main.js");
const MADE_FROM = ["src", "package-lock.json", "scripts/build.ts"];

/** Called by vitest, too, before all tests. */
export default function build(): void {
  const sources = MADE_FROM.map((name) => changedAt(join(ROOT, name)));
  if (existsSync(BUILT) && statSync(BUILT).mtimeMs > Math.max(...sources)) return;
  execFileSync(process.execPath, [join(ROOT, "scripts/build.ts")], { stdio: "inherit" });
}

/** When a file, or anything in a directory, was changed last; epoch ms. */
function changedAt(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const below = readdirSync(path).map((name) => changedAt(join(path, name)));
  return Math.max(stats.mtimeMs, ...below);
}

if (import.meta.main) build();
