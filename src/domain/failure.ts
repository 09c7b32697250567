/**
 * Every failure a document or an account can meet: its fate, and what the operator can do.
 *
 * The codes of the interface stand next to our own; docs and the command line read this table.
 */
import { LOOKUP_FAILURES, OUR_REQUEST, REQUEST_HINTS, statusHint } from "./lookup-failures.ts";

type RequestCode = keyof typeof REQUEST_HINTS;

/**
 * What a failure means.
 * - `retry`: passing; try again after a backoff.
 * - `hold`: the document waits for something outside, and continues automatically once that is there; for a person's
 *   word only where its row says so.
 * - `gate`: no document of the account can succeed; sending stops until a probe gets through.
 * - `fail`: this document cannot succeed until a person changes something.
 */
export type Fate = "retry" | "hold" | "gate" | "fail";

/** What lets a document go on that is held. */
export type FixedBy =
  | "folder" // An archive folder; the folder loop looks for it.
  | "rules" // Other rules; each start of the daemon decides again.
  | "attributes" // Other metadata; it is decided again whenever the document goes on.
  | "companion" // A file next to the document.
  | "file" // Other content.
  | "anyway" // A person's word that it be sent as it is.
  | "doubt" // What the archive has: the document may be there, and is looked for.
  | "time"; // Nothing else; it is tried again, ever later.

/**
 * What a code means, and what the operator can do: sentences, shown as they are. `person`: a document that is held with
 * it continues with one of these commands only.
 */
export type Failure = { readonly hint: string; readonly person?: string } & (
  | { readonly fate: Exclude<Fate, "hold"> }
  | { readonly fate: "hold"; readonly fixedBy: readonly FixedBy[] }
);

/** The word of a person who has looked for a document in the archive. */
const SENDS_AGAIN = "scanferry retry sends it again if the archive does not have it";

/** The archive rejects a `field` of more than `max` characters. */
const tooLong = (field: string, max: number) =>
  ({
    fate: "fail",
    hint: `Shorten the ${field} to ${max} characters, then run \`scanferry retry\`.`,
  }) as const;

