/**
 * Completes package-lock.json with the optional packages of other platforms.
 *
 * npm leaves out of the lockfile what its package source does not carry, and `npm ci` then refuses
 * that very lockfile. For every `optionalDependencies` entry of a locked package that the lockfile
 * lacks, this adds `{version, optional, dev?, os, cpu}`, with os and cpu read from the name. Such an
 * entry has no `integrity`: it is a digest of the package, and only a source that carries it can tell.
 * Run it after every change of dependencies: `npm run complete-lockfile`.
 */
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

const OS = [
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
];
const CPU = [
  "arm64",
  "arm",
  "ia32",
  "loong64",
  "mips64el",
  "ppc64",
  "ppc64le",
  "riscv64",
  "s390x",
  "x64",
  "wasm32",
];

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, Locked> };

let added = 0;
for (const locked of Object.values(lock.packages)) {
  // Where a package was fetched from says nothing about the project; its integrity does.
  delete locked.resolved;
  for (const [name, version] of Object.entries(locked.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] || !/^\d/.test(version)) continue;
    const words = name
      .split(/[-/]/)
      .map((word) => (word === "win32" || word === "windows" ? "win32" : word));
    const entry: Locked = { version, optional: true };
    if (locked.dev) entry.dev = true;
    const os = OS.filter((word) => words.includes(word) || words.includes(`${word}musl`));
    const cpu = CPU.filter((word) => words.includes(word));
    if (os.length > 0) entry.os = os;
    if (cpu.length > 0) entry.cpu = cpu;
    lock.packages[key] = entry;
    added++;
  }
}

lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
const bare = Object.entries(lock.packages).filter(([path, { integrity }]) => path && !integrity);
console.log(`${added} optional packages of other platforms added`);
console.log(
  `${bare.length} without an integrity, as no package source was asked that carries them`,
);
