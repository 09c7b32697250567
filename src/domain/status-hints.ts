/** Answers without a code: what the operator can do, by the HTTP status (`HTTP_413`). */

const SIZE =
  "A server before the archive does not accept requests of this size. Usual limits are 1 MB (nginx, `client_max_body_size`), 30 MB (IIS, `maxAllowedContentLength`) and 100 MB (Cloudflare): ask for a higher limit, or split the document.";
const HEADERS =
  "A server before the archive does not accept request headers of this size (nginx: 8 KB, `large_client_header_buffers`): ask for a higher limit, or shorten `archive.url`.";
const FORM =
  "A server before the archive rejects this kind of request: ask its administrator to allow `multipart/form-data` and this file type.";

/** Statuses that speak of one request: its size, its head, its form. Anyone who answers so says nothing of the account. */
const ONE_REQUEST: Readonly<Record<string, string>> = {
  HTTP_413: SIZE,
  HTTP_414: HEADERS,
  HTTP_415: FORM,
  HTTP_422: FORM,
  HTTP_431: HEADERS,
};

/** The codes of such answers. */
export const OF_ONE_REQUEST: readonly string[] = Object.keys(ONE_REQUEST);

const ONE_DOCUMENT =
  "The archive accepts the account, but a server before it rejected this upload: ask the administrator of the web application firewall, and give the time of the attempt. scanferry tries again automatically.";

/** The first that fits. */
const BY_STATUS: readonly (readonly [prefix: string, hint: string])[] = [
  ["HTTP_401", ONE_DOCUMENT],
  ["HTTP_403", ONE_DOCUMENT],
  ["HTTP_3", "Set `archive.url` to the address that does not redirect."],
  ["HTTP_4", "Check `archive.url`, and the limits of any proxy before it."],
  ["HTTP_", "Wait until the archive, or the proxy before it, works again."],
];

/** What can be done about an answer with this code; undefined where it is none of a status. */
export function statusHint(code: string): string | undefined {
  if (Object.hasOwn(ONE_REQUEST, code)) return ONE_REQUEST[code];
  return BY_STATUS.find(([prefix]) => code.startsWith(prefix))?.[1];
}
