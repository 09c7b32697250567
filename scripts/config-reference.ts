/**
 * Writes docs/config.md from the schema of the configuration, so that the two cannot differ.
 * Run it after a change of the schema: `node scripts/config-reference.ts`.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { variableOf } from "../src/config/environment.ts";
import { type Key, writtenKey } from "../src/config/findings.ts";
import { aboutOf, kindOf, unwrap } from "../src/config/kind.ts";
import { fileSchema } from "../src/config/schema.ts";

const INTRODUCTION = `# Configuration

<!-- Written by scripts/config-reference.ts from src/config/schema.ts. Change those, not this. -->

One YAML file (YAML 1.2; anchors and merge keys work). It is looked for in this order:

1. \`--config FILE\`
2. \`$SCANFERRY_CONFIG\`
3. \`./scanferry.yaml\`, if nobody but the caller and root can write it or its directory: what it names is run
4. \`/etc/scanferry/scanferry.yaml\`

A file named by the first two must exist. \`scanferry init\` writes a commented starter; \`config/\` has
examples. \`scanferry check\` reports everything that is wrong with a file at once, a line each, with file,
line, key and fix, and where each value comes from. Unknown keys are errors. A key without a value counts as left out.

- **Durations** are written \`200ms\`, \`3s\`, \`1.5s\`, \`5m\`, \`6h\`, \`7d\` or \`3y\` (of 365 days);
  \`0\` needs no unit.
- **Sizes** are written \`1048576\` (bytes), \`512KB\`, \`2MB\` (thousands) or \`10MiB\` (1024s).
- **Paths** that are relative are relative to the configuration file. \`~\` is not expanded.
- **Cron expressions** have five fields, or six with seconds first.
- **Globs** are matched against paths relative to the mirror's source.

## Environment variables

Every key outside lists can be set by a variable: \`SCANFERRY_\` and the key's path in capitals, with \`_\` between words. The
tables below name them. A variable overrides the file; an empty one counts as not set; an unknown one is an error. Lists are
separated by commas. \`SCANFERRY_MIRROR_SOURCE\`, \`SCANFERRY_MIRROR_TARGET\` and so on set the keys of a single mirror. For a
secret, \`…_FILE\` names the file that holds it.

With \`SCANFERRY_ARCHIVE_URL\` and \`SCANFERRY_MIRROR_SOURCE\` no file is needed. Relative paths are then relative to the
working directory.

\`\`\`text
SCANFERRY_ARCHIVE_URL=https://archive.example.com SCANFERRY_ACCOUNT_KEY_FILE=/run/secrets/account.key \\
SCANFERRY_SIGNING_SECRET_FILE=/run/secrets/signing.secret SCANFERRY_MIRROR_SOURCE=/srv/scans \\
SCANFERRY_MIRROR_TARGET=/Scans scanferry run
\`\`\`

## Secrets

An archive has two, \`archive.accountKey\` and \`archive.signing.secret\`; those of the page and of \`notify\` work alike.
Each is taken from the first of

1. \`$SCANFERRY_ACCOUNT_KEY\` and \`$SCANFERRY_SIGNING_SECRET\`, or the file that \`…_FILE\` names; of \`archives.legal\`, say,
   \`$SCANFERRY_ACCOUNT_KEY_LEGAL\` and \`$SCANFERRY_SIGNING_SECRET_LEGAL\`. The keys below name the variables of the others.
   Within the lists of \`notify\` a variable comes last: it serves each entry that says nothing;
2. the value in the file, which must then be readable by its owner alone (\`chmod 600\`);
3. the file that \`accountKeyFile\` or \`secretFile\` names, which must not be readable by everyone; one
   line break at its end is dropped. A relative path that does not exist beside the configuration file
   is looked for in \`$CREDENTIALS_DIRECTORY\`, where systemd puts what \`LoadCredential=\` names, then in
   \`secrets\` beside the configuration.

Giving both the value and the file is an error. No message and no log line ever holds a secret.
`;

/** The whole text of docs/config.md. */
export function configReference(): string {
  return `${INTRODUCTION}\n${sectionsOf([], fileSchema).join("\n")}`;
}

/** A heading, what the section is for, a table of its own keys; then the sections below it. */
function sectionsOf(key: Key, schema: z.core.$ZodType): string[] {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodArray) return sectionsOf([...key, 0], inner.element);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((each) => sectionsOf(key, each));
  if (!(inner instanceof z.ZodObject)) return [];
  const children = Object.entries(inner.shape);
  const rows = children.flatMap(([name, child]) => rowOf([...key, name], child));
  const columns = "| key | value | default | meaning | example | variable |";
  const table = [columns, "|---|---|---|---|---|---|", ...rows];
  const path = writtenKey(key).replaceAll("[0]", "[]");
  const heading = path === "" ? "## Keys at the top" : `## ${path}`;
  const meaning = path === "" ? [] : [aboutOf(inner)?.meaning ?? "", ""];
  return [
    [heading, "", ...meaning, ...(rows.length > 0 ? [...table, ""] : [])].join("\n"),
    ...children.flatMap(([name, child]) => sectionsOf([...key, name], child)),
  ];
}

/** One row of a table; none for a key that is a section of its own. */
function rowOf(key: Key, schema: z.core.$ZodType): string[] {
  const name = String(key.at(-1));
  const { inner, fallback, optional } = unwrap(schema);
  if (inner instanceof z.ZodObject) return [];
  const about = aboutOf(schema);
  if (about === undefined) throw new Error(`the schema says nothing of the key ${name}`);
  const missing = about.without ?? (optional ? "—" : "**required**");
  const byDefault = fallback === undefined ? missing : `\`${written(fallback)}\``;
  const standard = inner instanceof z.ZodUnion ? "see below" : byDefault;
  const variable = variableOf(key);
  const cells = [
    `\`${name}\``,
    valueOf(inner),
    standard,
    about.meaning,
    `\`${name}: ${about.example}\``,
    variable === undefined ? "—" : `\`${variable}\``,
  ];
  return [`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`];
}

function valueOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodObject) return "mapping";
  if (schema instanceof z.ZodRecord) return `${valueOf(schema.valueType)} by name`;
  if (schema instanceof z.ZodUnion) return schema.options.map(valueOf).join(" or ");
  if (schema instanceof z.ZodArray) {
    const element = unwrap(schema.element).inner;
    return element instanceof z.ZodObject ? "list of mappings" : `list: ${valueOf(element)}`;
  }
  const kind = kindOf(schema);
  if (kind === undefined) throw new Error("a key of the schema is of no kind");
  return kind.bounds === undefined ? kind.name : `${kind.name}, ${kind.bounds}`;
}

/** A default as one would write it in the file: what has blanks is put in quotes. */
function written(value: unknown): string {
  return typeof value === "string" && !value.includes(" ") ? value : JSON.stringify(value);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/config.md", import.meta.url), configReference());
}
