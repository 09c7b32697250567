import { createHmac } from "node:crypto";

/** When the message left, seconds since the epoch: what is old is not to be believed. */
export const TIMESTAMP_HEADER = "x-scanferry-timestamp";
/** `v1=` and the HMAC-SHA-256 of `TIMESTAMP.BODY` in hex. */
export const SIGNATURE_HEADER = "x-scanferry-signature";
/** The message's id, the same at every try. */
export const ID_HEADER = "x-scanferry-id";

/** The signature of a body; `seconds` is what the timestamp's header says. */
export function signatureOf(secret: string, seconds: number, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}
