/** What is declared in the schema of the configuration is used: nothing that it lists is forgotten elsewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { EVENT_KINDS } from "../../../src/domain/event.ts";
import { CHANNELS, notifyHosts } from "../../../src/config/notify-section.ts";
import { declaredSections, exampleOf, isOfSecret, unwrap } from "../../../src/config/kind.ts";
import { buildConfig, fileSchema } from "../../../src/config/config.ts";
import { namedFiles } from "../../../src/config/secrets.ts";
import { starterConfig } from "../../../src/config/starter.ts";

/** A configuration with every key of the schema, written as its example; not one that could be used. */
function everyKey(schema: z.core.$ZodType, name = ""): unknown {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries(inner.shape).map(([key, child]) => [key, everyKey(child, key)]),
    );
  if (inner instanceof z.ZodArray && unwrap(inner.element).inner instanceof z.ZodObject)
    return [everyKey(inner.element)];
  if (inner instanceof z.ZodRecord && unwrap(inner.valueType).inner instanceof z.ZodObject)
    return { legal: everyKey(inner.valueType) };
  return parse(`${name}: ${exampleOf(schema)}`)[name];
}

// `archives` has the keys of `archive`, and is given in its place.
const { archive: _, ...written } = everyKey(fileSchema) as Record<string, unknown>;

/** The object, noting which of its keys are read. */
function watched<T extends object>(object: T, path: string, seen: Set<string>): T {
  return new Proxy(object, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof name !== "string" || !Object.hasOwn(target, name)) return value;
      const key = Array.isArray(target) ? path : `${path}.${name}`;
      seen.add(key);
      return typeof value === "object" && value !== null ? watched(value, key, seen) : value;
    },
  });
}

function keysOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => keysOf(item, path));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => [
    `${path}.${name}`,
    ...keysOf(child, `${path}.${name}`),
  ]);
}

/** What `fillSecrets` reads: the keys of secrets' files. */
const ofFiles = declaredSections(fileSchema).flatMap(({ schema }) =>
  Object.keys(schema.shape).filter((name) => name.endsWith("File") && isOfSecret(name, schema)),
);

test("every key of the schema is read", () => {
  const seen = new Set<string>();
  const shape = () => watched(z.parse(fileSchema, written), "", seen);
  const inPostgres = shape();
  Object.assign(inPostgres.journal, { path: undefined });
  for (const whole of [shape(), inPostgres])
    buildConfig(whole, { path: "/etc/scanferry.yaml", isWritten: true, env: {}, files: [] });
  const missed = keysOf(written).filter((key) => !seen.has(key));
  expect(missed.filter((key) => !ofFiles.includes(key.split(".").at(-1) ?? ""))).toEqual([]);
});

test("every setting is used outside of the configuration", () => {
  const origin = { path: "/etc/scanferry.yaml", isWritten: true, env: {} };
  const config = buildConfig(z.parse(fileSchema, written), origin);
  const src = new URL("../../../src/", import.meta.url);
  const users = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("config/"))
    // A hint or a comment that names a setting does not use it.
    .map((name) =>
      readFileSync(new URL(name, src), "utf8")
        .replaceAll(/\/\*\*[^]*?\*\/|\/\/ .*/g, "")
        .replaceAll(/"[^"\n]*"|'[^'\n]*'/g, ""),
    );
  const names = new Set(keysOf(config).map((key) => key.split(".").at(-1) ?? ""));
  const isUsed = (name: string) => users.some((text) => new RegExp(`\\b${name}\\b`).test(text));
  // A header of a webhook has a name of the user's.
  const unused = [...names].filter((name) => /^\w+$/.test(name) && !isUsed(name));
  expect(unused).toEqual([]);
});

test("docs/config.md names each file of a secret, and the systemd unit gets all of them", () => {
  const page = readFileSync(new URL("../../../docs/config.md", import.meta.url), "utf8");
  const documented = new Set([...page.matchAll(/^- `(\w+File)`/gm)].map(([, name]) => name));
  expect(documented.size).toBeGreaterThan(5);
  const files = namedFiles(z.parse(fileSchema, written)).map((one) => one.written);
  const examples = keysOf(written)
    .filter((key) => documented.has(key.split(".").at(-1)))
    .map((key) => key.split(".").slice(1).reduce<unknown>(inside, written));
  expect(examples.length).toBeGreaterThan(8);
  expect(examples.filter((example) => !files.includes(String(example)))).toEqual([]);
  expect(files).toContain("/etc/scanferry/office-ca.crt");
});

/** The value of a key; of a list, that of its first entry. */
function inside(value: unknown, key: string): unknown {
  const entry: unknown = Array.isArray(value) ? value[0] : value;
  return (entry as Record<string, unknown>)[key];
}

test.for(CHANNELS.map(({ by, about }) => [by, about.example ?? ""] as const))(
  "the unit lets the daemon speak to the hosts of %s: %s",
  ([by, example]) => {
    const notify = { quiet: {}, ping: {}, [by]: parse(example) as unknown };
    const shape = z.parse(fileSchema, { ...written, notify });
    const named = [...example.matchAll(/(?:server: |\/\/)([\w.]+)/g)].map(([, host]) => host);
    expect(notifyHosts(shape.notify)).toEqual(named);
  },
);

test("each channel has an example in notify.md and in the starter", () => {
  const page = readFileSync(new URL("../../../docs/notify.md", import.meta.url), "utf8");
  expect(CHANNELS.filter(({ by }) => !page.includes(`${by}:`)).map(({ by }) => by)).toEqual([]);
  const starter = starterConfig();
  expect(CHANNELS.filter(({ by }) => !starter.includes(`${by}:`)).map(({ by }) => by)).toEqual([]);
});

test("docs/notify.md has a row for each kind of event, and for nothing else", () => {
  const page = readFileSync(new URL("../../../docs/notify.md", import.meta.url), "utf8");
  const table = page.slice(page.indexOf("| event |"), page.indexOf("- **Once.**"));
  const rows = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, kind]) => kind);
  expect(new Set(rows)).toEqual(new Set(EVENT_KINDS));
  expect(rows).toHaveLength(EVENT_KINDS.length);
});
