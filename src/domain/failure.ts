/**
 * Every failure a document or an account can meet: its fate, and what the operator can do.
 *
 * The codes of the interface stand beside our own; docs and the command line read this table.
 */
import { REQUEST_HINTS } from "./request-hints.ts";

type RequestCode = keyof typeof REQUEST_HINTS;

/**
 * What a failure means.
 * - `retry`: passing; try again after a backoff.
 * - `hold`: the document waits for something outside, and goes on by itself once that is there.
 * - `gate`: no document of the account can succeed; sending stops until a probe gets through.
 * - `fail`: this document cannot succeed until a person changes something.
 */
export type Fate = "retry" | "hold" | "gate" | "fail";

/** What a code means, and what the operator can do: sentences, shown as they are. */
export type Failure = { readonly fate: Fate; readonly hint: string };

const OUR_REQUEST =
  "This is a fault of scanferry or of the archive; please report it with the log.";

/** What is known by its code; `failureOf` answers for every other code too. */
export const FAILURES = {
  // Upload, as the interface names them.
  QUOTA_LIMIT: {
    fate: "gate",
    hint: "The company's page allowance is used up: buy pages or wait for the new period; sending goes on by itself.",
  },
  FOLDER_NOT_EXISTS: {
    fate: "hold",
    hint: "The archive folder is gone: create it again; the document goes on by itself.",
  },
  INVALID_FOLDER_ID: {
    fate: "hold",
    hint: "The archive does not accept the folder's id: mend `target` or `targetId` of the mirror, then `scanferry retry`.",
  },
  INVALID_FOLDER_PATH: {
    fate: "hold",
    hint: "The archive does not accept the folder's path: mend `target` of the mirror, then `scanferry retry`.",
  },
  INVALID_BATCH: { fate: "fail", hint: OUR_REQUEST },
  INVALID_METADATA_TITLE: {
    fate: "fail",
    hint: "Shorten the title to 150 characters, then `scanferry retry`.",
  },
  INVALID_METADATA_KEYWORD: {
    fate: "fail",
    hint: "Shorten the keywords to 255 characters, then `scanferry retry`.",
  },
  INVALID_METADATA_PRODUCER: {
    fate: "fail",
    hint: "Shorten the producer to 255 characters, then `scanferry retry`.",
  },
  INVALID_METADATA_SUBJECT: {
    fate: "fail",
    hint: "Shorten the subject to 150 characters, then `scanferry retry`.",
  },
  INVALID_METADATA_AUTHOR: {
    fate: "fail",
    hint: "Shorten the author to 150 characters, then `scanferry retry`.",
  },
  INVALID_METADATA_DESCRIPTION: {
    fate: "fail",
    hint: "Shorten the description to 250 characters, then `scanferry retry`.",
  },
  INVALID_EXPIRE_DATE: {
    fate: "fail",
    hint: "Check the rule that sets the expiry date, then `scanferry retry`.",
  },
  PLUGIN_REMINDER_NOT_INSTALLED: {
    fate: "hold",
    hint: "Install the expiry-reminder plugin for the account, or do not set expiry dates.",
  },
  INVALID_FILENAME: { fate: "fail", hint: "Rename the file, then `scanferry retry`." },
  NO_FILE_DATA: { fate: "fail", hint: "The archive found no content in the file: scan it again." },
  FILE_SIZE_TOO_BIG: {
    fate: "fail",
    hint: "Split the document or scan it with less resolution; the archive takes no file this large of its kind.",
  },
  // Look-ups, as the interface names them.
  DOC_NOT_EXIST: {
    fate: "fail",
    hint: "The document is no longer in the archive: find out who removed it; `scanferry retry` sends it again.",
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
  // The way to the archive.
  CREDENTIALS_REFUSED: {
    fate: "gate",
    hint: "The archive refuses the account key or the signature: check `archive.accountKey` and `archive.signing`.",
  },
  ARCHIVE_UNREACHABLE: {
    fate: "retry",
    hint: "Check `archive.url`, the network and the name service.",
  },
  ARCHIVE_BUSY: {
    fate: "retry",
    hint: "The archive asked to slow down; sending goes on by itself.",
  },
  TLS_REFUSED: {
    fate: "retry",
    hint: "The archive's certificate is not trusted: check `archive.url` and the host's clock; an authority of your own is named in NODE_EXTRA_CA_CERTS.",
  },
  REPLY_LOST: {
    fate: "retry",
    hint: "Nothing to do: the archive is asked whether it has the document before anything is sent again.",
  },
  // The page allowance, as it is reckoned here.
  ALLOWANCE_LOW: {
    fate: "hold",
    hint: "Four fifths of `quota.monthlyPages` are used: buy pages, or see what may wait until the month is renewed.",
  },
  ALLOWANCE_USED: {
    fate: "hold",
    hint: "Buy pages and raise `quota.monthlyPages`, or wait until the month is renewed; sending goes on by itself.",
  },
  // The document and its place.
  FOLDER_MISSING: {
    fate: "hold",
    hint: "Create the folder in the archive; the document goes on by itself. Where `target` was wrong, mend it, then `scanferry retry`.",
  },
  FOLDER_TWINS: {
    fate: "hold",
    hint: "The archive has several folders of that name: rename all but one.",
  },
  FOLDER_CASE: {
    fate: "hold",
    hint: "The archive's folder differs in upper and lower case only: rename one of the two.",
  },
  FIRST_RUN: {
    fate: "hold",
    hint: "The archive folder held a document of this name before the first run: `scanferry adopt` claims what is the same; or set `firstRun: upload` for the mirror, and all is sent.",
  },
  DOUBT_AMBIGUOUS: {
    fate: "hold",
    hint: "Look at the candidates in the archive; it is looked at again until one is certain.",
  },
  DOUBT_FOLDER_GONE: {
    fate: "hold",
    hint: "Its reply was lost, and the archive folder it was sent to is gone since: look whether it was moved elsewhere in the archive. `scanferry retry` sends it again.",
  },
  REPLIES_LOST: {
    fate: "hold",
    hint: "It was sent again and again without a reply, and the archive lists it nowhere: check the limits and timeouts of whatever is between here and the archive. `scanferry retry` sends it again once it is not found.",
  },
  REPLY_MISMATCHED: {
    fate: "hold",
    hint: "The archive took it and named another document than the one sent, and lists none of that name: look for it there, and check that `archive.url` is the archive itself. `scanferry retry` sends it again once it is not found.",
  },
  DOCUMENT_ID_TAKEN: {
    fate: "hold",
    hint: "Compare the two documents in the archive: it gave one id for both, or holds one of them only. `scanferry retry` sends it again once it is not found.",
  },
  CONVERSION_STUCK: {
    fate: "retry",
    hint: "The archive has not converted the document: ask its support, with the document id.",
  },
  FILE_EMPTY: { fate: "hold", hint: "Scan it again, or remove it." },
  FILE_UNREADABLE: {
    fate: "hold",
    hint: "Give the daemon's user the right to read the file; it is tried again by itself.",
  },
  FILE_UNFINISHED: {
    fate: "hold",
    hint: "The file looks unfinished; it is sent once it has been quiet for `incomplete`.",
  },
  FILE_CHANGED: {
    fate: "retry",
    hint: "The file was written while it was sent; it is sent once it is quiet.",
  },
  // What goes with a document.
  TARGET_UNKNOWN: {
    fate: "hold",
    hint: "Mend the template of `target`, or the file's path; `scanferry rules test` shows what it gives.",
  },
  METADATA_TOO_LONG: {
    fate: "hold",
    hint: "Shorten the value where it comes from, or set `limits: truncate`.",
  },
  EXPIRY_UNKNOWN: {
    fate: "hold",
    hint: "Give the date where `expire.from` looks for it, or set `expire.unknown: upload-without`.",
  },
  EXPIRY_TOO_SOON: {
    fate: "hold",
    hint: "Check the date that it is counted from; an expiry date cannot be taken back. `expire.minimum` is the guard.",
  },
  PATTERN_SLOW: {
    fate: "hold",
    hint: "Mend the pattern: a repetition within a repetition, such as (a+)+, may take for ever.",
  },
  NOTES_BROKEN: {
    fate: "hold",
    hint: "Mend the file at the line and column that the message names; the document goes on by itself.",
  },
  MARKER_MISSING: {
    fate: "hold",
    hint: "Put the marker (the file's name and .done) beside the file once it is finished, and touch it each time the file is written anew.",
  },
  NOT_RENAMED: {
    fate: "hold",
    hint: "Write the file under another name and rename it when it is finished, or set `ready: quiet`.",
  },
  FILE_YOUNG: { fate: "hold", hint: "The file is sent once it is as old as `minAge` asks." },
  FILE_TOO_SMALL: { fate: "hold", hint: "Scan it again, remove it, or change `minSize`." },
  FILE_TOO_LARGE: { fate: "hold", hint: "Split the document, or change `maxSize`." },
  SIDECAR_MISSING: {
    fate: "hold",
    hint: "Put the sidecar beside the file; the document goes on by itself.",
  },
  HOOK_FAILED: {
    fate: "hold",
    hint: "Mend the `before` hook; it is asked again by itself, and with `scanferry retry` at once. `onFailure: send` sends without it.",
  },
  VETOED: {
    fate: "hold",
    hint: "The `before` hook will not have it sent; `scanferry retry` asks the hook again.",
  },
  SOURCE_OFFLINE: {
    fate: "hold",
    hint: "Mount the source again, or mend `source` in the configuration; it goes on by itself.",
  },
  AFTER_REFUSED: {
    fate: "hold",
    hint: "The document is archived, the local file stays where it is: check rights, room and mount for `after`.",
  },
  SAME_CODE_REPEATS: {
    fate: "gate",
    hint: "The archive answers several documents in a row with a code the interface does not name: ask its support.",
  },
} as const satisfies Record<string, Failure>;

/** A directory of a source that cannot be read: no document is known to be in it. */
export const UNREAD_HINT =
  "Give the daemon's user the right to read it, or mend its disk; it is looked at again by itself.";

/** A code that has a row in `FAILURES`. */
export type FailureCode = keyof typeof FAILURES;

/** The codes that close the account's gate. */
export const GATE_CODES = Object.entries<Failure>(FAILURES)
  .filter(([, { fate }]) => fate === "gate")
  .map(([code]) => code);

/** A code the interface does not name holds the document, with growing patience. */
const UNKNOWN: Failure = {
  fate: "hold",
  hint: "The archive answered with a code the interface does not name: ask its support; it is tried again by itself.",
};

/** An answer without a code, by its HTTP status; the first that fits. */
const STATUS_HINTS: readonly (readonly [prefix: string, hint: string])[] = [
  ["HTTP_3", "Set `archive.url` to the address that does not redirect."],
  ["HTTP_4", "Check `archive.url`, and the limits of any proxy before it."],
  ["HTTP_", "Wait for the archive, or the proxy before it, to recover."],
];

/** The row of `code`; a code without one holds its document. */
export function failureOf(code: string): Failure {
  if (isKnown(code)) return FAILURES[code];
  const hint = requestHint(code) ?? STATUS_HINTS.find(([prefix]) => code.startsWith(prefix))?.[1];
  return hint === undefined ? UNKNOWN : { ...UNKNOWN, hint };
}

function requestHint(code: string): string | undefined {
  return Object.hasOwn(REQUEST_HINTS, code) ? REQUEST_HINTS[code as RequestCode] : undefined;
}

/** True when `code` has a row of its own. */
export function isKnown(code: string): code is FailureCode {
  return Object.hasOwn(FAILURES, code);
}
