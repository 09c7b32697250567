/**
 * The rules of `docs/architecture.md` that a reader of one file cannot see: what may import what,
 * where each library lives, where time comes from, how long a file may get.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Rooms from the bottom up; those on one step never import one another. */
const STAIRCASE = [
  ["std"],
  ["wire", "formats", "network", "sqlite"],
  ["domain"],
  ["rules", "receipts"],
  ["config"],
  ["archive", "journal", "source"],
  ["reader"],
  ["sync"],
  ["report"],
  ["dashboard", "notify"],
  ["daemon"],
  ["check"],
  ["cli"],
  ["main.ts"],
] as const;

/** Apart from the staircase: what it may import, and who may import it. */
const APART = "embedded-archive";
const APART_USES = ["std", "wire", "formats", "sqlite"];
const APART_USERS = ["cli"];

/** Of sync, the dashboard may run the one pure function that shapes a row for people. */
const SHARED_WITH_DASHBOARD = "../sync/record.ts";

/** The one home, or the few, of every library. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  "@embedpdf/pdfium": ["formats"],
  "@fastify/multipart": ["embedded-archive"],
  "better-sqlite3": ["sqlite", "journal", "embedded-archive"],
  chokidar: ["source"],
  commander: ["cli"],
  fastify: ["dashboard", "embedded-archive"],
  "form-data": ["archive"],
  "node-cron": ["config", "daemon"],
  nodemailer: ["notify"],
  "p-queue": ["sync", "dashboard", "embedded-archive"],
  pg: ["journal"],
  picomatch: ["config", "source", "cli"],
  pino: ["daemon"],
  "prom-client": ["dashboard"],
  saxes: ["formats"],
  undici: ["archive", "network", "notify"],
  yaml: ["config", "rules"],
  yauzl: ["formats"],
  zod: ["config", "dashboard", "embedded-archive"],
};

type Import = {
  readonly file: string;
  readonly room: string;
  readonly clause: string;
  readonly from: string;
  /** The room it leads to; undefined for a package. */
  readonly target: string | undefined;
};

type Source = { readonly file: string; readonly text: string };

function filesBelow(folder: string, extensions: RegExp): Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => extensions.test(name))
    .map((name) => join(folder, name))
    .sort()
    .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
}

const sources = filesBelow("src", /\.ts$/);

function roomOf(file: string): string {
  return relative("src", file).split("/")[0] ?? "";
}

/** Static imports and re-exports, and dynamic ones of a literal. */
const IMPORT =
  /^(?:import|export)\s+(?<clause>[\w\s{},*$]+?)\s+from\s+"(?<from>[^"]+)"|^import\s+"(?<bare>[^"]+)"|\bimport\(\s*"(?<dynamic>[^"]+)"/gm;

const imports: readonly Import[] = sources.flatMap(({ file, text }) =>
  [...text.matchAll(IMPORT)].map(({ groups = {} }) => {
    const from = groups["from"] ?? groups["bare"] ?? groups["dynamic"] ?? "";
    const local = from.startsWith(".");
    return {
      file,
      room: roomOf(file),
      clause: groups["clause"] ?? "",
      from,
      target: local ? roomOf(join(dirname(file), from)) : undefined,
    };
  }),
);

const shown = ({ file, from }: Import) => `${file} -> ${from}`;

function stepOf(room: string): number {
  return STAIRCASE.findIndex((step) => (step as readonly string[]).includes(room));
}

/** True when everything the import brings is a type, and so nothing at run time. */
function isTypesOnly(clause: string): boolean {
  if (/^type\b/.test(clause)) return true;
  const names = /^\{(?<names>[^}]*)\}$/.exec(clause)?.groups?.["names"]?.split(",") ?? [];
  const given = names.map((name) => name.trim()).filter((name) => name !== "");
  return given.length > 0 && given.every((name) => name.startsWith("type "));
}

