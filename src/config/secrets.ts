/**
 * Where the secrets come from: the environment, else the value in the file, else the file that is named. No message
 * says anything of a secret but where it was looked for.
 */
import { z } from "zod";
import { takesSecret } from "../domain/signing.ts";
import { archivesIn, type WrittenArchive } from "./archives.ts";
import type { ChannelSecrets, Need, SecretKey } from "./channel-definition.ts";
import { isSecretIn, PREFIX, variableOf, wordsOf } from "./environment.ts";
import type { ConfigProblems, KeyPath } from "./config-problems.ts";
import { readNamedFile, reportIfOpen, type SecretContext, type SecretFile } from "./secret-file.ts";
import { kindOf, unwrap } from "./kind.ts";
import { type NotifySecrets, PING_SECRETS, writtenChannels } from "./notify.ts";
import { fileSchema, type FileShape, type Sketch } from "./file-schema.ts";
import { PEM } from "./place-kinds.ts";
import { writtenJournal } from "./written-journal.ts";

/** The secrets, as far as they were found; what is missing is reported. */
export type Secrets = {
  /** By the archive's name. */
  readonly archives: ReadonlyMap<string, ArchiveSecrets>;
  readonly webToken: string | undefined;
  /** Of a journal in PostgreSQL. */
  readonly journalPassword?: string | undefined;
  /** Absent: no one is notified. */
  readonly notify?: NotifySecrets;
  /** Those that they were read from. */
  readonly files: readonly SecretFile[];
};

/** The secrets of one archive. */
export type ArchiveSecrets = {
  readonly accountKey: string | undefined;
  readonly signingSecret: string | undefined;
};

/** What one secret is read from. */
export type SecretOrigin = {
  readonly section: KeyPath;
  readonly name: string;
  readonly value: string | undefined;
  readonly file: string | undefined;
  readonly variable: string;
  /** An address: it may stand in a file that others can read. */
  readonly isOpen?: boolean;
};

/** Of the page's token, in characters. */
const TOKEN_LENGTH_MIN = 16;

/**
 * Looks up account keys, signing secrets where the scheme takes one, the page's token and the
 * journal's password.
 */
export async function findSecrets(sketch: Sketch, around: SecretContext): Promise<Secrets> {
  const archives = new Map<string, ArchiveSecrets>();
  for (const archive of archivesIn(sketch)) {
    archives.set(archive.name, await findArchiveSecrets(archive, around));
  }
  const { web } = sketch;
  const webToken =
    web &&
    (await findSecret(
      {
        section: ["web"],
        name: "token",
        value: web.token,
        file: web.tokenFile,
        variable: "SCANFERRY_WEB_TOKEN",
      },
      // Behind a proxy everyone calls from this host.
      web.names?.length ? "required" : "optional",
      around,
    ));
  if (webToken && webToken.length < TOKEN_LENGTH_MIN) {
    const isOfVariable = around.findings.variableOf(["web", "token"]) !== undefined;
    const isOfFile = web && web.token === undefined && web.tokenFile !== undefined;
    const name = isOfFile && !isOfVariable ? "tokenFile" : "token";
    const fix = `write ${TOKEN_LENGTH_MIN} or more, e.g. what \`openssl rand -base64 24\` prints`;
    around.findings.report(
      ["web", name],
      `the token has fewer than ${TOKEN_LENGTH_MIN} characters and could be guessed`,
      fix,
    );
  }
  const journalPassword = await findJournalPassword(sketch.journal, around);
  const notify = await findNotifySecrets(sketch, around);
  return { archives, webToken, journalPassword, notify, files: around.files };
}

/** Of a journal in PostgreSQL; it may have none. */
async function findJournalPassword(
  journal: Sketch["journal"],
  around: SecretContext,
): Promise<string | undefined> {
  const { url, passwordFile: file } = writtenJournal(journal);
  const origin = {
    section: ["journal"],
    name: "password",
    value: url?.password,
    file,
    variable: "SCANFERRY_JOURNAL_PASSWORD",
  };
  return findSecret(origin, url === undefined ? "unused" : "optional", around);
}

