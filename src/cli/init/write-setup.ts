import { open, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { assertUsable } from "../../config/load-config.ts";
import { isUnchangedStarter, starterConfig } from "../../config/starter.ts";
import { replaceFile } from "../../std/durable.ts";
import { codeOf, Fault, UsageError } from "../../std/fault.ts";
import { makeDirectory } from "../../std/make-directory.ts";
import { SECRET_SCHEMES, type Signing } from "../../domain/signing.ts";

/** Writes what `init` has found out: the configuration, and each secret into a file of its own. */

/** A secret may still be written into it by hand: nobody else reads it. */
const UNFINISHED_MODE = 0o600;
/** It holds none, and a service of another user has to read it. */
const FINISHED_MODE = 0o644;
const SECRET_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Next to the configuration; the service's drop-in takes them from there. */
const SECRETS = "secrets";
const ACCOUNT_KEY = "account.key";
const SIGNING_SECRET = "signing.secret";

/**
 * False where no file is, true where it is a starter that the user has not changed: it may be replaced.
 * Throws `UsageError` where another file is in the way.
 */
export async function assertFree(path: string): Promise<boolean> {
  const there = await stat(path).catch(() => undefined);
  if (!there) return false;
  if (isUnchangedStarter(await readFile(path, "utf8").catch(() => ""))) return true;
  throw new UsageError(`${path} exists; --force overwrites it`);
}

/** Resolves with the files, the configuration first. Throws `ConfigError` for what is of no use. */
export async function writeSetup(path: string, setup: Setup, force: boolean): Promise<string[]> {
  const { accountKey, signingSecret, scheme, algorithm, encoding, ...places } = setup;
  const secrets = [
    ...(accountKey === undefined ? [] : [{ name: ACCOUNT_KEY, text: accountKey }]),
    ...(signingSecret === undefined ? [] : [{ name: SIGNING_SECRET, text: signingSecret }]),
  ];
  const isFinished = accountKey !== undefined && (signingSecret !== undefined || scheme === "none");
  const text = starterConfig({
    ...defined(places),
    ...(accountKey === undefined ? {} : { accountKeyFile: ACCOUNT_KEY }),
    ...(signingSecret === undefined ? {} : { secretFile: SIGNING_SECRET }),
    signing: { scheme: scheme ?? "hmac", ...defined({ algorithm, encoding }) },
  });
  assertUsable(path, text);
  const folder = join(dirname(path), SECRETS);
  const files = [path, ...secrets.map(({ name }) => join(folder, name))];
  let isStarter = false;
  if (!force) for (const file of files) isStarter = (await assertFree(file)) || isStarter;
  make(dirname(path));
  if (secrets.length > 0) make(folder, FOLDER_MODE);
  for (const secret of secrets) {
    await write(join(folder, secret.name), `${secret.text}\n`, SECRET_MODE, force);
  }
  await write(path, text, isFinished ? FINISHED_MODE : UNFINISHED_MODE, force || isStarter);
  return files;
}

/** What is not undefined. */
function defined<T extends object>(some: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(some).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function make(folder: string, mode?: number): void {
  try {
    makeDirectory(folder, mode);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

async function write(path: string, text: string, mode: number, force: boolean): Promise<void> {
  try {
    if (force) return await replaceFile(path, text, mode);
    await using file = await open(path, "wx", mode);
    await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw new UsageError(`${path} exists; --force overwrites it`);
    throw unwritable(path, error);
  }
}

function unwritable(path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const hint = "Name another place with --config.";
  return new Fault("CONFIG_UNWRITABLE", `${path} cannot be written (${code})`, hint);
}

/** How requests may be signed, as far as `init` sets it up. */
export const SCHEMES = [...SECRET_SCHEMES, "none"] as const;

type Scheme = (typeof SCHEMES)[number];

/** What `init` is to set up, as far as options, environment and answers say. */
export type Setup = {
  readonly source?: string | undefined;
  readonly target?: string | undefined;
  readonly url?: string | undefined;
  readonly journal?: string | undefined;
  readonly receipts?: string | undefined;
  readonly scheme?: Scheme | undefined;
  readonly algorithm?: string | undefined;
  readonly encoding?: "base64" | "hex" | undefined;
  /** Secrets, which go to files of their own. */
  readonly accountKey?: string | undefined;
  readonly signingSecret?: string | undefined;
};

/** What a request needs, when it is all known. */
export type ArchiveAccess = {
  readonly url: string;
  readonly accountKey: string;
  readonly signing: Signing;
};

/** Undefined while something is missing. */
export function credentialsOf(setup: Setup): ArchiveAccess | undefined {
  const { url, accountKey, signingSecret: secret } = setup;
  const { scheme = "hmac", algorithm = "sha256", encoding = "base64" } = setup;
  if (url === undefined || accountKey === undefined) return undefined;
  if (scheme === "none") return { url, accountKey, signing: { scheme } };
  if (secret === undefined) return undefined;
  return { url, accountKey, signing: { scheme, algorithm, encoding, secret } };
}