describe("rooms", () => {
  test("every file is in a room of the staircase", () => {
    const rooms = new Set(sources.map(({ file }) => roomOf(file)));
    expect([...rooms].filter((room) => room !== APART && stepOf(room) < 0)).toEqual([]);
    expect(imports.length).toBeGreaterThan(sources.length);
  });

  test("imports point down the staircase, never up and never sideways", () => {
    const wrong = imports.filter(({ room, target }) => {
      if (target === undefined || target === room || [room, target].includes(APART)) return false;
      return stepOf(target) >= stepOf(room);
    });
    expect(wrong.map(shown)).toEqual([]);
  });

  test("the embedded archive shares only std, the wire's shapes, the formats and what SQLite needs", () => {
    const wrong = imports.filter(
      ({ room, target }) =>
        room === APART && target !== undefined && ![APART, ...APART_USES].includes(target),
    );
    expect(wrong.map(shown)).toEqual([]);
  });

  test("nothing but the command line knows the embedded archive", () => {
    const wrong = imports.filter(
      ({ room, target }) => target === APART && ![APART, ...APART_USERS].includes(room),
    );
    expect(wrong.map(shown)).toEqual([]);
  });

  test("the dashboard shows what sync reports and runs nothing of it", () => {
    const wrong = imports.filter(
      ({ room, target, clause, from }) =>
        room === "dashboard" &&
        target === "sync" &&
        from !== SHARED_WITH_DASHBOARD &&
        !isTypesOnly(clause),
    );
    expect(wrong.map(shown)).toEqual([]);
  });
});

/**
 * How many lines a room may have: the numbers may only fall. Who needs more of one looks first for what to delete
 * there, and gives the reason in the commit.
 */
const LINES: Readonly<Record<string, number>> = {
  std: 1_439,
  wire: 173,
  formats: 2_682,
  network: 1_010,
  sqlite: 183,
  domain: 3_057,
  rules: 1_403,
  receipts: 428,
  config: 4_266,
  archive: 2_379,
  journal: 10_734,
  source: 4_514,
  reader: 1_609,
  sync: 9_577,
  report: 3_089,
  dashboard: 2_620,
  notify: 1_853,
  daemon: 3_416,
  check: 1_425,
  cli: 6_946,
  "main.ts": 24,
  "embedded-archive": 3_985,
};

/** Methods of what has more than a dozen: the numbers may only fall. */
const WIDE: Readonly<Record<string, number>> = {
  ReaderCalls: 14,
};