/** Passwords, signing secrets, tokens and addresses of the channels. */
async function findNotifySecrets(
  { notify }: Sketch,
  around: SecretContext,
): Promise<NotifySecrets> {
  const channels: ChannelSecrets[] = [];
  for (const { way, channel, key } of writtenChannels(notify)) {
    channels.push(await findAll(way.secrets(channel), way.by, channel, key, around));
    for (const [name, schema] of Object.entries(way.schema.shape)) {
      const values: object = channel[name] ?? {};
      const isMapping = unwrap(schema).inner instanceof z.ZodRecord;
      if (isMapping && Object.keys(values).length > 0) reportIfOpen([...key, name], around);
    }
  }
  const ping = await findAll(PING_SECRETS, "ping", notify?.ping ?? {}, ["notify", "ping"], around);
  return { channels, ping };
}

/** The secrets of one section; their variables are named after it. */
async function findAll(
  keys: readonly SecretKey[],
  by: string,
  written: Readonly<Record<string, unknown>>,
  section: KeyPath,
  around: SecretContext,
): Promise<ChannelSecrets> {
  const found: Record<string, string | undefined> = {};
  for (const { name, need, isAddress: isOpen = false } of keys) {
    const [value, file] = [written[name], written[`${name}File`]] as (string | undefined)[];
    const variable = `${PREFIX}${[by, name].flatMap(wordsOf).join("_")}`;
    const secret = await findSecret({ section, name, value, file, variable, isOpen }, need, around);
    // What came from a file or the environment has passed no check yet.
    const isFit =
      !isOpen ||
      secret === value ||
      (/^https?:\/\/[^\s@\\]+$/i.test(secret ?? "") && URL.canParse(secret ?? ""));
    if (secret !== undefined && !isFit)
      around.findings.report(
        [...section, name],
        "is not an http or https URL",
        "write https://HOST/PATH",
      );
    found[name] = secret;
  }
  return found;
}

/** Those of one of several have variables of their own: another account's key must not be tried. */
async function findArchiveSecrets(
  { name, key, section }: WrittenArchive,
  around: SecretContext,
): Promise<ArchiveSecrets> {
  const suffix = variableSuffix(key, name);
  const { accountKey: value, accountKeyFile: file, signing } = section;
  const variable = `SCANFERRY_ACCOUNT_KEY${suffix}`;
  const accountKey = await findSecret(
    { section: key, name: "accountKey", value, file, variable },
    "required",
    around,
  );
  const signingSecret =
    signing &&
    (await findSecret(
      {
        section: [...key, "signing"],
        name: "secret",
        value: signing.secret,
        file: signing.secretFile,
        variable: `SCANFERRY_SIGNING_SECRET${suffix}`,
      },
      takesSecret(signing.scheme) ? "required" : "unused",
      around,
    ));
  return { accountKey, signingSecret };
}

