/**
 * Writes docs/licences.md from package-lock.json: whose work a release carries, under which licence.
 * Run it after a change of dependencies: `node scripts/licences.ts`.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { manifest, type Package, productionPackages } from "./package/packages.ts";

/** Licences that ask for no more than to be named; another one is looked at by a person first. */
export const KNOWN = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0"];

/** The whole text of docs/licences.md. */
export function licences(): string {
  const packages = productionPackages();
  return `# Licences

<!-- Written by scripts/licences.ts from package-lock.json. Change that, not this. -->

scanferry is under the MIT licence ([LICENSE](../LICENSE)). It runs on Node ${manifest().devDependencies["node"]} (MIT, and the licences of
what it is built from, in the LICENSE next to it) and these ${packages.length} packages, none of which runs a script
when it is installed. The Debian package has their texts in \`/usr/share/doc/scanferry/copyright\`, the
release a bill of materials (CycloneDX).

| licence | packages |
|---|---|
${[...Map.groupBy(packages, ({ licence }) => licence)].sort(byName).map(row).join("\n")}
`;
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function row([licence, packages]: [string, readonly Package[]]): string {
  const named = packages.map(({ name }) => name);
  return `| ${licence} | ${[...new Set(named)].sort().join(", ")} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/licences.md", import.meta.url), licences());
}
