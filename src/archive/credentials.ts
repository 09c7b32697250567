import { type Signing, signingSecretsOf } from "../domain/signing.ts";
import { messageOf } from "../std/fault.ts";
import { ArchiveError } from "./archive-error.ts";
import { Deadline, type Transport } from "./exchange.ts";
import type { Upload } from "./archive.ts";
import type { RequestField, Signer } from "./signer.ts";

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
