/**
 * Builds src into dist: `npm run build`; into another directory, new or empty: `node scripts/build.ts DIRECTORY`.
 *
 * Most of the time of a short command went into finding and reading some 450 modules one by one. So they
 * are joined, with the packages of `JOINED`, into files that are loaded when they are needed. Names are
 * kept, so that stacks can be read. The same sources make the same bytes, wherever they lie.
 *
 * Types are not looked at (`npm run types` does).
 */
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Plugin, rolldown, type OutputChunk } from "rolldown";
import { licenceText, manifest, productionPackages, ROOT } from "./package/packages.ts";

/** What is started by its path: the program, the reader, the threads. */
const STARTED = ["main", "reader/child", "source/pdf-worker", "embedded-archive/conversion-worker"];

/**
 * Packages that come in many files and are loaded by most commands, or by the reader, with what only they
 * need. Plain JavaScript that finds nothing by its own path, with a text of its licence.
 */
const JOINED = [
  "chokidar",
  "commander",
  "form-data",
  "p-queue",
  "picomatch",
  "undici",
  "yaml",
  "zod",
];

/** What runs everywhere: the oldest Node that package.json allows. */
const TARGET = "node22.22";

/** But for the program itself everything lies one below: `places` counts on it. */
const PLACE = /^(?:main|[\w-]+\/[\w-]+)\.js$/;

/** A module that looks next to itself does so from where it would lie on its own. */
const places: Plugin = {
  name: "places",
  transform(code, id) {
    const place = relative(join(ROOT, "src"), id);
    if (place.startsWith("..") || !code.includes("import.meta.url")) return null;
    const own = `new URL("../${place.replace(/\.ts$/, ".js")}", import.meta.url).href`;
    return { code: code.replaceAll("import.meta.url", own), map: null };
  },
};

/**
 * Importing a builtin by name has Node read every property that it has, lazy ones too: `process.stdin`, `util.diff`,
 * `fs.promises` and what they need in turn. Asked for as it is, it brings what is used alone.
 */
const builtins: Plugin = {
  name: "builtins",
  renderChunk(code) {
    const imports = /^import (?:([\w$]+|\* as [\w$]+)(?:, )?)?(\{.*\})? ?from "(node:[\w/]+)";$/gm;
    const asked = code.replace(imports, (_, whole?: string, parts?: string, name?: string) => {
      const builtin = `globalThis.process.getBuiltinModule("${name}");`;
      const all = whole && `const ${whole.replace("* as ", "")} = ${builtin}`;
      const some = parts && `const ${parts.replaceAll(" as ", ": ")} = ${builtin}`;
      return [all, some].filter(Boolean).join(" ");
    });
    return { code: asked, map: null };
  },
};

/**
 * undici's pool alone is loaded in half the time of the whole, with `fetch`, WebSockets and caches. It dispatches; shorter
 * ways to ask, as `request`, are given to it by the whole alone.
 */
const poolAlone: Plugin = {
  name: "pool-alone",
  transform(code) {
    const whole = 'import { Pool } from "undici";';
    if (!code.includes(whole)) return null;
    const alone = 'import Pool from "undici/lib/dispatcher/pool.js";';
    return { code: code.replace(whole, alone), map: null };
  },
};

/** The type of a file's content is looked up by its extension alone: two of three types have none. */
const typesByExtension: Plugin = {
  name: "types-by-extension",
  transform(code, id) {
    if (!id.endsWith("/mime-db/db.json")) return null;
    type Type = { readonly source?: string; readonly extensions?: readonly string[] };
    const all = Object.entries(JSON.parse(code) as Record<string, Type>);
    const found = all.filter(([, { extensions }]) => extensions !== undefined);
    const kept = found.map(([type, { source, extensions }]) => [type, { source, extensions }]);
    return { code: JSON.stringify(Object.fromEntries(kept)), map: null };
  },
};

/** What at least so many commands and other parts that are loaded on their own need is one file: each file takes time to find. */
const SHARED_BY = 14;

/** Of it, what the reader needs: a file of its own, so that the reader does not load the configuration and the command line. */
const readerNeeds = new Set<string>();
const needs: Plugin = {
  name: "needs",
  buildEnd() {
    const collect = (id: string): void => {
      if (readerNeeds.has(id)) return;
      readerNeeds.add(id);
      this.getModuleInfo(id)?.importedIds.forEach(collect);
    };
    collect(join(ROOT, "src/reader/child.ts"));
  },
};

async function build(to: string): Promise<void> {
  const apart = Object.keys(manifest().dependencies).filter((name) => !JOINED.includes(name));
  const bundle = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(STARTED.map((name) => [name, `src/${name}.ts`])),
    platform: "node",
    external: apart.map((name) => new RegExp(`^${name}(?:/|$)`)),
    // As tsconfig.json has it, which need not be there.
    tsconfig: false,
    transform: { target: TARGET, typescript: { onlyRemoveTypeImports: true } },
    plugins: [places, builtins, poolAlone, typesByExtension, needs],
    // A cycle, or an import of what is not there, is a mistake here.
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  const { output } = await bundle.write({
    dir: to,
    entryFileNames: "[name].js",
    chunkFileNames: "joined/[name].js",
    comments: { legal: true, annotation: false, jsdoc: false },
    codeSplitting: {
      minShareCount: SHARED_BY,
      groups: [{ name: "base", test: (id) => readerNeeds.has(id) }, { name: "common" }],
    },
  });
  await bundle.close();
  const chunks = output.filter((file) => file.type === "chunk");
  const misplaced = chunks.filter(({ fileName }) => !PLACE.test(fileName));
  if (misplaced.length > 0) throw new Error(`not one below: ${misplaced[0]?.fileName}`);
  writeFileSync(join(to, "licences.txt"), licences(chunks));
}

/** Of the packages that were joined: their licences ask to go along with copies. */
function licences(chunks: readonly OutputChunk[]): string {
  const ids = chunks.flatMap(({ moduleIds }) => moduleIds);
  const joined = productionPackages().filter(({ path }) =>
    ids.some((id) => id.startsWith(join(ROOT, path, "/"))),
  );
  const texts = joined.map((each) => {
    const text = licenceText(each);
    if (text === undefined) throw new Error(`${each.name} carries no licence: leave it on its own`);
    return `${each.name} ${each.version} (${each.licence})\n\n${text}\n`;
  });
  return `These files hold code of the following packages.\n\n${texts.join("\n\n")}`;
}

const [given] = process.argv.slice(2);
const to = given ?? join(ROOT, "dist");
// What an earlier build left would go along.
if (given === undefined) rmSync(to, { recursive: true, force: true });
else if (existsSync(to) && readdirSync(to).length > 0) throw new Error(`${to} is not empty`);
await build(to);
