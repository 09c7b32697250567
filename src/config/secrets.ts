/**
 * Where secrets come from: a variable, else the value in the file, else the file that is named; and certificates, which
 * a file may hold, too. No message says anything of a secret but where it was looked for.
 */
import { dirname, isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { quoted, quotedPath } from "../std/quoted.ts";
import {
  chmodOf,
  type FileKind,
  readableByOthers,
  readText,
  SECRET,
  type StampedFile,
} from "../std/small-file.ts";
import type { ConfigFile } from "./config-file.ts";
import type { ConfigProblems, KeyPath } from "./config-problems.ts";
import { fileSchema, type FileShape, type FileSketch } from "./config.ts";
import { variableOf, variableSuffix } from "./environment.ts";
import { kindOf, type Need, type Secret, secretOf, sectionsIn, unwrap } from "./kind.ts";
import { readLeaf } from "./read-file-shape.ts";

/** What every look-up needs to know. */
type SecretContext = {
  readonly config: ConfigFile;
  readonly env: NodeJS.ProcessEnv;
  readonly findings: ConfigProblems;
  /** Where each file that was read is noted. */
  readonly files: StampedFile[];
};

/** Puts every secret that is used, and the text of every certificate, in the place of its key; reports what is missing. */
export async function fillSecrets(sketch: FileSketch, around: SecretContext): Promise<void> {
  for (const { schema, key, values } of sectionsIn(fileSchema, sketch))
    for (const [name, child] of Object.entries(schema.shape)) {
      const place = [...key, name];
      const written = values[name];
      const secret = secretOf(child);
      if (secret) {
        const found = { ...secret, schema: unwrap(child).inner, section: key, name };
        values[name] = await findSecret(found, values, around);
      } else if (kindOf(child)?.file && typeof written === "string")
        values[name] = await textOf(child, written, place, around);
      else if (isMappingOfSecrets(child) && Object.keys(written ?? {}).length > 0)
        reportIfOpen(place, around);
    }
}

/** A secret that is looked for, and where. */
type Sought = Secret & {
  readonly schema: z.core.$ZodType;
  readonly section: KeyPath;
  readonly name: string;
};

/** One secret; undefined when it is missing, or when something is wrong with it. */
async function findSecret(
  sought: Sought,
  values: Readonly<Record<string, unknown>>,
  around: SecretContext,
): Promise<string | undefined> {
  const { findings } = around;
  const { section, name, schema } = sought;
  const [key, fileKey] = [
    [...section, name],
    [...section, `${name}File`],
  ];
  const [value, file] = [values[name], values[`${name}File`]] as (string | undefined)[];
  const need: Need = sought.need(values);
  // A variable has no place in the file, and none for each entry of a list: there it is what is left.
  const isEntry = section.some((part) => typeof part === "number");
  if (need !== "unused" && !isEntry) {
    const found = await fromEnvironment(sought, key, around);
    if (found) return found.secret;
  }
  if (value !== undefined && file !== undefined)
    findings.report(fileKey, `is given next to ${name}`, `keep one of ${name} and ${name}File`);
  if (value !== undefined) {
    if (!sought.isOpen(value)) reportIfOpen(key, around);
    return fit(schema, value, "the secret", key, around);
  }
  if (need === "unused" || findings.has(key) || findings.has(fileKey)) return undefined;
  if (file !== undefined) return fromFile(sought, file, fileKey, around);
  const found = isEntry ? await fromEnvironment(sought, key, around) : undefined;
  if (found || need === "optional") return found?.secret;
  const variable = `${sought.variable}${variableSuffix(section)}`;
  findings.report(key, "is missing", `write ${name} or ${name}File, or set $${variable}`);
  return undefined;
}

/** What a variable says, or the file that a variable names; undefined where none is set. */
async function fromEnvironment(
  sought: Sought,
  key: KeyPath,
  around: SecretContext,
): Promise<{ readonly secret: string | undefined } | undefined> {
  const { env, findings } = around;
  const variable = `${sought.variable}${variableSuffix(sought.section)}`;
  for (const name of new Set([variableOf(key) ?? variable, variable])) {
    const [text, file] = [env[name], env[`${name}_FILE`]];
    if (text) {
      findings.cameFrom(key, name);
      return { secret: fit(sought.schema, text, "the secret", key, around) };
    }
    if (!file) continue;
    findings.cameFrom(key, `${name}_FILE`);
    return { secret: await fromFile(sought, file, key, around) };
  }
  return undefined;
}

async function fromFile(
  { schema }: Sought,
  file: string,
  key: KeyPath,
  around: SecretContext,
): Promise<string | undefined> {
  const found = await readNamedFile(file, key, around);
  return found && fit(schema, found.text.replace(/\r?\n$/, ""), found.shown, key, around);
}

/** The secret, when it can be one: not empty, on one line, of its kind. `what` names it in a message. */
function fit(
  schema: z.core.$ZodType,
  secret: string,
  what: string,
  key: KeyPath,
  { findings }: SecretContext,
): string | undefined {
  if (secret.trim() === "") findings.report(key, `${what} is empty`, "give the secret");
  else if (/\p{Cc}/u.test(secret)) {
    const message = `${what} has a line break or another control character`;
    findings.report(key, message, "give the secret alone, on one line");
  } else return readLeaf(schema, secret, key, findings) as string | undefined;
  return undefined;
}

/** The text itself, or that of the file which is named. */
async function textOf(
  schema: z.core.$ZodType,
  written: string,
  key: KeyPath,
  around: SecretContext,
): Promise<string | undefined> {
  const file = kindOf(schema)?.file;
  if (!written.includes("-----BEGIN "))
    return (await readNamedFile(written, key, around, file))?.text;
  if (file?.isSecret) reportIfOpen(key, around);
  return written;
}

function isMappingOfSecrets(schema: z.core.$ZodType): boolean {
  const { inner } = unwrap(schema);
  return inner instanceof z.ZodRecord && kindOf(inner.valueType)?.name === "secret";
}

/** Reports a secret in a configuration that others can read. */
function reportIfOpen(key: KeyPath, { config, findings }: SecretContext): void {
  if (!readableByOthers(config.mode, 0o044)) return;
  const mode = config.mode.toString(8);
  const message = `the file holds a secret, and others can read it (mode ${mode})`;
  findings.report(key, message, chmodOf(config.path));
}

/**
 * Reads a file that the configuration names; undefined, and reported, when that cannot be. A relative one is looked
 * for next to the configuration file, then among the credentials that systemd hands over in `$CREDENTIALS_DIRECTORY`, then in `secrets` next to the
 * configuration, where those credentials come from: a service must not, and root may look there.
 */
async function readNamedFile(
  written: string,
  key: KeyPath,
  { config, env, findings, files }: SecretContext,
  kind: FileKind = SECRET,
): Promise<{ readonly text: string; readonly shown: string } | undefined> {
  const places = [resolve(dirname(config.path), written)];
  const credentials = env["CREDENTIALS_DIRECTORY"];
  if (credentials && !isAbsolute(written)) places.push(join(credentials, written));
  for (const path of places) {
    const outcome = await readText(path, kind);
    if (outcome === undefined) continue;
    if ("text" in outcome) {
      files.push({ path, stamp: outcome.stamp });
      return { text: outcome.text, shown: quotedPath(path) };
    }
    findings.report(key, `${quotedPath(path)} ${outcome.message}`, outcome.fix);
    return undefined;
  }
  const kept = written.includes("/")
    ? undefined
    : await readText(join(dirname(config.path), "secrets", written), kind);
  if (kept && "text" in kept) return { text: kept.text, shown: quoted(written) };
  if (kept && !kept.message.startsWith("cannot be read")) {
    findings.report(key, `${quoted(`secrets/${written}`)} ${kept.message}`, kept.fix);
    return undefined;
  }
  const message = `there is no file ${places.map(quotedPath).join(" or ")}`;
  const mode = kind.isSecret ? ", with mode 600" : "";
  findings.report(key, message, `write the ${kind.what} into it${mode}`);
  return undefined;
}

/** A file that the configuration names, as it is written there. */
type NamedFile = { readonly written: string; readonly isCertificate: boolean };

/** Every file that a secret, a certificate or its key is read from: whatever keys the schema has for one. */
export function namedFiles(shape: FileShape): NamedFile[] {
  return sectionsIn(fileSchema, shape).flatMap(({ schema, values }) =>
    Object.entries(schema.shape).flatMap(([name, child]): NamedFile[] => {
      const written = values[name];
      if (typeof written !== "string") return [];
      const secret = secretOf(schema.shape[name.replace(/File$/, "")]);
      if (name.endsWith("File") && secret)
        return secret.need(values) === "unused" ? [] : [{ written, isCertificate: false }];
      // The text of a certificate may stand in the place of its file.
      const isCertificate = kindOf(child)?.file !== undefined && !written.includes("-----BEGIN ");
      return isCertificate ? [{ written, isCertificate }] : [];
    }),
  );
}
