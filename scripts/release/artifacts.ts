/** Everything that a release consists of, made into one directory, the same each time. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
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
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bashCompletion } from "../bash-completion.ts";
import { manPage } from "../man-page.ts";
import { compile } from "../package/compile.ts";
import { commitTime } from "../package/commit-time.ts";
import { buildDeb } from "../package/deb.ts";
import { ARCHITECTURES } from "../package/node-runtime.ts";
import { manifest, ROOT } from "../package/packages.ts";
import { billOfMaterials } from "./bill-of-materials.ts";

const SUMS = "SHA256SUMS";

/** Makes them all in `to`, which must not hold anything else; the Debian packages take minutes. */
export function makeArtifacts(to: string): void {
  const { version } = manifest();
  mkdirSync(to, { recursive: true });
  npmPackage(to);
  sourceArchive(to, version);
  for (const architecture of ARCHITECTURES) buildDeb(architecture, version, to);
  writeFileSync(join(to, `scanferry-${version}.cdx.json`), billOfMaterials(commitTime()));
  writeFileSync(join(to, SUMS), checksums(to));
}

/** Lines as `sha256sum --check` reads them, of everything in the directory. */
export function checksums(directory: string): string {
  const names = readdirSync(directory).filter((name) => name !== SUMS);
  return names
    .sort()
    .map((name) => `${digestOf(join(directory, name))}  ${name}\n`)
    .join("");
}

/**
 * The package for npm, from a tree of its own: what an earlier build left in dist would go along. Returns
 * the paths that it holds.
 */
export function npmPackage(to: string): string[] {
  const stage = mkdtempSync(join(tmpdir(), "scanferry-npm-"));
  try {
    const { files } = manifest();
    const beside = ["package.json", "README.md", "LICENSE"];
    const made = ["dist", "share"];
    for (const name of [...files.filter((name) => !made.includes(name)), ...beside]) {
      cpSync(join(ROOT, name), join(stage, name), { recursive: true });
    }
    compile(join(stage, "dist"));
    mkdirSync(join(stage, "share"), { recursive: true });
    writeFileSync(join(stage, "share/scanferry.1"), manPage(manifest().version, commitTime()));
    writeFileSync(join(stage, "share/scanferry.bash"), bashCompletion());
    setModes(stage);
    const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", to];
    const printed = execFileSync("npm", words, {
      cwd: stage,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const packed = JSON.parse(printed) as unknown;
    return pathsIn(packed);
  } finally {
    rmSync(stage, { recursive: true });
  }
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

/** npm 11 prints a list; later ones a list by name. */
function pathsIn(printed: unknown): string[] {
  const [first] = Object.values(printed as Record<string, { files: { path: string }[] }>);
  return (first?.files ?? []).map(({ path }) => path);
}

function sourceArchive(to: string, version: string): void {
  const prefix = `--prefix=scanferry-${version}/`;
  const tar = execFileSync("git", ["archive", "--format=tar", prefix, "HEAD"], {
    cwd: ROOT,
    maxBuffer: 1 << 28,
  });
  writeFileSync(join(to, `scanferry-${version}-source.tar.gz`), gzipSync(tar, { level: 9 }));
}

function digestOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
