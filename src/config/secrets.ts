/**
 * Where the secrets come from: the value in the file, else the file that is named, else the
 * environment. No message tells anything of a secret but where it was looked for.
 */
import { constants, open } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { takesSecret } from "../domain/signing.ts";
import { codeOf } from "../std/fault.ts";
import { shellWord } from "../std/shell-word.ts";
import { archivesIn, type WrittenArchive } from "./archives.ts";
import type { ConfigFile } from "./config-file.ts";
import type { Findings, Key } from "./findings.ts";
import { quoted, quotedPath } from "./quoted.ts";
import { type SecretFile, stampOf } from "./secret-file.ts";
import type { Sketch } from "./schema.ts";
import { writtenJournal } from "./written-journal.ts";

/** The secrets, as far as they were found; what is missing is reported. */
export type Secrets = {
  /** By the archive's name. */
  readonly archives: ReadonlyMap<string, ArchiveSecrets>;
  readonly webToken: string | undefined;
  /** Of a journal in PostgreSQL. */
  readonly journalPassword?: string | undefined;
  /** Those that they were read from. */
  readonly files: readonly SecretFile[];
};

/** The secrets of one archive. */
export type ArchiveSecrets = {
  readonly accountKey: string | undefined;
  readonly signingSecret: string | undefined;
};

/** Whether a secret has to be there; one that is not used is not looked for. */
export type Need = "required" | "optional" | "unused";

/** What one secret is read from. */
export type Origin = {
  readonly section: Key;
  readonly name: string;
  readonly value: string | undefined;
  readonly file: string | undefined;
  readonly variable: string;
  /** An address: it may stand in a file that others can read. */
  readonly isOpen?: boolean;
};

/** What every look-up needs to know. */
export type Surroundings = {
  readonly config: ConfigFile;
  readonly env: NodeJS.ProcessEnv;
  readonly findings: Findings;
  /** Where each file that was read is noted. */
  readonly files: SecretFile[];
};

/** Far more than any secret has: a larger file was named by mistake. */
const SECRET_BYTES_MAX = 64 * 1024;

/** Of the page's token, in characters. */
const TOKEN_LENGTH_MIN = 16;

/** Opening a named pipe would wait for its writer; this way it is opened, and refused. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Looks up account keys, signing secrets where the scheme takes one, the page's token and the
 * journal's password.
 */
export async function findSecrets(sketch: Sketch, around: Surroundings): Promise<Secrets> {
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
      // Behind a proxy everybody calls from this host.
      web.names?.length ? "required" : "optional",
      around,
    ));
  if (webToken && webToken.length < TOKEN_LENGTH_MIN) {
    const name =
      web && web.token === undefined && web.tokenFile !== undefined ? "tokenFile" : "token";
    const mend = `write ${TOKEN_LENGTH_MIN} or more, e.g. what \`openssl rand -base64 24\` prints`;
    around.findings.report(
      ["web", name],
      `the token has fewer than ${TOKEN_LENGTH_MIN} characters and could be guessed`,
      mend,
    );
  }
  const journalPassword = await findJournalPassword(sketch.journal, around);
  return { archives, webToken, journalPassword, files: around.files };
}

