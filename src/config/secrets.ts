/**
 * Where the secrets come from: the value in the file, else the file that is named, else the
 * environment. No message tells anything of a secret but where it was looked for.
 */
import { constants, open } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
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

/** Opening a named pipe would wait for its writer; this way it is opened, and refused. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Looks up account keys, signing secrets where the scheme is `hmac`, the page's token and the
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
  const isSingle = key.length === 1;
  const suffix = isSingle ? "" : `_${name.toUpperCase().replaceAll("-", "_")}`;
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
      signing.scheme === "hmac" ? "required" : "unused",
      around,
    ));
  return { accountKey, signingSecret };
}

/** One secret; undefined when it is missing, or when something is wrong with it. */
export async function findSecret(
  origin: Origin,
  need: Need,
  around: Surroundings,
): Promise<string | undefined> {
  const { findings, config, env } = around;
  const key = [...origin.section, origin.name];
  const fileKey = [...origin.section, `${origin.name}File`];
  if (origin.value !== undefined && origin.file !== undefined) {
    const mend = `keep one of ${origin.name} and ${origin.name}File`;
    findings.report(fileKey, `is given beside ${origin.name}`, mend);
  }
  if (origin.value !== undefined) {
    if (!origin.isOpen && readableByOthers(config.mode, 0o044)) {
      const mode = config.mode.toString(8);
      const message = `the file holds a secret, and others can read it (mode ${mode})`;
      findings.report(key, message, chmodOf(config.path));
    }
    return fit(origin.value, "the secret", key, findings);
  }
  if (need === "unused" || findings.has(key) || findings.has(fileKey)) return undefined;
  if (origin.file !== undefined) return readSecretFile(origin.file, fileKey, around);
  const fromEnv = env[origin.variable];
  if (fromEnv) return fit(fromEnv, `$${origin.variable}`, key, findings);
  if (need === "optional") return undefined;
  const mend = `write ${origin.name} or ${origin.name}File, or set $${origin.variable}`;
  findings.report(key, "is missing", mend);
  return undefined;
}

/**
 * Reads a secret file. A relative one is looked for beside the configuration file, then among the
 * credentials that systemd hands over in `$CREDENTIALS_DIRECTORY`, then in `secrets` beside the
 * configuration, where those credentials come from: a service must not, and root may look there.
 */
async function readSecretFile(
  written: string,
  key: Key,
  { config, env, findings, files }: Surroundings,
): Promise<string | undefined> {
  const places = [resolve(dirname(config.path), written)];
  const credentials = env["CREDENTIALS_DIRECTORY"];
  if (credentials && !isAbsolute(written)) places.push(join(credentials, written));
  for (const path of places) {
    const outcome = await readSecret(path);
    if (outcome === undefined) continue;
    if ("secret" in outcome) {
      files.push({ path, stamp: outcome.stamp });
      return fit(outcome.secret, quotedPath(path), key, findings);
    }
    findings.report(key, `${quotedPath(path)} ${outcome.message}`, outcome.mend);
    return undefined;
  }
  const kept = written.includes("/")
    ? undefined
    : await readSecret(join(dirname(config.path), "secrets", written));
  if (kept && "secret" in kept) return fit(kept.secret, quoted(written), key, findings);
  if (kept && !kept.message.startsWith("cannot be read")) {
    findings.report(key, `${quoted(`secrets/${written}`)} ${kept.message}`, kept.mend);
    return undefined;
  }
  const message = `there is no file ${places.map(quotedPath).join(" or ")}`;
  findings.report(key, message, "write the secret into it, with mode 600");
  return undefined;
}

type SecretOutcome =
  | { readonly secret: string; readonly stamp: string }
  | { readonly message: string; readonly mend: string };

/** Undefined when there is no such file. */
async function readSecret(path: string): Promise<SecretOutcome | undefined> {
  try {
    await using handle = await open(path, OPEN_FLAGS);
    const stat = await handle.stat({ bigint: true });
    const mode = Number(stat.mode);
    if (!stat.isFile()) return { message: "is not a file", mend: "name the file with the secret" };
    if (stat.size > SECRET_BYTES_MAX) {
      return { message: "is too large for a secret", mend: "name the file with the secret alone" };
    }
    if (readableByOthers(mode, 0o004)) {
      const shown = (mode & 0o777).toString(8);
      return { message: `can be read by everyone (mode ${shown})`, mend: chmodOf(path) };
    }
    const bytes = await handle.readFile();
    // The decoder drops the byte order mark that some editors put first.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { secret: text.replace(/\r?\n$/, ""), stamp: stampOf(stat) };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (error instanceof TypeError) {
      return { message: "is not UTF-8 text", mend: "write the secret as text" };
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
