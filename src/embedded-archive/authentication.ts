import { createHmac, timingSafeEqual } from "node:crypto";
import { type Fields, fieldOf } from "./fields.ts";
import { Refusal } from "./refusal.ts";
import type { AccountOption } from "./options.ts";

/**
 * The text that is signed: every field but `sig`, `name=value` in UTF-8, sorted by the names'
 * bytes, joined by `&`. Fields of one name keep the order in which they were sent.
 */
function signedText(fields: Fields): string {
  return fields
    .filter(([name]) => name !== "sig")
    .map(([name, value]) => ({ bytes: Buffer.from(name, "utf8"), line: `${name}=${value}` }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ line }) => line)
    .join("&");
}

/**
 * The account that sent these fields. Refuses with INVALID_ACC_KEY or INVALID_SIG: codes of our
 * own choice (section Authentication, 4 leaves them open). `sig=none` passes only where
 * signatures are not required.
 */
export function authenticate<A extends AccountOption>(
  fields: Fields,
  accounts: ReadonlyMap<string, A>,
  requireSignature: boolean,
): A {
  const account = accounts.get(fieldOf(fields, "acc_key") ?? "");
  if (!account) throw new Refusal("INVALID_ACC_KEY");
  const sent = fieldOf(fields, "sig");
  if (sent === undefined) throw new Refusal("INVALID_SIG");
  if (sent === "none" && !requireSignature) return account;
  const right = createHmac("sha256", account.secret).update(signedText(fields), "utf8");
  if (!sameText(sent, right.digest("base64"))) throw new Refusal("INVALID_SIG");
  return account;
}

/** Takes the same time wherever the texts differ, so that a signature cannot be felt out. */
function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a, "utf8");
  const right = Buffer.from(b, "utf8");
  return left.length === right.length && timingSafeEqual(left, right);
}
