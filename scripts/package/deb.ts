/**
 * Makes the Debian packages: `npm run package:deb [-- --architecture amd64] [--version V] [--to DIR]`.
 *
 * One a machine, each with its own Node and the packages that run, all of it below /usr/lib/scanferry.
 * Needs dpkg-deb, tar and gzip; nothing is compiled, since the one native part (the journal's library)
 * is built for both machines in its package. Two builds of one commit are the same, byte by byte.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { sealed, starterConfig } from "../../src/config/starter.ts";
import { bashCompletion } from "../bash-completion.ts";
import { manPage } from "../man-page.ts";
import { commitTime } from "./commit-time.ts";
import { compile } from "./compile.ts";
import { changelog, control, copyright } from "./debian-texts.ts";
import { ARCHITECTURES, type Architecture, nodeRuntime, RUNTIMES } from "./node-runtime.ts";
import { layPackages, manifest, productionPackages, ROOT } from "./packages.ts";

const DEBIAN = join(import.meta.dirname, "debian");
const LIB = "usr/lib/scanferry";
const DOC = "usr/share/doc/scanferry";
const UNITS = ["scanferry.service", "scanferry@.service"];

/** Builds one package below `to`; returns its path. */
export function buildDeb(architecture: Architecture, version: string, to: string): string {
  const stage = mkdtempSync(join(tmpdir(), "scanferry-deb-"));
  try {
    layApp(stage, architecture);
    layDocuments(stage, version);
    layService(stage);
    setModes(stage);
    layControl(stage, version, architecture);
    const at = commitTime();
    for (const path of pathsBelow(stage)) lutimesSync(path, at, at);
    mkdirSync(to, { recursive: true });
    const file = join(to, `scanferry_${version}_${architecture}.deb`);
    // One thread: how many there are would show in what xz writes.
    const words = ["--root-owner-group", "-Zxz", "-z3", "--threads-max=1", "--build", stage, file];
    const env = { ...process.env, SOURCE_DATE_EPOCH: `${at}` };
    execFileSync("dpkg-deb", words, { env, stdio: ["ignore", "ignore", "inherit"] });
    return file;
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/** The program, as `npm ci --omit=dev` leaves it, with its own Node. */
function layApp(stage: string, architecture: Architecture): void {
  const lib = join(stage, LIB);
  for (const name of ["bin", "assets", "samples", "package.json"]) {
    copy(join(ROOT, name), join(lib, name));
  }
  compile(join(lib, "dist"));
  layPackages(lib, RUNTIMES[architecture].arch);
  const node = nodeRuntime(architecture);
  copy(join(node, "bin/node"), join(lib, "node_modules/node/bin/node"));
  copy(join(node, "LICENSE"), join(lib, "node_modules/node/LICENSE"));
  mkdirSync(join(stage, "usr/bin"), { recursive: true });
  symlinkSync("../lib/scanferry/bin/scanferry", join(stage, "usr/bin/scanferry"));
}

/** What the pages link to goes with them: a link that leads nowhere is found when help is needed. */
const DOCUMENTS = [
  "README.md",
  "GOALS.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "docs",
  "config",
  "Dockerfile",
  "compose.yaml",
  "compose.several.yaml",
];

/** The pages, with the units and the licence as they are installed. */
export function layDocuments(stage: string, version: string): void {
  for (const name of DOCUMENTS) copy(join(ROOT, name), join(stage, DOC, name));
  mkdirSync(join(stage, DOC, "systemd"));
  for (const unit of UNITS) {
    symlinkSync(`../../../../lib/systemd/system/${unit}`, join(stage, DOC, "systemd", unit));
  }
  symlinkSync("copyright", join(stage, DOC, "LICENSE"));
  const at = commitTime();
  write(stage, `${DOC}/copyright`, copyright(productionPackages()));
  write(stage, `${DOC}/changelog.gz`, packed(changelog(version, at)));
  write(stage, "usr/share/man/man1/scanferry.1.gz", packed(manPage(version, at)));
  write(stage, "usr/share/bash-completion/completions/scanferry", bashCompletion());
  const overrides = readFileSync(join(DEBIAN, "lintian-overrides"));
  write(stage, "usr/share/lintian/overrides/scanferry", overrides);
}

/** The units with this package's paths; what postinst makes the configuration from; its directories. */
export function layService(stage: string): void {
  for (const unit of UNITS) {
    const text = readFileSync(join(ROOT, "systemd", unit), "utf8")
      .replaceAll("/opt/scanferry/bin/scanferry", "/usr/bin/scanferry")
      .replaceAll("file:/opt/scanferry/README.md", `man:scanferry(1) file:/${DOC}/README.md`)
      .replaceAll("docs/systemd.md", `/${DOC}/docs/systemd.md`);
    write(stage, `usr/lib/systemd/system/${unit}`, text);
  }
  const starter = starterConfig()
    .replace("# accountKeyFile: /etc/scanferry/account.key", "accountKeyFile: account.key")
    .replace("# secretFile: /etc/scanferry/signing.secret", "secretFile: signing.secret")
    .replaceAll(/\bdocs\/\w+\.md\b/g, `/${DOC}/$&`);
  write(stage, "usr/share/scanferry/scanferry.yaml", sealed(starter));
  mkdirSync(join(stage, "etc/scanferry/secrets"), { recursive: true });
}

function layControl(stage: string, version: string, architecture: Architecture): void {
  const files = pathsBelow(stage).filter((path) => lstatSync(path).isFile());
  const bytes = files.reduce((sum, path) => sum + lstatSync(path).size, 0);
  const sums = files.map((path) => {
    const sum = createHash("md5").update(readFileSync(path)).digest("hex");
    return `${sum}  ${relative(stage, path)}`;
  });
  write(stage, "DEBIAN/control", control(version, architecture, Math.ceil(bytes / 1024)));
  write(stage, "DEBIAN/md5sums", `${sums.join("\n")}\n`);
  const scripts = ["postinst", "prerm", "postrm"];
  for (const script of scripts) {
    write(stage, `DEBIAN/${script}`, readFileSync(join(DEBIAN, script)));
  }
  for (const name of ["", "control", "md5sums", ...scripts]) {
    const isStarted = name === "" || scripts.includes(name);
    chmodSync(join(stage, "DEBIAN", name), isStarted ? 0o755 : 0o644);
  }
}

/** The same whatever the umask was; what is started has the right to be, and nothing else. */
function setModes(stage: string): void {
  const started = [`${LIB}/bin/scanferry`, `${LIB}/node_modules/node/bin/node`];
  for (const path of pathsBelow(stage)) {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) continue;
    const isStarted = stat.isDirectory() || started.includes(relative(stage, path));
    chmodSync(path, isStarted ? 0o755 : 0o644);
  }
  chmodSync(join(stage, "etc/scanferry/secrets"), 0o700);
}

/** Everything below and the directory itself, in the order of names. */
function pathsBelow(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  return [directory, ...names.map((name) => join(directory, name))];
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, dereference: true });
}

function write(stage: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(stage, path)), { recursive: true });
  writeFileSync(join(stage, path), content);
}

function packed(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      architecture: { type: "string", multiple: true, default: [...ARCHITECTURES] },
      version: { type: "string", default: manifest().version },
      to: { type: "string", default: join(ROOT, "release") },
    },
  });
  for (const architecture of ARCHITECTURES) {
    if (!values.architecture.includes(architecture)) continue;
    console.log(buildDeb(architecture, values.version, resolve(values.to)));
  }
}
