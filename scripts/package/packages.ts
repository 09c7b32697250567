/** What goes into a release next to scanferry itself: the packages that package-lock.json pins for running. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's directory. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export type Package = {
  readonly name: string;
  readonly version: string;
  /** As SPDX names it. */
  readonly licence: string;
  /** Below the project: `node_modules/...`. */
  readonly path: string;
};

type Lock = {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version: string;
        readonly license?: string;
        readonly dev?: boolean;
        readonly optional?: boolean;
        readonly hasInstallScript?: boolean;
      }
    >
  >;
};

/** What package.json says, as far as it is needed here. */
export type Manifest = {
  readonly version: string;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

export function manifest(): Manifest {
  return JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
}

/** Every package that runs, by path. Optional ones are left out: nothing here needs them. */
export function productionPackages(): Package[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as Lock;
  return Object.entries(packages)
    .filter(([path, { dev, optional }]) => path !== "" && dev !== true && optional !== true)
    .map(([path, { version, license }]) => ({
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version,
      licence: license ?? "UNKNOWN",
      path,
    }));
}

/** Copies every package that runs below `to`, without what is never run; `arch` as Node names it, `*` for every one. */
export function layPackages(to: string, arch: string): void {
  for (const { path } of productionPackages()) {
    const nested = join(ROOT, path, "node_modules");
    cpSync(join(ROOT, path), join(to, path), {
      recursive: true,
      // What lies below it comes on its own, if it is to come.
      filter: (from) => from !== nested,
    });
  }
  execFileSync(join(ROOT, "scripts/slim-modules"), [join(to, "node_modules"), arch]);
}

/** The text of its licence; undefined where the package carries none. */
export function licenceText({ path }: Package): string | undefined {
  const directory = join(ROOT, path);
  if (!existsSync(directory)) throw new Error(`${path} is not installed: npm ci`);
  const file = readdirSync(directory).find((name) => /^(licen[cs]e|copying)/i.test(name));
  return file === undefined ? undefined : readFileSync(join(directory, file), "utf8").trim();
}