/** What ends the names of an archive's variables: nothing where it is the only one, else its own name. */
export function variableSuffix(key: KeyPath, name: string): string {
  return key.length === 1 ? "" : `_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** One secret; undefined when it is missing, or when something is wrong with it. */
export async function findSecret(
  origin: SecretOrigin,
  need: Need,
  around: SecretContext,
): Promise<string | undefined> {
  const { findings } = around;
  const key = [...origin.section, origin.name];
  const fileKey = [...origin.section, `${origin.name}File`];
  const isAsked = need !== "unused";
  // A variable has no place in the file, and none for each entry of a list: there it is what is left.
  const isEntry = origin.section.some((part) => typeof part === "number");
  if (isAsked && !isEntry) {
    const found = await fromEnvironment(origin, key, around);
    if (found) return found.secret;
  }
  if (origin.value !== undefined && origin.file !== undefined) {
    const fix = `keep one of ${origin.name} and ${origin.name}File`;
    findings.report(fileKey, `is given next to ${origin.name}`, fix);
  }
  if (origin.value !== undefined) {
    if (!origin.isOpen) reportIfOpen(key, around);
    return fit(origin.value, "the secret", key, findings);
  }
  if (!isAsked || findings.has(key) || findings.has(fileKey)) return undefined;
  if (origin.file !== undefined) {
    const found = await readNamedFile(origin.file, fileKey, around);
    return found && fit(found.text.replace(/\r?\n$/, ""), found.shown, fileKey, findings);
  }
  const found = isEntry ? await fromEnvironment(origin, key, around) : undefined;
  if (found || need === "optional") return found?.secret;
  const fix = `write ${origin.name} or ${origin.name}File, or set $${origin.variable}`;
  findings.report(key, "is missing", fix);
  return undefined;
}

/** What a variable says, or the file that a variable names; undefined where none is set. */
async function fromEnvironment(
  { variable }: SecretOrigin,
  key: KeyPath,
  around: SecretContext,
): Promise<{ readonly secret: string | undefined } | undefined> {
  const { env, findings } = around;
  for (const name of new Set([variableOf(key) ?? variable, variable])) {
    const text = env[name];
    if (text) {
      findings.cameFrom(key, name);
      return { secret: fit(text, "the secret", key, findings) };
    }
    const file = env[`${name}_FILE`];
    if (!file) continue;
    findings.cameFrom(key, `${name}_FILE`);
    const found = await readNamedFile(file, key, around);
    const secret = found && fit(found.text.replace(/\r?\n$/, ""), found.shown, key, findings);
    return { secret };
  }
  return undefined;
}

/** The secret, when it can be one: not empty, on one line. `what` names it in a message. */
function fit(
  secret: string,
  what: string,
  key: KeyPath,
  findings: ConfigProblems,
): string | undefined {
  if (secret.trim() === "") findings.report(key, `${what} is empty`, "give the secret");
  else if (/\p{Cc}/u.test(secret)) {
    const message = `${what} has a line break or another control character`;
    findings.report(key, message, "give the secret alone, on one line");
  } else return secret;
  return undefined;
}

/** A file that the configuration names, as it is written there. */
type NamedFile = { readonly written: string; readonly isCertificate: boolean };

/** Every file that a secret, a certificate or its key is read from: whatever keys the schema has for one. */
export function namedFiles(shape: FileShape): NamedFile[] {
  return namedIn(fileSchema, shape, false);
}

function namedIn(schema: z.core.$ZodType, value: unknown, isSecretFile: boolean): NamedFile[] {
  const { inner } = unwrap(schema);
  if (typeof value === "string") {
    // The text of a certificate may stand in the place of its file.
    const isCertificate = kindOf(inner)?.name === PEM && !value.includes("-----BEGIN ");
    return isSecretFile || isCertificate ? [{ written: value, isCertificate }] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  if (inner instanceof z.ZodUnion)
    return inner.options
      .filter((option) => option instanceof z.ZodObject)
      .flatMap((option) => namedIn(option, value, isSecretFile));
  if (inner instanceof z.ZodArray || inner instanceof z.ZodRecord) {
    const item = inner instanceof z.ZodArray ? inner.element : inner.valueType;
    return Object.values(value).flatMap((each) => namedIn(item, each, isSecretFile));
  }
  if (!(inner instanceof z.ZodObject)) return [];
  const { scheme } = value as { scheme?: Parameters<typeof takesSecret>[0] };
  if (scheme !== undefined && !takesSecret(scheme)) return [];
  const names = Object.keys(inner.shape);
  return Object.entries(inner.shape).flatMap(([name, child]) =>
    namedIn(
      child,
      (value as Readonly<Record<string, unknown>>)[name],
      name.endsWith("File") && isSecretIn(name, names),
    ),
  );
}
