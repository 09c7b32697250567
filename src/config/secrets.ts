/**
 * Where secrets come from: a variable, else the value in the file, else the file that is named; and certificates, which
 * a file may hold, too. No message says anything of a secret but where it was looked for.
 */
import { dirname, isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { quoted, quotedPath } from "../std/printable.ts";
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
import { variablesOf } from "./environment.ts";
import { declared, type Need, type Secret, sectionsIn, unwrap, type Values } from "./kind.ts";
import { readLeaf } from "./read-file-shape.ts";

/** What every look-up needs to know. */
type SecretContext = {
  readonly config: ConfigFile;
  readonly env: NodeJS.ProcessEnv;
  readonly findings: ConfigProblems;
};

/**
 * Puts every secret that is used, and the text of every certificate, in the place of its key; reports what is missing.
 * Resolves with the files that were read.
 */
export async function fillSecrets(
  sketch: FileSketch,
  around: SecretContext,
): Promise<readonly StampedFile[]> {
  const search = new SecretSearch(around);
  for (const { schema, key, values } of sectionsIn(fileSchema, sketch))
    for (const [name, child] of Object.entries(schema.shape)) {
      const place = [...key, name];
      const written = values[name];
      const secret = declared(child).secret;
      if (secret) {
        const found = { ...secret, schema: unwrap(child).inner, section: key, name };
        values[name] = await search.secret(found, values);
      } else if (declared(child).kind?.file && typeof written === "string")
        values[name] = await search.text(child, written, place);
      else if (isMappingOfSecrets(child) && Object.keys(written ?? {}).length > 0)
        search.reportIfOpen(place);
    }
  return search.files;
}

function isMappingOfSecrets(schema: z.core.$ZodType): boolean {
  const { inner } = unwrap(schema);
  return inner instanceof z.ZodRecord && declared(inner.valueType).kind?.name === "secret";
}

/** A secret that is looked for, and where. */
type Sought = Secret & {
  readonly schema: z.core.$ZodType;
  readonly section: KeyPath;
  readonly name: string;
};

class SecretSearch {
  /** Those that were read. */
  readonly files: StampedFile[] = [];
  readonly #around: SecretContext;
  readonly #findings: ConfigProblems;

  constructor(around: SecretContext) {
    this.#around = around;
    this.#findings = around.findings;
  }

  /** One secret; undefined when it is missing, or when something is wrong with it. */
  async secret(sought: Sought, values: Values): Promise<string | undefined> {
    const { section, name, schema } = sought;
    const at = this.#findings.at(...section);
    const [key, fileName] = [[...section, name], `${name}File`];
    const [value, file] = [values[name], values[fileName]] as (string | undefined)[];
    const need: Need = sought.need(values);
    // A variable has no place in the file, and none for each entry of a list: there it is what is left.
    const isEntry = section.some((part) => typeof part === "number");
    if (need !== "unused" && !isEntry) {
      const found = await this.#fromEnvironment(sought, key);
      if (found) return found.secret;
    }
    if (value !== undefined && file !== undefined)
      at.report(fileName, `is given next to ${name}`, `keep one of ${name} and ${fileName}`);
    if (value !== undefined) {
      if (!sought.isOpen(value)) this.reportIfOpen(key);
      return this.#fit(schema, value, "the secret", key);
    }
    if (need === "unused" || at.has(name) || at.has(fileName)) return undefined;
    if (file !== undefined) return this.#fromFile(sought, file, [...section, fileName]);
    const found = isEntry ? await this.#fromEnvironment(sought, key) : undefined;
    if (found || need === "optional") return found?.secret;
    const variable = variablesOf(sought, key).at(-1);
    at.report(name, "is missing", `write ${name} or ${fileName}, or set $${variable}`);
    return undefined;
  }

  /** The text itself, or that of the file which is named. */
  async text(schema: z.core.$ZodType, written: string, key: KeyPath): Promise<string | undefined> {
    const file = declared(schema).kind?.file;
    if (!written.includes("-----BEGIN ")) return (await this.#read(written, key, file))?.text;
    if (file?.isSecret) this.reportIfOpen(key);
    return written;
  }

  /** Reports a secret in a configuration that others can read. */
  reportIfOpen(key: KeyPath): void {
    const { mode, path } = this.#around.config;
    if (!readableByOthers(mode, 0o044)) return;
    const message = `the file holds a secret, and others can read it (mode ${mode.toString(8)})`;
    this.#findings.report(key, message, chmodOf(path));
  }

  /** What a variable says, or the file that a variable names; undefined where none is set. */
  async #fromEnvironment(
    sought: Sought,
    key: KeyPath,
  ): Promise<{ readonly secret: string | undefined } | undefined> {
    const { env } = this.#around;
    for (const name of variablesOf(sought, key)) {
      const [text, file] = [env[name], env[`${name}_FILE`]];
      if (!text && !file) continue;
      if (text && file)
        this.#findings.reportVariable(
          `${name}_FILE`,
          `is set next to ${name}`,
          "remove one of them",
        );
      this.#findings.cameFrom(key, text ? name : `${name}_FILE`);
      return {
        secret: text
          ? this.#fit(sought.schema, text, "the secret", key)
          : await this.#fromFile(sought, file ?? "", key),
      };
    }
    return undefined;
  }

  async #fromFile({ schema }: Sought, file: string, key: KeyPath): Promise<string | undefined> {
    const found = await this.#read(file, key);
    return found && this.#fit(schema, found.text.replace(/\r?\n$/, ""), found.shown, key);
  }

  /** The secret, when it can be one: not empty, on one line, of its kind. `what` names it in a message. */
  #fit(schema: z.core.$ZodType, secret: string, what: string, key: KeyPath): string | undefined {
    const isEmpty = secret.trim() === "";
    if (!isEmpty && !/\p{Cc}/u.test(secret))
      return readLeaf(schema, secret, key, this.#findings) as string | undefined;
    if (isEmpty) this.#findings.report(key, `${what} is empty`, "give the secret");
    else {
      const message = `${what} has a line break or another control character`;
      this.#findings.report(key, message, "give the secret alone, on one line");
    }
    return undefined;
  }

  /**
   * Reads a file that the configuration names; undefined, and reported, when that cannot be. A relative one is looked
   * for next to the configuration file, then among the credentials that systemd hands over in `$CREDENTIALS_DIRECTORY`,
   * then in `secrets` next to the configuration, where those credentials come from: a service must not, and root may
   * look there.
   */
  async #read(
    written: string,
    key: KeyPath,
    kind: FileKind = SECRET,
  ): Promise<{ readonly text: string; readonly shown: string } | undefined> {
    const { config, env } = this.#around;
    const folder = dirname(config.path);
    const places = [resolve(folder, written)];
    const credentials = env["CREDENTIALS_DIRECTORY"];
    if (credentials && !isAbsolute(written)) places.push(join(credentials, written));
    for (const path of places) {
      const outcome = await readText(path, kind);
      if (outcome === undefined) continue;
      if ("text" in outcome) {
        this.files.push({ path, stamp: outcome.stamp });
        return { text: outcome.text, shown: quotedPath(path) };
      }
      this.#findings.report(key, `${quotedPath(path)} ${outcome.message}`, outcome.fix);
      return undefined;
    }
    const keptAt = join(folder, "secrets", written);
    const kept = written.includes("/") ? undefined : await readText(keptAt, kind);
    if (kept && "text" in kept) {
      this.files.push({ path: keptAt, stamp: kept.stamp });
      return { text: kept.text, shown: quoted(written) };
    }
    if (kept && !kept.message.startsWith("cannot be read")) {
      this.#findings.report(key, `${quoted(`secrets/${written}`)} ${kept.message}`, kept.fix);
      return undefined;
    }
    const message = `there is no file ${places.map(quotedPath).join(" or ")}`;
    const mode = kind.isSecret ? ", with mode 600" : "";
    this.#findings.report(key, message, `write the ${kind.what} into it${mode}`);
    return undefined;
  }
}

/** A file that the configuration names, as it is written there. */
type NamedFile = { readonly written: string; readonly isCertificate: boolean };

/** Every file that a secret, a certificate or its key is read from: whatever keys the schema has for one. */
export function namedFiles(shape: FileShape): NamedFile[] {
  return sectionsIn(fileSchema, shape).flatMap(({ schema, values }) =>
    Object.entries(schema.shape).flatMap(([name, child]): NamedFile[] => {
      const written = values[name];
      if (typeof written !== "string") return [];
      const value = schema.shape[name.replace(/File$/, "")];
      const secret = value && declared(value).secret;
      if (name.endsWith("File") && secret)
        return secret.need(values) === "unused" ? [] : [{ written, isCertificate: false }];
      // The text of a certificate may stand in the place of its file.
      const isCertificate =
        declared(child).kind?.file !== undefined && !written.includes("-----BEGIN ");
      return isCertificate ? [{ written, isCertificate }] : [];
    }),
  );
}
