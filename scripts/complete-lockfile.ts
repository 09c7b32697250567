/**
 * Completes package-lock.json with the optional packages of other platforms.
 *
 * npm leaves out of the lockfile what it did not install, and `npm ci` then refuses that very lockfile. For every
 * `optionalDependencies` entry of a locked package that the lockfile lacks, this adds what the registry says of it:
 * version, integrity, and the systems that it is for. Run it after every change of dependencies:
 * `npm run complete-lockfile`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

type Locked = {
  version?: string;
  resolved?: string;
  integrity?: string;
  optional?: boolean;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
};

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, Locked> };

type Said = { "dist.integrity"?: string } & Pick<Locked, "os" | "cpu" | "libc">;

/** What the registry says of a package's version. */
function said(name: string, version: string): Said {
  const fields = ["dist.integrity", "os", "cpu", "libc"];
  const words = ["view", `${name}@${version}`, ...fields, "--json"];
  const told = JSON.parse(execFileSync("npm", words, { encoding: "utf8" })) as Said | string;
  return typeof told === "string" ? { "dist.integrity": told } : told;
}

function completed(name: string, locked: Locked): Locked {
  const { version = "", dev } = locked;
  const { "dist.integrity": integrity, os, cpu, libc } = said(name, version);
  if (integrity === undefined)
    throw new Error(`the registry has no integrity of ${name}@${version}`);
  return {
    version,
    integrity,
    ...(cpu ? { cpu } : {}),
    ...(dev ? { dev } : {}),
    ...(libc ? { libc } : {}),
    optional: true,
    ...(os ? { os } : {}),
  };
}

const { packages } = lock;
let added = 0;
for (const locked of Object.values(packages)) {
  // Where a package was fetched from says nothing about the project; its integrity does.
  delete locked.resolved;
  for (const [name, version] of Object.entries(locked.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    const there = packages[key];
    if (there?.integrity !== undefined || !/^\d/.test(version)) continue;
    const { dev } = there ?? locked;
    packages[key] = completed(name, {
      version: there?.version ?? version,
      ...(dev ? { dev } : {}),
    });
    added++;
  }
}

lock.packages = Object.fromEntries(
  Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} optional packages of other platforms completed`);