/** What is known by its code; `failureOf` answers for every other code too. */
export const FAILURES = {
  // Upload, as the interface names them.
  QUOTA_LIMIT: {
    fate: "gate",
    hint: "The company's page allowance is used up: buy pages, or wait for the new period. Sending continues automatically.",
  },
  FOLDER_NOT_EXISTS: {
    fate: "hold",
    fixedBy: ["folder"],
    hint: "The archive folder no longer exists: create it again. The document continues automatically.",
  },
  INVALID_FOLDER_ID: {
    fate: "hold",
    fixedBy: ["folder"],
    hint: "The archive does not accept the folder's id: fix `target` or `targetId` of the mirror, then run `scanferry retry`.",
  },
  INVALID_FOLDER_PATH: {
    fate: "hold",
    fixedBy: ["folder"],
    hint: "The archive does not accept the folder's path: fix `target` of the mirror, then run `scanferry retry`.",
  },
  INVALID_BATCH: { fate: "fail", hint: OUR_REQUEST },
  INVALID_METADATA_TITLE: tooLong("title", 150),
  INVALID_METADATA_KEYWORD: tooLong("keywords", 255),
  INVALID_METADATA_PRODUCER: tooLong("producer", 255),
  INVALID_METADATA_SUBJECT: tooLong("subject", 150),
  INVALID_METADATA_AUTHOR: tooLong("author", 150),
  INVALID_METADATA_DESCRIPTION: tooLong("description", 250),
  INVALID_EXPIRE_DATE: {
    fate: "fail",
    hint: "Check the rule that sets the expiry date, then run `scanferry retry`.",
  },
  PLUGIN_REMINDER_NOT_INSTALLED: {
    fate: "hold",
    fixedBy: ["attributes", "time"],
    hint: "Install the expiry-reminder plugin for the account, or do not set expiry dates.",
  },
  INVALID_FILENAME: { fate: "fail", hint: "Rename the file, then run `scanferry retry`." },
  NO_FILE_DATA: { fate: "fail", hint: "The archive found no content in the file: scan it again." },
  FILE_SIZE_TOO_BIG: {
    fate: "fail",
    hint: "Split the document, or scan it at a lower resolution: the archive does not accept files of this type and size.",
  },
  ...LOOKUP_FAILURES,
  // The way to the archive.
  CREDENTIALS_REFUSED: {
    fate: "gate",
    hint: "The archive rejected the account key or the signature: check `archive.accountKey` and `archive.signing`.",
  },
  ARCHIVE_CHANGED: {
    fate: "gate",
    hint: "Nothing is sent, moved or deleted until you decide which archive this is. Run `scanferry archive moved` if it is the same archive (another address, another key, or restored from a backup), or `scanferry archive replaced` if it is another archive: everything is sent to it.",
  },
  ARCHIVE_UNREACHABLE: {
    fate: "retry",
    hint: "Check `archive.url`, the network and DNS, and whether a proxy is needed (`archive.proxy`).",
  },
  ARCHIVE_BUSY: {
    fate: "retry",
    hint: "The archive asked scanferry to slow down. Sending continues automatically.",
  },
  TLS_REFUSED: {
    fate: "retry",
    hint: "Check `archive.url` and the host's clock. Set `archive.ca` for a private certificate authority, and `archive.clientCert` and `archive.clientKey` if the archive asks for a client certificate.",
  },
  PROXY_REFUSED: {
    fate: "retry",
    hint: "Check `archive.proxy` (or HTTPS_PROXY), its user and password, and which addresses the proxy allows.",
  },
  REPLY_LOST: {
    fate: "retry",
    hint: "Nothing to do: scanferry asks the archive whether it has the document before it sends anything again.",
  },
  // The page allowance, as it is estimated here.
  ALLOWANCE_LOW: {
    fate: "hold",
    fixedBy: ["time"],
    hint: "80 % of `quota.monthlyPages` is used. Buy pages, or postpone documents until the next period.",
  },
  ALLOWANCE_USED: {
    fate: "hold",
    fixedBy: ["time"],
    hint: "Buy pages and raise `quota.monthlyPages`, or wait for the next period. Sending continues automatically.",
  },
  // The document and its place.
  FOLDER_MISSING: {
    fate: "hold",
    fixedBy: ["folder"],
    hint: "Create the folder in the archive; the document continues automatically. If `target` or `targetId` is wrong, fix it, then run `scanferry retry`.",
  },
  FOLDER_TWINS: {
    fate: "hold",
    fixedBy: ["folder"],
    hint: "The archive has several folders with this name: rename all but one.",
  },
  FOLDER_CASE: {
    fate: "hold",
    fixedBy: ["folder"],
    hint: "The archive folder's name differs only in upper and lower case: rename one of the two folders.",
  },
  FIRST_RUN: {
    fate: "hold",
    fixedBy: [],
    hint: "The archive has a document with this name in the same folder, or with this name and size in another folder, and the journal does not know it (first run, or a restored journal). Run `scanferry adopt` to link the file to the existing document, or set `firstRun: upload` for the mirror to send it anyway.",
    person: "scanferry adopt links files to existing documents, firstRun: upload sends them anyway",
  },
  CHANGED_TOO_OFTEN: {
    fate: "hold",
    fixedBy: ["time"],
    hint: "A program changes this file too often: exclude the file with `exclude`, or raise `changesPerHour` for the mirror. The newest content is sent automatically one hour later; `scanferry retry` sends it at once.",
  },
  DOUBT_AMBIGUOUS: {
    fate: "hold",
    fixedBy: ["doubt", "time"],
    hint: "Compare the candidates in the archive. scanferry checks again automatically until one is certain.",
  },
  DOUBT_FOLDER_GONE: {
    fate: "hold",
    fixedBy: ["doubt"],
    hint: "The upload's reply was lost and its archive folder has since been removed. Check whether the folder was moved in the archive. `scanferry retry` sends the document again.",
    person: SENDS_AGAIN,
  },
  DOUBT_ELSEWHERE: {
    fate: "hold",
    fixedBy: ["doubt"],
    hint: "The upload's reply was lost, and another archive folder has a document with the same name and date. Check whether a user moved it there. `scanferry retry` sends the document again.",
    person: SENDS_AGAIN,
  },
  REPLIES_LOST: {
    fate: "hold",
    fixedBy: ["doubt"],
    hint: "The document was sent several times without a reply, and the archive does not list it. Check the limits and timeouts of proxies and firewalls before the archive. `scanferry retry` sends the document again if the archive does not have it.",
    person: SENDS_AGAIN,
  },
  REPLY_MISMATCHED: {
    fate: "hold",
    fixedBy: ["doubt"],
    hint: "The archive's reply named another document. Search for it in the archive, and check that `archive.url` is the archive itself. `scanferry retry` sends the document again if the archive does not have it.",
    person: SENDS_AGAIN,
  },
  DOCUMENT_ID_TAKEN: {
    fate: "hold",
    fixedBy: ["doubt"],
    hint: "The archive gave one id for two documents, or has only one of them. Compare the two in the archive, and run `scanferry check`. `scanferry retry` sends the document again if the archive does not have it.",
    person: SENDS_AGAIN,
  },
  ANOTHER_DOCUMENT: {
    fate: "hold",
    fixedBy: ["doubt"],
    hint: "The archive has another document under this id (after a restore, for example): run `scanferry check`. scanferry searches for the document, and sends it again if the archive does not have it.",
  },
  CONVERSION_STUCK: {
    fate: "retry",
    hint: "The archive has not converted the document: contact its support and give the document id.",
  },
  FILE_EMPTY: {
    fate: "hold",
    fixedBy: ["file"],
    hint: "Scan the document again, or remove the file.",
  },
  FILE_UNREADABLE: {
    fate: "hold",
    fixedBy: ["time"],
    hint: "Give the daemon's user read permission for the file, or replace a damaged file. scanferry tries again automatically.",
  },
  FILE_UNFINISHED: {
    fate: "hold",
    fixedBy: ["file"],
    hint: "Once the file is complete, scanferry sends it. If its format shows that it is unfinished, it is held when it does not change for `incomplete`.",
  },
  FILE_INCOMPLETE: {
    fate: "hold",
    fixedBy: ["rules", "file", "anyway"],
    hint: 'Scan or copy the file again. To send it as it is, run `scanferry retry --anyway PATH` or use "Send anyway" on the page.',
  },
  FILE_CHANGED: {
    fate: "retry",
    hint: "The file changed while it was being sent. It is sent again once it stops changing.",
  },
  // What goes with a document.
  TARGET_UNKNOWN: {
    fate: "hold",
    fixedBy: ["rules"],
    hint: "Fix the template of `target`, or the file's path. `scanferry rules test` shows the result.",
  },
  METADATA_TOO_LONG: {
    fate: "hold",
    fixedBy: ["rules"],
    hint: "Shorten the value at its source, or set `limits: truncate`.",
  },
  EXPIRY_UNKNOWN: {
    fate: "hold",
    fixedBy: ["rules"],
    hint: "Add the date where `expire.from` looks for it, or set `expire.unknown: upload-without`.",
  },
  EXPIRY_TOO_SOON: {
    fate: "hold",
    fixedBy: ["rules"],
    hint: "Check the date from which the expiry date is counted: an expiry date cannot be changed later. `expire.minimum` sets the earliest date that is sent.",
  },
  CLOCKS_DIFFER: {
    fate: "hold",
    fixedBy: ["rules", "time"],
    hint: "Set this host's clock (NTP), or ask the archive's operator to set theirs: an expiry date cannot be changed later. The document continues automatically.",
  },
  PATTERN_SLOW: {
    fate: "hold",
    fixedBy: ["rules"],
    hint: "Fix the pattern: a repetition within a repetition, such as (a+)+, may never end.",
  },
  NOTES_BROKEN: {
    fate: "hold",
    fixedBy: ["rules", "companion"],
    hint: "Fix the file at the line and column in the message. The document continues automatically.",
  },
  MARKER_MISSING: {
    fate: "hold",
    fixedBy: ["rules", "companion"],
    hint: "Create the marker (the file's name and .done) next to the file when the file is finished, and touch it each time the file is written again.",
  },
  NOT_RENAMED: {
    fate: "hold",
    fixedBy: ["rules", "file"],
    hint: "Write the file under another name and rename it when it is finished, or set `ready: quiet`.",
  },
  FILE_YOUNG: {
    fate: "hold",
    fixedBy: ["time"],
    hint: "The file is sent automatically once it is as old as `minAge`.",
  },
  FILE_TOO_SMALL: {
    fate: "hold",
    fixedBy: ["rules", "file"],
    hint: "Scan the document again, remove the file, or change `minSize`.",
  },
  FILE_TOO_LARGE: {
    fate: "hold",
    fixedBy: ["rules", "file"],
    hint: "Split the document, or change `maxSize`.",
  },
  SIDECAR_MISSING: {
    fate: "hold",
    fixedBy: ["companion"],
    hint: "Put the sidecar next to the file. The document continues automatically.",
  },
  HOOK_FAILED: {
    fate: "hold",
    fixedBy: ["rules", "time"],
    hint: "Fix the `before` hook. scanferry runs it again automatically, or at once with `scanferry retry`. `onFailure: send` sends documents without it.",
  },
  VETOED: {
    fate: "hold",
    fixedBy: ["attributes"],
    hint: "The `before` hook rejected the document. `scanferry retry` runs the hook again.",
    person: "scanferry retry runs the hook again",
  },
  SOURCE_OFFLINE: {
    fate: "hold",
    fixedBy: ["time"],
    hint: "Mount the source again, or fix `source` in the configuration. scanferry continues automatically.",
  },
  AFTER_REFUSED: {
    fate: "hold",
    fixedBy: ["time"],
    hint: "The local file is still in the source. Check permissions, free space and mounts for `after` or `afterVeto`.",
  },
  SAME_CODE_REPEATS: {
    fate: "gate",
    hint: "The archive answered several documents in a row with a code that the interface does not define: contact its support.",
  },
} as const satisfies Record<string, Failure>;

/** A directory of a source that cannot be read: no document is known to be in it. */
export const UNREAD_HINT =
  "Give the daemon's user read permission, or fix the disk. scanferry tries again automatically.";

/** A code that has a row in `FAILURES`. */
export type FailureCode = keyof typeof FAILURES;

/** A code the interface does not name holds the document, with growing patience. */
const UNKNOWN: Failure = {
  fate: "hold",
  fixedBy: ["time"],
  hint: "The archive answered with a code that the interface does not define: contact its support. scanferry tries again automatically.",
};

/** The row of `code`; a code without one holds its document. */
export function failureOf(code: string): Failure {
  if (isKnown(code)) return FAILURES[code];
  const hint = requestHint(code) ?? statusHint(code);
  return hint === undefined ? UNKNOWN : { ...UNKNOWN, hint };
}

function requestHint(code: string): string | undefined {
  return Object.hasOwn(REQUEST_HINTS, code) ? REQUEST_HINTS[code as RequestCode] : undefined;
}

/** True when `code` has a row of its own. */
export function isKnown(code: string): code is FailureCode {
  return Object.hasOwn(FAILURES, code);
}
