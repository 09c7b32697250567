/** Everything that a release consists of, made into one directory, the same each time. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { commitTime } from "../package/commit-time.ts";
import { buildDeb } from "../package/deb.ts";
import { ARCHITECTURES } from "../package/node-runtime.ts";
import { npmPackage } from "../package/npm.ts";
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
