import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { effectiveKeys } from "../../../src/config/load-config.ts";
import { VARIABLES, variableOf } from "../../../src/config/environment.ts";
import { aboutOf, unwrap } from "../../../src/config/kind.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import { fileSchema } from "../../../src/config/config.ts";
import { z } from "zod";
import { ConfigFolder, LEAST, SECRETS } from "./config-folder.ts";

const ALONE = {
  ...SECRETS,
  SCANFERRY_ARCHIVE_URL: "https://archive.example.com",
  SCANFERRY_MIRROR_SOURCE: "scans",
  SCANFERRY_MIRROR_TARGET: "/Scans",
};

function emptyDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "scanferry-environment-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

describe("the environment alone", () => {
  test("is a configuration, with paths of the working directory", async () => {
    const cwd = emptyDirectory();
    const config = await loadConfig({ env: { ...ALONE, SCANFERRY_JOURNAL: "j.db" }, cwd });
    expect(config).toMatchObject({
      file: undefined,
      archive: { url: "https://archive.example.com", accountKey: "key" },
      mirrors: [{ name: "scans", source: join(cwd, "scans"), target: { path: "/Scans" } }],
      journal: join(cwd, "j.db"),
    });
  });

  test("names the variables that are missing", async () => {
    const { SCANFERRY_MIRROR_TARGET: _, SCANFERRY_ACCOUNT_KEY: __, ...env } = ALONE;
    await expect(loadConfig({ env, cwd: emptyDirectory() })).rejects.toMatchObject({
      problems: [
        { file: "", key: "mirrors[0].target", fix: "set $SCANFERRY_MIRROR_TARGET" },
        {
          file: "",
          key: "archive.accountKey",
          fix: expect.stringContaining("$SCANFERRY_ACCOUNT_KEY"),
        },
      ],
    });
  });

  test("is not looked at where a file was named", async () => {
    const cwd = emptyDirectory();
    await expect(loadConfig({ file: "gone.yaml", env: ALONE, cwd })).rejects.toThrow(
      "no such file",
    );
  });
});

describe("a variable", () => {
  test.for([
    ["SCANFERRY_UPLOAD_CONCURRENCY", "2", { upload: { concurrency: 2 } }, "a number"],
    ["SCANFERRY_BATCH_MAX_DOCUMENTS", "7", { batch: { maxDocuments: 7 } }, "two words"],
    ["SCANFERRY_WEB_LISTEN", "127.0.0.1:9", { web: { port: 9 } }, "below a section"],
    ["SCANFERRY_WEB", "off", { web: undefined }, "in the place of a section"],
    [
      "SCANFERRY_JOURNAL_RETAIN",
      "30d",
      { journal: "/j.db", retention: { retainMs: 2_592e6 } },
      "next to a key in one word",
    ],
    ["SCANFERRY_JOURNAL", "/k.db", { journal: "/k.db" }, "over what the file says"],
    ["SCANFERRY_MIRROR_SETTLE", "9s", { mirrors: [{ settleMs: 9_000 }] }, "of the only mirror"],
    [
      "SCANFERRY_MIRROR_INCLUDE",
      "*.pdf, *.tif,",
      { mirrors: [{ include: ["*.pdf", "*.tif"] }] },
      "a list",
    ],
    [
      "SCANFERRY_MIRROR_INCLUDE",
      "**/*.{pdf,tif},*.txt,{a,b}/*",
      { mirrors: [{ include: ["**/*.{pdf,tif}", "*.txt", "{a,b}/*"] }] },
      "a glob has commas of its own",
    ],
    [
      "SCANFERRY_MIRROR_TARGET_ID",
      "17",
      { mirrors: [{ target: { id: 17 } }] },
      "instead of what it excludes",
    ],
    [
      "SCANFERRY_ARCHIVE_ACCOUNT_KEY",
      "long",
      { archive: { accountKey: "long" } },
      "a secret's whole name",
    ],
    [
      "SCANFERRY_ACCOUNT_KEY",
      "0815",
      { archive: { accountKey: "0815" } },
      "digits of a secret stay",
    ],
    ["SCANFERRY_UPLOAD_CONCURRENCY", "", { upload: { concurrency: 4 } }, "empty: not set"],
    [
      "SCANFERRY_PORT_8470_TCP",
      "tcp://10.0.0.1",
      {},
      "set by Kubernetes for a service of that name",
    ],
  ] as const)("%s=%s: %o, %s", async ([name, text, expected]) => {
    using folder = new ConfigFolder(`${LEAST}journal: /j.db\n`);
    expect(await folder.load({ ...SECRETS, [name]: text })).toMatchObject(expected);
  });

  test.for([
    ["SCANFERRY_UPLOAD_CONCURRENCY", "many", 'upload.concurrency: "many" is not a whole number'],
    ["SCANFERRY_UPLOAD_CONCURRENCY", "0", "upload.concurrency: 0 is out of bounds"],
    ["SCANFERRY_MIRROR_INCLUDE", "a,/b", "mirrors[0].include[1]: "],
    [
      "SCANFERRY_UPLOAD_CONCURENCY",
      "2",
      "unknown variable; did you mean SCANFERRY_UPLOAD_CONCURRENCY?",
    ],
    ["SCANFERRY_UPLOAD", "1", "unknown variable; the nearest are SCANFERRY_UPLOAD_"],
    ["SCANFERRY_MIRROR_SRC_DIRECTORY", "/s", "unknown variable; the nearest are SCANFERRY_MIRROR_"],
    ["SCANFERRY_SOMETHING", "1", "unknown variable; the nearest are SCANFERRY_"],
    ["SCANFERRY_LOG", "debug", "unknown variable; the nearest are SCANFERRY_LOG_"],
    ["SCANFERRY_KILL", "1", "unknown variable; the nearest are SCANFERRY_"],
    ["SCANFERRY_WBE", "off", "unknown variable; did you mean SCANFERRY_WEB?"],
    ["SCANFERRY_WEB_TOKEN", "short", "web.token: has fewer than 16 characters"],
    ["SCANFERRY_ACCOUNT_KEY_FILE", "gone.key", 'archive.accountKey: there is no file "gone.key"'],
  ] as const)("%s=%s is refused by its name: %s", async ([name, text, expected]) => {
    using folder = new ConfigFolder(LEAST);
    const { SCANFERRY_ACCOUNT_KEY: key, ...rest } = SECRETS;
    const env =
      name === "SCANFERRY_ACCOUNT_KEY_FILE" ? rest : { ...rest, SCANFERRY_ACCOUNT_KEY: key };
    const [line, ...more] = await folder.problems({ ...env, [name]: text });
    expect(line).toMatch(`$${name}: ${expected}`);
    expect(more).toEqual([]);
  });

  test("of a mirror is refused where there are several", async () => {
    using folder = new ConfigFolder(LEAST.replace("]", ", { source: /srv/b, target: /B }]"));
    expect(await folder.problems({ ...SECRETS, SCANFERRY_MIRROR_SETTLE: "9s" })).toEqual([
      expect.stringContaining("$SCANFERRY_MIRROR_SETTLE: the file has 2 mirrors"),
    ]);
  });

  test("excludes another one as the keys do", async () => {
    using folder = new ConfigFolder(LEAST);
    const both = { SCANFERRY_MIRROR_TARGET: "/A", SCANFERRY_MIRROR_TARGET_ID: "17" };
    expect(await folder.problems({ ...SECRETS, ...both })).toEqual([
      "$SCANFERRY_MIRROR_TARGET_ID: mirrors[0].targetId: is given next to target; keep one of target and targetId",
    ]);
  });

  test("names the file of a secret", async () => {
    using folder = new ConfigFolder(LEAST);
    folder.write("account.key", "from a file\n");
    const env = { SCANFERRY_ACCOUNT_KEY_FILE: "account.key", SCANFERRY_SIGNING_SECRET: "s" };
    expect((await folder.load(env)).archive.accountKey).toBe("from a file");
  });
});

