/**
 * Makes the package for npm: `npm run package [-- --to DIR]`; `npm install --global FILE` installs it.
 *
 * It holds the program as it is built, and the packages that run, for Linux on x64 and arm64 (glibc and musl): anyone who
 * installs it needs Node and no registry, and nothing is built or fetched. Two builds of one commit are the same.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bashCompletion } from "../bash-completion.ts";
import { manPage } from "../man-page.ts";
import { commitTime } from "./commit-time.ts";
import { compile } from "./compile.ts";
import { layPackages, manifest, ROOT } from "./packages.ts";

/** Makes it in `to`, from a tree of its own: what an earlier build left in dist would go along. Returns the file's name. */
export function npmPackage(to: string): string {
  const stage = mkdtempSync(join(tmpdir(), "scanferry-npm-"));
  try {
    const { files, version } = manifest();
    const made = ["dist", "share"];
    for (const name of [...files.filter((each) => !made.includes(each)), "README.md", "LICENSE"]) {
      cpSync(join(ROOT, name), join(stage, name), { recursive: true });
    }
    compile(join(stage, "dist"));
    mkdirSync(join(stage, "share"), { recursive: true });
    writeFileSync(join(stage, "share/scanferry.1"), manPage(version, commitTime()));
    writeFileSync(join(stage, "share/scanferry.bash"), bashCompletion());
    layPackages(stage, "*");
    writeFileSync(join(stage, "package.json"), manifestText());
    setModes(stage);
    mkdirSync(to, { recursive: true });
    const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", to];
    execFileSync("npm", words, { cwd: stage, stdio: "ignore" });
    return `scanferry-${version}.tgz`;
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/** All packages go along, and nobody builds. */
function manifestText(): string {
  const text = readFileSync(join(ROOT, "package.json"), "utf8");
  const { scripts: _s, devDependencies: _d, allowScripts: _a, ...rest } = JSON.parse(text);
  return `${JSON.stringify({ ...rest, bundleDependencies: true }, null, 2)}\n`;
}

/** The same whatever the umask is, and was when the tree was cloned. */
function setModes(stage: string): void {
  for (const name of readdirSync(stage, { recursive: true, encoding: "utf8" })) {
    const path = join(stage, name);
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) continue;
    const isStarted = stat.isDirectory() || (stat.mode & 0o100) !== 0;
    chmodSync(path, isStarted ? 0o755 : 0o644);
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { to: { type: "string", default: join(ROOT, "release") } },
  });
  const to = resolve(values.to);
  console.log(join(to, npmPackage(to)));
}
