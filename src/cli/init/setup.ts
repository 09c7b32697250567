import { SECRET_SCHEMES, type Signing } from "../../domain/signing.ts";

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