/** Every key of the schema that is within no list and no mapping of names: its own, and those of one mirror. */
function keysOutsideLists(
  schema: z.core.$ZodType,
  key: (string | number)[],
): (string | number)[][] {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([name, child]) => {
      if (key.length === 0 && name === "mirrors" && unwrap(child).inner instanceof z.ZodArray)
        return keysOutsideLists((unwrap(child).inner as z.ZodArray).element, ["mirrors", 0]);
      return keysOutsideLists(child, [...key, name]);
    });
  }
  const isList = inner instanceof z.ZodArray && unwrap(inner.element).inner instanceof z.ZodObject;
  const isText = aboutOf(schema) !== undefined || key.length === 1;
  return isList || inner instanceof z.ZodRecord || !isText ? [] : [key];
}

test("every key outside lists has one variable, and no two keys the same", () => {
  const keys = keysOutsideLists(fileSchema, []).map((key) => key.join("."));
  expect(keys.length).toBeGreaterThan(80);
  expect(
    keys.filter(
      (key) => variableOf(key.split(".").map((part) => (part === "0" ? 0 : part))) === undefined,
    ),
  ).toEqual([]);
  const names = VARIABLES.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test("where each value comes from, and no secret", async () => {
  using folder = new ConfigFolder(
    `${LEAST}journal: postgres://me:CANARY@db/x\nnotify: { webhook: [{ url: "https://h/CANARY" }] }\n`,
  );
  const env = { ...SECRETS, SCANFERRY_SIGNING_SECRET: "CANARY", SCANFERRY_UPLOAD_CONCURRENCY: "2" };
  const keys = await effectiveKeys({ file: folder.file, env, cwd: "/" });
  const origins = new Map(keys.map(({ key, value, origin }) => [key, [value, origin]]));
  expect(origins.get("mirrors[0].source")).toEqual(["/srv/scans", `${folder.file}:2`]);
  expect(origins.get("upload.concurrency")).toEqual(["2", "$SCANFERRY_UPLOAD_CONCURRENCY"]);
  expect(origins.get("archive.signing.secret")).toEqual(["(hidden)", "$SCANFERRY_SIGNING_SECRET"]);
  expect(origins.get("web.listen")).toEqual(["127.0.0.1:8470", "default"]);
  expect(JSON.stringify(keys)).not.toContain("CANARY");
});
