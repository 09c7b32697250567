/**
 * Writes docs/config.md and config/scanferry.yaml from the schema of the configuration, so that they cannot differ.
 * Run it after a change of the schema: `node scripts/config-reference.ts`.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { writtenKey, type KeyPath } from "../src/config/config-problems.ts";
import { variableOf } from "../src/config/environment.ts";
import { aboutOf, declared, exampleOf, unwrap } from "../src/config/kind.ts";
import { fileSchema } from "../src/config/config.ts";
import { sealed, starterConfig } from "../src/config/starter.ts";

const INTRODUCTION = `# Configuration

<!-- Written by scripts/config-reference.ts from the sections in src/config. Change those, not this. -->

One YAML file (YAML 1.2; anchors and merge keys work), the first of these that exists:

1. \`--config FILE\`
2. \`$SCANFERRY_CONFIG\`
3. \`./scanferry.yaml\`, if only the caller and root can write it and its directory
4. \`/etc/scanferry/scanferry.yaml\`

\`scanferry init\` writes a file with comments; \`config/\` has examples. \`scanferry check\` reports every error at once, with file, line, key and fix, and
where each value comes from. Unknown keys are errors. A key without a value counts as left out.

- **Durations:** \`200ms\`, \`3s\`, \`1.5s\`, \`5m\`, \`6h\`, \`7d\`, \`3y\` (of 365 days); \`0\` needs no unit.
- **Sizes:** \`1048576\` (bytes), \`512KB\`, \`2MB\` (thousands), \`10MiB\` (1024s).
- **Paths** are relative to the configuration file. \`~\` is not expanded.
- **Cron expressions** have five fields, or six with seconds first, in the host's time zone.
- **Globs** match paths relative to the mirror's source.

## Environment variables

Every key outside lists can be set by a variable: \`SCANFERRY_\` and the key's path in capitals, with \`_\` between words; \`SCANFERRY_MIRROR_…\` sets
the keys of a single mirror. Lists are separated by commas. For a secret, \`…_FILE\` names the file
that contains it. A variable overrides the file; an empty one counts as not set; an unknown one is an error.

With \`SCANFERRY_ARCHIVE_URL\` and \`SCANFERRY_MIRROR_SOURCE\` no file is needed. Relative paths are then relative to the working directory.

\`\`\`text
SCANFERRY_ARCHIVE_URL=https://archive.example.com SCANFERRY_ACCOUNT_KEY_FILE=/run/secrets/account.key \\
SCANFERRY_SIGNING_SECRET_FILE=/run/secrets/signing.secret SCANFERRY_MIRROR_SOURCE=/srv/scans \\
SCANFERRY_MIRROR_TARGET=/Scans scanferry run
\`\`\`

## Secrets

Each secret is taken from the first of

1. a variable: \`$SCANFERRY_ACCOUNT_KEY\`, \`$SCANFERRY_SIGNING_SECRET\` (of \`archives.legal\`: \`…_LEGAL\`), or the file that \`…_FILE\` names. In the
   lists of \`notify\` a variable comes last;
2. the value in the configuration, which must then be readable by its owner only (\`chmod 600\`);
3. the file that \`accountKeyFile\`, \`secretFile\` and so on name, which must not be readable by everyone. If a relative path does not exist next to the
   configuration, it is looked for in \`$CREDENTIALS_DIRECTORY\` (systemd's \`LoadCredential=\`), then in \`secrets\` next to the configuration.

Value and file together are an error.

## Keys

Each entry has the kind of value, the default, and the variable.
`;

/** The whole text of docs/config.md. */
export function configReference(): string {
  return `${INTRODUCTION}\n${sectionsOf([], fileSchema, new Map()).join("\n")}`;
}

/**
 * A heading, what the section is for, a list of its own keys; then the sections below it. Entries that an earlier
 * section has, word for word, are named only; `earlier` knows them and where they stand.
 */
