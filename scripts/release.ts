/**
 * Makes a release, or says what is in the way: `npm run release [-- --to DIR] [--look]`.
 *
 * Refused while the changelog has no dated section for the version, the tree is not as committed, a
 * check or a test fails, or two builds differ. `--look` only says what is in the way by now.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { manifest, ROOT } from "./package/packages.ts";
import { checksums, makeArtifacts } from "./release/artifacts.ts";
import { obstacles } from "./release/obstacles.ts";

/** What must end with 0, in the order of how soon it tells. */
const CHECKS = ["check", "test"] as const;

const { values } = parseArgs({
  options: {
    to: { type: "string", default: join(ROOT, "release") },
    look: { type: "boolean", default: false },
  },
});

function refuse(lines: readonly string[]): never {
  for (const line of lines) console.error(`not released: ${line}`);
  process.exit(1);
}

const found = obstacles(ROOT);
if (found.length > 0) refuse(found);
if (values.look) process.exit(0);
for (const check of CHECKS) {
  try {
    execFileSync("npm", ["run", "--silent", check], { cwd: ROOT, stdio: "inherit" });
  } catch {
    refuse([`npm run ${check} fails`]);
  }
}
const work = mkdtempSync(join(tmpdir(), "scanferry-release-"));
try {
  const builds = [join(work, "1"), join(work, "2")] as const;
  for (const build of builds) makeArtifacts(build);
  const [first, second] = builds.map(checksums);
  if (first !== second) refuse([`two builds differ:\n${first}${second}`]);
  // A check, or a person, may have changed something meanwhile.
  const late = obstacles(ROOT);
  if (late.length > 0) refuse(late);
  const to = join(resolve(values.to), manifest().version);
  rmSync(to, { recursive: true, force: true });
  cpSync(builds[0], to, { recursive: true });
  console.log(`${to}:\n${first}`);
} finally {
  rmSync(work, { recursive: true });
}
