import type { RequestField } from "./signer.ts";

/** Content type of every request but upload (the interface's conventions, 1). */
export const FORM_TYPE = "application/x-www-form-urlencoded;charset=UTF-8";

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
