/**
 * Writes docs/config.md from the schema of the configuration, so that the two cannot differ.
 * Run it after a change of the schema: `node scripts/config-reference.ts`.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
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
examples. \`scanferry check\` tells everything that is wrong with a file at once, a line each, with file,
line, key and mend. Unknown keys are errors. A key without a value counts as left out.

- **Durations** are written \`200ms\`, \`3s\`, \`1.5s\`, \`5m\`, \`6h\`, \`7d\` or \`3y\` (of 365 days);
  \`0\` needs no unit.
- **Sizes** are written \`1048576\` (bytes), \`512KB\`, \`2MB\` (thousands) or \`10MiB\` (1024s).
- **Paths** that are relative are relative to the configuration file. \`~\` is not expanded.
- **Cron expressions** have five fields, or six with seconds first.
- **Globs** are matched against paths relative to the mirror's source.

## Secrets

An archive has two, \`archive.accountKey\` and \`archive.signing.secret\`; those of the page and of \`notify\` work alike.
Each is taken from the first of

1. the value in the file, which must then be readable by its owner alone (\`chmod 600\`);
2. the file that \`accountKeyFile\` or \`secretFile\` names, which must not be readable by everyone; one
   line break at its end is dropped. A relative path that does not exist beside the configuration file
   is looked for in \`$CREDENTIALS_DIRECTORY\`, where systemd puts what \`LoadCredential=\` names, then in
   \`secrets\` beside the configuration;
3. \`$SCANFERRY_ACCOUNT_KEY\` and \`$SCANFERRY_SIGNING_SECRET\`; of \`archives.legal\`, say,
   \`$SCANFERRY_ACCOUNT_KEY_LEGAL\` and \`$SCANFERRY_SIGNING_SECRET_LEGAL\`. The keys below name the variables of the others.

Giving both the value and the file is an error. No message and no log line ever holds a secret.
`;

/** The whole text of docs/config.md. */
export function configReference(): string {
  return `${INTRODUCTION}\n${sectionsOf("", fileSchema).join("\n")}`;
}

/** A heading, what the section is for, a table of its own keys; then the sections below it. */
function sectionsOf(path: string, schema: z.core.$ZodType): string[] {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodArray) return sectionsOf(`${path}[]`, inner.element);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((each) => sectionsOf(path, each));
  if (!(inner instanceof z.ZodObject)) return [];
  const children = Object.entries(inner.shape);
  const rows = children.flatMap(([name, child]) => rowOf(name, child));
  const table = ["| key | value | default | meaning | example |", "|---|---|---|---|---|", ...rows];
  const heading = path === "" ? "## Keys at the top" : `## ${path}`;
  const meaning = path === "" ? [] : [aboutOf(inner)?.meaning ?? "", ""];
  return [
    [heading, "", ...meaning, ...(rows.length > 0 ? [...table, ""] : [])].join("\n"),
    ...children.flatMap(([name, child]) =>
      sectionsOf(path === "" ? name : `${path}.${name}`, child),
    ),
  ];
}

/** One row of a table; none for a key that is a section of its own. */
function rowOf(name: string, schema: z.core.$ZodType): string[] {
  const { inner, fallback, optional } = unwrap(schema);
  if (inner instanceof z.ZodObject) return [];
  const about = aboutOf(schema);
  if (about === undefined) throw new Error(`the schema says nothing of the key ${name}`);
  const missing = about.without ?? (optional ? "—" : "**required**");
  const byDefault = fallback === undefined ? missing : `\`${written(fallback)}\``;
  const standard = inner instanceof z.ZodUnion ? "see below" : byDefault;
  const cells = [
    `\`${name}\``,
    valueOf(inner),
    standard,
    about.meaning,
    `\`${name}: ${about.example}\``,
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
