/** Failures of look-ups, as the interface names them; part of the table in failure.ts. */

/** What nobody but us, or the archive, can have done. */
export const OUR_REQUEST =
  "This is a fault in scanferry or in the archive: please report it with the log.";

/** See `FAILURES`. */
export const LOOKUP_FAILURES = {
  DOC_NOT_EXIST: {
    fate: "fail",
    hint: "The document is no longer in the archive: find out who removed it. `scanferry retry` sends it again.",
  },
  INVALID_DOC_ID: { fate: "retry", hint: OUR_REQUEST },
  INVALID_DIGIDOC_ID: { fate: "retry", hint: OUR_REQUEST },
  INVALID_SORT_BY: { fate: "retry", hint: OUR_REQUEST },
  INVALID_SORT_DESC: { fate: "retry", hint: OUR_REQUEST },
  INVALID_PAGINATION_INDEX: { fate: "retry", hint: OUR_REQUEST },
  INVALID_PAGINATION_SIZE: { fate: "retry", hint: OUR_REQUEST },
  INVALID_QUERY_CONTENT: { fate: "retry", hint: OUR_REQUEST },
  INVALID_DOC_HAS_EXPIRE_DATE: { fate: "retry", hint: OUR_REQUEST },
  INVALID_FOLDER_HAS_EXPIRE_DATE: { fate: "retry", hint: OUR_REQUEST },
  INVALID_CREATED_DATE_START: { fate: "retry", hint: OUR_REQUEST },
  INVALID_CREATED_DATE_END: { fate: "retry", hint: OUR_REQUEST },
  INVALID_MODIFIED_DATE_START: { fate: "retry", hint: OUR_REQUEST },
  INVALID_MODIFIED_DATE_END: { fate: "retry", hint: OUR_REQUEST },
  INVALID_FILESIZE_START: { fate: "retry", hint: OUR_REQUEST },
  INVALID_FILESIZE_END: { fate: "retry", hint: OUR_REQUEST },
  INVALID_PAGES_START: { fate: "retry", hint: OUR_REQUEST },
  INVALID_PAGES_END: { fate: "retry", hint: OUR_REQUEST },
} as const;

/**
 * What the operator can do where a request met something before, or instead of, an answer of the
 * interface. What becomes of the document follows from how far the request came, so these codes
 * have no fate of their own; what has one stands in `failure.ts`.
 */
export const REQUEST_HINTS = {
  ARCHIVE_CLOSED: "Nothing to do: scanferry is shutting down.",
  ARCHIVE_TIMEOUT: "Check the network, or raise `archive.timeout`.",
  CONNECTION_LOST: "Check the network, and the size and time limits of the archive or of a proxy.",
  FILE_STALLED: "Check the disk or share that the file is on.",
  INVALID_PARAMETER: "Fix the parameter that the message names.",
  REPLY_EARLY: "Check whether a proxy answers instead of the archive.",
  REPLY_TOO_BIG: "Check that `archive.url` is the archive, or ask for smaller pages.",
  REPLY_UNREADABLE: "Check that `archive.url` is the archive, and that no proxy changes replies.",
  LEASE_OVER:
    "Nothing to do: this daemon or another one sends it again. If this happens often, check the connection to the journal's database.",
  SEND_ABORTED: "Nothing to do: scanferry was asked to stop.",
  SIGNING_FAILED: "Check the module named in `archive.signing.module`.",
  TOO_MANY_PAGES: "Narrow the query, or ask for larger pages.",
} as const satisfies Record<string, string>;

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
