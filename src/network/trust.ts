/** Whom we trust, and how we prove who we are. */
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import type { NetworkSettings } from "./network.ts";

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