describe("sizes", () => {
  test.for(Object.entries(LINES))("%s has at most %i lines", ([room, most]) => {
    const own = sources.filter(({ file }) => roomOf(file) === room);
    const lines = own.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
    expect(lines).toBeLessThanOrEqual(most);
  });

  test("every room has a number", () => {
    expect(Object.keys(LINES).sort()).toEqual([...STAIRCASE.flat(), APART].sort());
  });

  test("an interface has a dozen methods at most, but for those whose number may only fall", () => {
    const shape =
      /^export (?:interface (?<name>\w+)[^{\n]*|type (?<type>\w+)[^={\n]*= )\{\n(?<body>[^]*?)^\}/gm;
    const method = /^ {2}(?:readonly )?[\w$]+\??(?:<[^>\n]*>)?(?:\(|: \()/gm;
    const wide = sources.flatMap(({ text }) =>
      [...text.matchAll(shape)].flatMap(({ groups = {} }) => {
        const count = (groups["body"]?.match(method) ?? []).length;
        return count > 12 ? [[groups["name"] ?? groups["type"] ?? "", count] as const] : [];
      }),
    );
    expect(Object.fromEntries(wide)).toEqual(WIDE);
  });
});

describe("circles", () => {
  test("no file imports one that imports it, however far around, for types neither", () => {
    const imported = Map.groupBy(
      // What is loaded later has no clause, and is a way out of a circle.
      imports.filter(({ target, clause }) => target !== undefined && clause !== ""),
      ({ file }) => file,
    );
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (file: string, way: readonly string[]): void => {
      if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" -> "));
      if (done.has(file) || way.includes(file)) return;
      for (const { from } of imported.get(file) ?? [])
        walk(join(dirname(file), from), [...way, file]);
      done.add(file);
    };
    for (const { file } of sources) walk(file, []);
    expect(circles).toEqual([]);
  });
});

describe("libraries", () => {
  const packageOf = (from: string) => /^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from;
  const foreign = imports.filter(
    ({ target, from }) => target === undefined && !from.startsWith("node:"),
  );

  test("each is used in its home alone", () => {
    const wrong = foreign.filter(({ room, from }) => !HOMES[packageOf(from)]?.includes(room));
    expect(wrong.map(shown)).toEqual([]);
  });

  test("each that the package asks for has a home here, and is used", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    expect(Object.keys(dependencies).sort()).toEqual(Object.keys(HOMES).sort());
    const used = new Set(foreign.map(({ from }) => packageOf(from)));
    expect(Object.keys(dependencies).filter((name) => !used.has(name))).toEqual([]);
  });

  test("a question to the journal does not wait for what only the daemon and the archive need", () => {
    // A dynamic import has no clause.
    const loaded = new Set([
      "src/main.ts",
      "src/cli/run-program.ts",
      "src/cli/commands/status.ts",
      "src/cli/commands/list.ts",
      "src/config/load-config.ts",
    ]);
    const found: Import[] = [];
    for (const file of loaded) {
      for (const each of imports) {
        if (each.file !== file || each.clause === "" || isTypesOnly(each.clause)) continue;
        if (each.target === undefined) found.push(each);
        else loaded.add(join(dirname(file), each.from));
      }
    }
    expect(loaded.size).toBeGreaterThan(50);
    const late = [
      "undici",
      "nodemailer",
      "form-data",
      "pino",
      "fastify",
      "chokidar",
      "@embedpdf/pdfium",
      "p-queue",
      "pg",
      "better-sqlite3",
    ];
    expect(found.filter(({ from }) => late.includes(packageOf(from))).map(shown)).toEqual([]);
  });
});

describe("time and chance", () => {
  const outside = sources.filter(({ file }) => roomOf(file) !== "std");

  test.for([
    [/\bDate\.now\(/, "the clock is injected"],
    [/\bnew Date\(\s*\)/, "the clock is injected"],
    [/(?<![.\w])(?:globalThis\.)?set(?:Timeout|Interval)\(/, "sleeping takes a clock and a signal"],
    [/\bMath\.random\(/, "randomness is injected"],
  ] as const)("%s is in std alone, because %s", ([pattern]) => {
    expect(outside.filter(({ text }) => pattern.test(text)).map(({ file }) => file)).toEqual([]);
  });

  test("timers are imported by std alone; elsewhere only a turn of the event loop", () => {
    const wrong = imports.filter(
      ({ room, from, clause }) =>
        room !== "std" &&
        from.startsWith("node:timers") &&
        !/^\{ setImmediate(?: as \w+)? \}$/.test(clause),
    );
    expect(wrong.map(shown)).toEqual([]);
  });
});

describe("files", () => {
  test("one below src and scripts has more than 300 lines only with a reason in CONTRIBUTING.md", () => {
    const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
    const section = page.split("### Long files")[1]?.split("\n## ")[0] ?? "";
    const excused = [...section.matchAll(/^- `([^`]+)`: ./gm)].map(([, file]) => file);
    const long = [...sources, ...filesBelow("scripts", /\.ts$/)].filter(
      ({ text }) => text.split("\n").length - 1 > 300,
    );
    expect(long.map(({ file }) => file)).toEqual(excused);
  });

  test("none tells of the machine it was written on", () => {
    const told = /(?<![\w.])\/(?:home|root|Users|work|workspaces?)\/|\b[A-Z]:\\Users\\/;
    const pages = readdirSync(root)
      .filter((name) => /\.(?:md|ya?ml)$|^Dockerfile$/.test(name))
      .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
    const folders = ["assets", "config", "docs", "scripts", "systemd"];
    const others = folders.flatMap((folder) => filesBelow(folder, /\.\w+$/));
    const all = [...sources, ...pages, ...others];
    expect(all.filter(({ text }) => told.test(text)).map(({ file }) => file)).toEqual([]);
  });
});