/** Of a journal in PostgreSQL; it may have none. */
async function findJournalPassword(
  journal: Sketch["journal"],
  around: Surroundings,
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

/** Those of one of several have variables of their own: another account's key must not be tried. */
async function findArchiveSecrets(
  { name, key, section }: WrittenArchive,
  around: Surroundings,
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
export function variableSuffix(key: Key, name: string): string {
  return key.length === 1 ? "" : `_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** One secret; undefined when it is missing, or when something is wrong with it. */
export async function findSecret(
  origin: Origin,
  need: Need,
  around: Surroundings,
): Promise<string | undefined> {
  const { findings, env } = around;
  const key = [...origin.section, origin.name];
  const fileKey = [...origin.section, `${origin.name}File`];
  if (origin.value !== undefined && origin.file !== undefined) {
    const mend = `keep one of ${origin.name} and ${origin.name}File`;
    findings.report(fileKey, `is given beside ${origin.name}`, mend);
  }
  if (origin.value !== undefined) {
    if (!origin.isOpen) reportIfOpen(key, around);
    return fit(origin.value, "the secret", key, findings);
  }
  if (need === "unused" || findings.has(key) || findings.has(fileKey)) return undefined;
  if (origin.file !== undefined) {
    const found = await readNamedFile(origin.file, fileKey, around);
    return found && fit(found.text.replace(/\r?\n$/, ""), found.shown, fileKey, findings);
  }
  const fromEnv = env[origin.variable];
  if (fromEnv) return fit(fromEnv, `$${origin.variable}`, key, findings);
  if (need === "optional") return undefined;
  const mend = `write ${origin.name} or ${origin.name}File, or set $${origin.variable}`;
  findings.report(key, "is missing", mend);
  return undefined;
}

/** Reports a secret in a configuration that others can read. */
export function reportIfOpen(key: Key, { config, findings }: Surroundings): void {
  if (!readableByOthers(config.mode, 0o044)) return;
  const mode = config.mode.toString(8);
  const message = `the file holds a secret, and others can read it (mode ${mode})`;
  findings.report(key, message, chmodOf(config.path));
}

/** What may be in a file, and who may read it. */
export type FileKind = {
  readonly what: string;
  readonly isSecret: boolean;
  readonly bytesMax: number;
};

const SECRET: FileKind = { what: "secret", isSecret: true, bytesMax: SECRET_BYTES_MAX };

/**
 * Reads a file that the configuration names; undefined, and reported, when that cannot be. A relative one is looked for beside the configuration file, then among the
 * credentials that systemd hands over in `$CREDENTIALS_DIRECTORY`, then in `secrets` beside the
 * configuration, where those credentials come from: a service must not, and root may look there.
 */
export async function readNamedFile(
  written: string,
  key: Key,
  { config, env, findings, files }: Surroundings,
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
    findings.report(key, `${quotedPath(path)} ${outcome.message}`, outcome.mend);
    return undefined;
  }
  const kept = written.includes("/")
    ? undefined
    : await readText(join(dirname(config.path), "secrets", written), kind);
  if (kept && "text" in kept) return { text: kept.text, shown: quoted(written) };
  if (kept && !kept.message.startsWith("cannot be read")) {
    findings.report(key, `${quoted(`secrets/${written}`)} ${kept.message}`, kept.mend);
    return undefined;
  }
  const message = `there is no file ${places.map(quotedPath).join(" or ")}`;
  const mode = kind.isSecret ? ", with mode 600" : "";
  findings.report(key, message, `write the ${kind.what} into it${mode}`);
  return undefined;
}

/** What was read, or what is wrong and the mend. */
export type ReadOutcome =
  | { readonly text: string; readonly stamp: string }
  | { readonly message: string; readonly mend: string };

/** Reads a small file; a secret may be read by its owner, and a group, alone. Undefined when there is no such file. */
export async function readText(
  path: string,
  kind: FileKind = SECRET,
): Promise<ReadOutcome | undefined> {
  const { what, isSecret, bytesMax } = kind;
  try {
    await using handle = await open(path, OPEN_FLAGS);
    const stat = await handle.stat({ bigint: true });
    const mode = Number(stat.mode);
    if (!stat.isFile()) return { message: "is not a file", mend: `name the file with the ${what}` };
    if (stat.size > bytesMax) {
      return {
        message: `is too large for a ${what}`,
        mend: `name the file with the ${what} alone`,
      };
    }
    if (isSecret && readableByOthers(mode, 0o004)) {
      const shown = (mode & 0o777).toString(8);
      return { message: `can be read by everyone (mode ${shown})`, mend: chmodOf(path) };
    }
    const bytes = await handle.readFile();
    // The decoder drops the byte order mark that some editors put first.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { text, stamp: stampOf(stat) };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (error instanceof TypeError) {
      return { message: "is not UTF-8 text", mend: `write the ${what} as text` };
    }
    return { message: `cannot be read (${code ?? "unknown error"})`, mend: "make it readable" };
  }
}

/** The secret, when it can be one: not empty, on one line. `what` names it in a message. */
function fit(secret: string, what: string, key: Key, findings: Findings): string | undefined {
  if (secret.trim() === "") findings.report(key, `${what} is empty`, "give the secret");
  else if (/\p{Cc}/u.test(secret)) {
    const message = `${what} has a line break or another control character`;
    findings.report(key, message, "give the secret alone, on one line");
  } else return secret;
  return undefined;
}

/** Windows keeps no such bits: every file there looks readable by everyone. */
function readableByOthers(mode: number, bits: number): boolean {
  return process.platform !== "win32" && (mode & bits) !== 0;
}

/** The command as it can be pasted into a shell. */
function chmodOf(path: string): string {
  return `chmod 600 ${shellWord(path)}`;
}
