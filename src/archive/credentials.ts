import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import {
  type SecretScheme,
  type SecretSigning,
  type Signing,
  signingSecretsOf,
} from "../domain/signing.ts";
import { Fault, messageOf } from "../std/fault.ts";
import { ArchiveError } from "./archive-error.ts";
import { Deadline, type Transport } from "./exchange.ts";
import type { Upload } from "./archive.ts";

const OVER = new Error("the signature is made");

/** A request that is to be signed: the operation's path, below the base address, and what it carries. */
export type Unsigned = {
  readonly path: string;
  readonly fields: readonly RequestField[];
  /** Of an upload: its file's digest. */
  readonly sha256?: Upload["sha256"];
};

/** What a request carries, and what of it must never come out in an error. */
export type Signed = { fields: RequestField[]; secrets: readonly string[] };

/** The account key and the means to sign with (Authentication 1). */
export class Credentials {
  readonly #accountKey: string;
  readonly #signer: Signer;
  readonly #secrets: readonly string[];

  constructor(accountKey: string, signer: Signer, secrets: readonly string[]) {
    this.#accountKey = accountKey;
    this.#signer = signer;
    this.#secrets = secrets;
  }

  /** Whether a signature is good for a time only, by the archive's clock. */
  get isDated(): boolean {
    return this.#signer.isDated ?? false;
  }

  /** The fields with `acc_key` and `sig`. Rejects with `notSent` when there is no signature. */
  async sign(
    { path, fields, sha256 }: Unsigned,
    line: Pick<Transport, "clock" | "timeoutMs">,
    signal: AbortSignal,
  ): Promise<Signed> {
    const keyed: RequestField[] = [...fields, ["acc_key", this.#accountKey]];
    if (this.isDated) {
      if (sha256) keyed.push(["sig_file", await sha256()]);
      keyed.push(["sig_time", String(line.clock.now())]);
    }
    const sig = await this.#signature(keyed, path, line, signal);
    if (typeof sig !== "string" || sig === "" || !sig.isWellFormed()) {
      throw new ArchiveError("notSent", "SIGNING_FAILED", "the signing module returned no text");
    }
    return { fields: [...keyed, ["sig", sig]], secrets: [...this.#secrets, sig] };
  }

  async #signature(
    fields: readonly RequestField[],
    path: string,
    line: Pick<Transport, "clock" | "timeoutMs">,
    signal: AbortSignal,
  ): Promise<unknown> {
    try {
      const made = this.#signer.sign(fields, path);
      return typeof made === "string" ? made : await inTime(made, line, signal);
    } catch (error) {
      if (signal.aborted) {
        throw new ArchiveError(
          "notSent",
          "SEND_ABORTED",
          "asked to stop before anything was sent",
          {
            cause: signal.reason,
          },
        );
      }
      const message = `the signing module failed: ${this.#redacted(messageOf(error))}`;
      throw new ArchiveError("notSent", "SIGNING_FAILED", message);
    }
  }

  /** The module's own words, which may hold what it was given. */
  #redacted(text: string): string {
    return this.#secrets.reduce((left, secret) => left.replaceAll(secret, "[redacted]"), text);
  }
}

/** What a module's promise resolves with; rejects when that takes too long. */
async function inTime(
  made: Promise<string>,
  { clock, timeoutMs }: Pick<Transport, "clock" | "timeoutMs">,
  signal: AbortSignal,
): Promise<string> {
  const over = new AbortController();
  const late = new Deadline(clock, timeoutMs).passed(AbortSignal.any([over.signal, signal]));
  // Anyone who loses the race may still reject, with nobody left to hear it.
  late.catch(() => {});
  try {
    return await Promise.race([
      made,
      late.then(() => {
        throw new Error(`took longer than ${timeoutMs} ms`);
      }),
    ]);
  } finally {
    over.abort(OVER);
  }
}

/** Puts the signer together with the account key. */
export function credentialsOf(accountKey: string, signing: Signing, signer: Signer): Credentials {
  const secrets = [accountKey, ...signingSecretsOf(signing)];
  const known = secrets.filter((secret) => secret !== "");
  return new Credentials(accountKey, signer, known);
}

/** A request parameter as it is sent, before any encoding. */
export type RequestField = readonly [name: string, value: string];

/**
 * Makes `sig` from the fields of a request: all of them but `sig` itself and the file content,
 * in the order in which they are sent. The interface leaves the algorithm open (Authentication 3).
 */
export interface Signer {
  /** `path` is the operation's, below the archive's base address: whatever stands before it may rewrite that. */
  sign(fields: readonly RequestField[], path: string): string | Promise<string>;
  /**
   * Whether a request also carries, and signs, when it was made and its file's digest: the fields `sig_time`
   * (epoch milliseconds) and `sig_file` (SHA-256, hex).
   */
  readonly isDated?: boolean;
}

/** Opens the signer. Rejects with a Fault when the algorithm, the secret or the module is unfit. */
export async function openSigner(settings: Signing): Promise<Signer> {
  if (settings.scheme === "none") return { sign: () => "none" };
  if (settings.scheme === "module") return moduleSigner(settings.module);
  return { sign: hmacWith(settings), isDated: settings.scheme === "hmac2" };
}

/**
 * `name=value` of every field in UTF-8, sorted by name in byte order, joined by `&`: what the
 * scheme `hmac` signs.
 */
export function signedText(fields: readonly RequestField[]): string {
  return byName(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/**
 * The path, then name and value of every field, sorted by name in byte order, each after its length in
 * bytes and a colon: what the scheme `hmac2` signs. No two requests have the same.
 */
export function measuredText(fields: readonly RequestField[], path: string): string {
  return [path, ...byName(fields).flat()]
    .map((part) => `${Buffer.byteLength(part)}:${part}`)
    .join("");
}

/** In the order of the names' bytes; those of one name as they were. */
function byName(fields: readonly RequestField[]): RequestField[] {
  return [...fields].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

const TEXTS: {
  readonly [S in SecretScheme]: (fields: readonly RequestField[], path: string) => string;
} = { hmac: signedText, hmac2: measuredText };

function hmacWith({ scheme, algorithm, encoding, secret }: SecretSigning) {
  if (secret === "") {
    throw new Fault(
      "SIGNING_SECRET_MISSING",
      "the signing secret is empty",
      "Set `archive.signing.secret` or `secretFile`.",
    );
  }
  const sign = (fields: readonly RequestField[], path: string) =>
    createHmac(algorithm, secret).update(TEXTS[scheme](fields, path), "utf8").digest(encoding);
  try {
    sign([], "");
  } catch {
    throw new Fault(
      "SIGNING_ALGORITHM_UNKNOWN",
      `no digest is called ${algorithm}`,
      "Set `archive.signing.algorithm` to a digest of node:crypto, for example sha256.",
    );
  }
  return sign;
}

async function moduleSigner(path: string): Promise<Signer> {
  const unfit = (why: string) =>
    new Fault(
      "SIGNING_MODULE_UNFIT",
      `archive.signing.module: ${path}: ${why}`,
      "Name an ES module whose default export is a function (fields: [name, value][]) => string | Promise<string>.",
    );
  let loaded: unknown;
  try {
    loaded = await import(pathToFileURL(path).href);
  } catch (error) {
    throw unfit(existsSync(path) ? messageOf(error) : "there is no such file");
  }
  const sign = (loaded as { default?: unknown }).default;
  if (typeof sign !== "function") throw unfit("has no function as its default export");
  // A copy, so that the module cannot change what is sent.
  return { sign: async (fields) => sign(fields.map(([name, value]) => [name, value])) };
}
