/** Whether the text of a PEM file is what it is meant to be; nothing of the text is ever in a message. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { codeOf } from "../std/fault.ts";

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
