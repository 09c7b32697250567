/**
 * Makes a release, or says what is in the way: `npm run release [-- --to DIR] [--look]`.
 *
 * Refused while the changelog has no dated section for the version, the tree is not as committed, a
 * check or a test fails, or two builds differ. `--look` only says what is in the way by now.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { manifest, ROOT } from "./package/packages.ts";
import { makeArtifacts } from "./release/artifacts.ts";
import { obstacles } from "./release/obstacles.ts";
import { release } from "./release/release.ts";

const { values } = parseArgs({
  options: {
    to: { type: "string", default: join(ROOT, "release") },
    look: { type: "boolean", default: false },
  },
});

function passes(script: string): boolean {
  const words = ["run", "--silent", script];
  return spawnSync("npm", words, { cwd: ROOT, stdio: "inherit" }).status === 0;
}

const to = join(resolve(values.to), manifest().version);
const wrong = values.look
  ? obstacles(ROOT)
  : release({
      root: ROOT,
      to,
      checks: {
        "npm run check": () => passes("check"),
        "npm run test:all": () => passes("test:all"),
      },
      make: makeArtifacts,
    });
for (const line of wrong) console.error(`not released: ${line}`);
if (wrong.length > 0) process.exitCode = 1;
else if (!values.look) console.log(`${to}:\n${readFileSync(join(to, "SHA256SUMS"), "utf8")}`);
