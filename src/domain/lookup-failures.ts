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