function sectionsOf(key: KeyPath, schema: z.core.$ZodType, earlier: Map<string, string>): string[] {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodArray) return sectionsOf([...key, 0], inner.element, earlier);
  if (!(inner instanceof z.ZodObject)) return [];
  const children = Object.entries(inner.shape);
  const path = writtenKey(key).replaceAll("[0]", "[]");
  const title = path === "" ? "at the top" : path;
  const entries = children.flatMap(([name, child]) => entryOf([...key, name], child));
  const repeated = entries.filter(({ about }) => earlier.has(about));
  const own = entries.filter(({ about }) => !earlier.has(about));
  for (const { about } of own) earlier.set(about, title);
  const places = new Set(repeated.map(({ about }) => `\`${earlier.get(about)}\``));
  const names = repeated.map(({ name }) => `\`${name}\``).join(", ");
  const body = [
    ...(path === "" ? [] : [declared(inner).about?.meaning ?? "", ""]),
    ...own.map(({ text }) => text),
    ...(repeated.length > 0 ? [`- ${names}: as in ${[...places].join(", ")}.`] : []),
    ...(entries.length > 0 ? [""] : []),
  ];
  return [
    [`### ${title}`, "", ...body].join("\n"),
    ...children.flatMap(([name, child]) => sectionsOf([...key, name], child, earlier)),
  ];
}

/** The line of a key; none for a key that is a section of its own. */
function entryOf(
  key: KeyPath,
  schema: z.core.$ZodType,
): { name: string; about: string; text: string }[] {
  const name = String(key.at(-1));
  const { inner, fallback, optional } = unwrap(schema);
  if (inner instanceof z.ZodObject && declared(schema).short === undefined) return [];
  const about = aboutOf(schema);
  if (about === undefined) throw new Error(`the schema says nothing of the key ${name}`);
  const missing = about.without ?? (optional ? undefined : "**required**");
  const byDefault = fallback === undefined ? missing : `\`${written(fallback)}\``;
  const standard = inner instanceof z.ZodObject ? undefined : byDefault;
  const variable = variableOf(key);
  const value = [valueOf(inner), standard].filter((part) => part !== undefined).join("; ");
  const example = isPlain(inner) ? "" : ` E.g. \`${name}: ${exampleOf(schema)}\``;
  const said = `${about.meaning}${example}`;
  const named =
    variable === undefined || value.includes(variable) ? value : `${value}; \`${variable}\``;
  return [{ name, about: `${name} ${value} ${said}`, text: `- \`${name}\` (${named}): ${said}` }];
}

/** True where the kind of value says how it is written. */
function isPlain(schema: z.core.$ZodType): boolean {
  const plain =
    /^(duration|whole number|size|path|secret|period|name|`|text|http|mail|URL|a digest|list|template|archive folder)/;
  return plain.test(valueOf(schema));
}

function valueOf(schema: z.core.$ZodType): string {
  const { short, kind } = declared(schema);
  if (short) return `${short.kind} or mapping`;
  if (schema instanceof z.ZodObject) return "mapping";
  if (schema instanceof z.ZodRecord) return `${valueOf(schema.valueType)} by name`;
  if (schema instanceof z.ZodArray) {
    const element = unwrap(schema.element).inner;
    return element instanceof z.ZodObject ? "list of mappings" : `list: ${valueOf(element)}`;
  }
  if (kind === undefined) throw new Error("a key of the schema is of no kind");
  return kind.bounds === undefined ? kind.name : `${kind.name}, ${kind.bounds}`;
}

/** A default as one would write it in the file: what has blanks is put in quotes. */
function written(value: unknown): string {
  return typeof value === "string" && !value.includes(" ") ? value : JSON.stringify(value);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/config.md", import.meta.url), configReference());
  writeFileSync(new URL("../config/scanferry.yaml", import.meta.url), sealed(starterConfig()));
}
