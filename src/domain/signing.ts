/** Schemes whose `sig` is an HMAC with a secret that client and archive share. */
export const SECRET_SCHEMES = ["hmac", "hmac2"] as const;

/** A scheme with a secret. */
export type SecretScheme = (typeof SECRET_SCHEMES)[number];

/** How far apart the clocks of client and archive may be where `hmac2` signs, milliseconds. */
export const SIGNED_TIME_MS_MAX = 300_000;

/** A scheme, its digest and its secret. */
export type SecretSigning = {
  readonly scheme: SecretScheme;
  /** A digest that `node:crypto` knows. */
  readonly algorithm: string;
  readonly encoding: "base64" | "hex";
  /** A secret. */
  readonly secret: string;
};

/** How the field `sig` of every request is made, which the interface leaves open (Authentication 3). Plain data. */
export type Signing =
  | SecretSigning
  | { readonly scheme: "none" }
  /** `module` is an absolute path. */
  | { readonly scheme: "module"; readonly module: string };

/** Whether a scheme signs with a secret, which has to be found, handed over and never shown. */
export function takesSecret(scheme: string | undefined): scheme is SecretScheme {
  return SECRET_SCHEMES.some((each) => each === scheme);
}

/** What of it must never be shown. */
export function signingSecretsOf(signing: Signing): string[] {
  return "secret" in signing ? [signing.secret] : [];
}
