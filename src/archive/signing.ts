import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Fault, messageOf } from "../std/fault.ts";

/** A request parameter as it is sent, before any encoding. */
export type Field = readonly [name: string, value: string];

/**
 * Makes `sig` from the fields of a request: all of them but `sig` itself and the file content,
 * in the order in which they are sent. The interface leaves the algorithm open (Authentication 3).
 */
export interface Signer {
  sign(fields: readonly Field[]): string | Promise<string>;
}

/** How `sig` is made; plain data. `module` is an absolute path. */
export type SigningSettings =
  | { scheme: "hmac"; algorithm: string; encoding: "base64" | "hex"; secret: string }
  | { scheme: "none" }
  | { scheme: "module"; module: string };

/** Opens the signer. Rejects with a Fault when the algorithm, the secret or the module is unfit. */
export async function openSigner(settings: SigningSettings): Promise<Signer> {
  if (settings.scheme === "hmac") return hmacSigner(settings);
  if (settings.scheme === "module") return moduleSigner(settings.module);
  return { sign: () => "none" };
}

/**
 * `name=value` of every field in UTF-8, sorted by name in byte order, joined by `&`: what the
 * scheme `hmac` signs.
 */
export function signedText(fields: readonly Field[]): string {
  return [...fields]
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function hmacSigner(settings: Extract<SigningSettings, { scheme: "hmac" }>): Signer {
  const { algorithm, encoding, secret } = settings;
  if (secret === "") {
    throw new Fault(
      "SIGNING_SECRET_MISSING",
      "the signing secret is empty",
      "Set `archive.signing.secret` or `secretFile`.",
    );
  }
  const sign = (fields: readonly Field[]) =>
    createHmac(algorithm, secret).update(signedText(fields), "utf8").digest(encoding);
  try {
    sign([]);
  } catch {
    throw new Fault(
      "SIGNING_ALGORITHM_UNKNOWN",
      `no digest is called ${algorithm}`,
      "Set `archive.signing.algorithm` to a digest of node:crypto, for example sha256.",
    );
  }
  return { sign };
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
