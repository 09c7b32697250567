import { randomUUID } from "node:crypto";
import FormData from "form-data";
import type { RequestField } from "./signer.ts";

/** A multipart body around a file: what comes before its bytes and what comes after. */
export type Frame = {
  head: Buffer;
  /** The closing boundary. Until it has left, the request has no end. */
  tail: Buffer;
  contentType: string;
};

/**
 * Renders the frame: a named part per field, then the part `file`, the last (endpoint 7). The
 * boundary is random (122 bits), so no value can hold it, and values need no escaping; in headers
 * quotes and line ends are escaped by form-data.
 */
export function frameOf(fields: readonly RequestField[], filename: string): Frame {
  const form = new FormData();
  // Its own asks for random bytes each time, which takes a quarter of the time of a frame.
  form.setBoundary(randomUUID());
  for (const [name, value] of fields) form.append(name, value);
  // Strict parsers refuse control characters in a part's header. The part `filename` has the true
  // name, so nothing is lost.
  form.append("file", Buffer.alloc(0), { filename: filename.replace(/\p{Cc}/gu, "_") });
  const whole = form.getBuffer();
  const tailLength = Buffer.byteLength(`\r\n--${form.getBoundary()}--\r\n`);
  return {
    head: whole.subarray(0, whole.length - tailLength),
    tail: whole.subarray(whole.length - tailLength),
    contentType: `multipart/form-data; boundary=${form.getBoundary()}`,
  };
}

/** Content type of every request but upload (the interface's conventions, 1). */
export const FORM_TYPE = "application/x-www-form-urlencoded; charset=UTF-8";

/**
 * The fields as an url-encoded body. Everything but letters, digits and `-_.~` is percent-encoded,
 * a space too: `sig` must be percent-encoded (Authentication 2), and every decoder of forms takes
 * `%20`. Values must be well-formed.
 */
export function formBody(fields: readonly RequestField[]): Buffer {
  return Buffer.from(
    fields.map(([name, value]) => `${percent(name)}=${percent(value)}`).join("&"),
    "latin1",
  );
}

function percent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
