import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { SecretScheme, SecretSigning, Signing } from "../domain/signing.ts";
import { Fault, messageOf } from "../std/fault.ts";

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
