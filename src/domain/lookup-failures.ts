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
