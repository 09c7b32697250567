import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { NetworkSettings } from "./network.ts";
import { codeOf } from "../std/fault.ts";

/** Whom we trust, and how we prove who we are. */

/** The host's own store; read once, for that takes 70 to 270 ms (docs/runs/experiments.csv). */
let hostStore: readonly string[] | undefined;

/**
 * The certificates that a connection goes by: Node's own and those that the environment or `ca` name; the host's
 * store only once a server was met that these do not vouch for.
 */
export class Trust {
  readonly #settings: NetworkSettings;
  #context: SecureContext | undefined;
  #isWide = false;

  constructor(settings: NetworkSettings) {
    this.#settings = settings;
  }

  /** Throws what OpenSSL says of a certificate or key that it cannot use. */
  get context(): SecureContext {
    this.#context ??= this.#make();
    return this.#context;
  }

  /** Trusts the host's store from now on; false when that was so already. */
  widen(): boolean {
    if (this.#isWide) return false;
    this.#isWide = true;
    this.#context = undefined;
    return true;
  }

  #make(): SecureContext {
    const { ca, client } = this.#settings;
    const identity = client ? { cert: client.cert, key: client.key } : {};
    // Without a list of ours Node takes its own, which it has parsed already.
    if (ca === undefined && !this.#isWide) return createSecureContext(identity);
    const system = this.#isWide ? (hostStore ??= getCACertificates("system")) : [];
    const known = new Set([...getCACertificates("default"), ...system]);
    return createSecureContext({ ca: [...known, ...(ca === undefined ? [] : [ca])], ...identity });
  }
}

/** Whether the text of a PEM file is what it is meant to be; nothing of the text is ever in a message. */

/** What is wrong, and what to do. */
export type PemProblem = { readonly message: string; readonly fix: string };

/** What is wrong with certificates; undefined: every one of them can be read. */
export function certificateProblem(text: string): PemProblem | undefined {
  return problemOf(() => certificatesIn(text));
}

/** What is wrong with the private key of a certificate; undefined: it is its own. */
export function keyProblem(cert: string, key: string): PemProblem | undefined {
  return problemOf(() => {
    const pair = createPrivateKey(key);
    if (!certificatesIn(cert)[0]?.checkPrivateKey(pair))
      throw new Error("is the key of another certificate");
  });
}

function certificatesIn(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error("holds no certificate (PEM)");
  return blocks.map((block) => new X509Certificate(block));
}

function problemOf(read: () => void): PemProblem | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (/PASSPHRASE|BAD_DECRYPT|INTERRUPTED_OR_CANCELLED/.test(code))
      return { message: "needs a passphrase", fix: "write the key without one" };
    const message =
      error instanceof Error && code === "" ? error.message : `cannot be read (${code})`;
    return { message, fix: "name the right file, as PEM" };
  }
}
