import { failureOf, FAILURES } from "../domain/failure.ts";
import { Fault } from "../std/fault.ts";
import { REQUEST_HINTS } from "../domain/lookup-failures.ts";

/**
 * What is known about a request that did not succeed.
 *
 * - `invalid`: our own parameters break the interface's rules; nothing was sent.
 * - `notSent`: proven that the end of the request never left, so it cannot have been done.
 * - `refused`: answered with no, by the archive or by something before it.
 * - `inDoubt`: it may have been done, may yet be done, or not. Look before sending again.
 */
export type ArchiveErrorKind = "refused" | "notSent" | "inDoubt" | "invalid";

/**
 * The codes that the client adds to those of the interface, with what the operator can do.
 * Next to these there is `HTTP_<status>`, for an answer that carries no code of its own.
 */
export const CLIENT_CODES = {
  ...REQUEST_HINTS,
  ARCHIVE_BUSY: FAILURES.ARCHIVE_BUSY.hint,
  ARCHIVE_UNREACHABLE: FAILURES.ARCHIVE_UNREACHABLE.hint,
  CREDENTIALS_REFUSED: FAILURES.CREDENTIALS_REFUSED.hint,
  FILE_CHANGED: FAILURES.FILE_CHANGED.hint,
  PROXY_REFUSED: FAILURES.PROXY_REFUSED.hint,
  REPLY_MISMATCHED: FAILURES.REPLY_MISMATCHED.hint,
  TLS_REFUSED: FAILURES.TLS_REFUSED.hint,
} as const satisfies Record<string, string>;

/** One of the client's own codes. */
export type ClientCode = keyof typeof CLIENT_CODES;

/** What may be known next to kind, code and message. */
export type ArchiveErrorDetails = {
  hint?: string;
  httpStatus?: number;
  retryAfterMs?: number;
  credentials?: boolean;
  unnamed?: boolean;
  cause?: unknown;
};

/**
 * A request to the archive that did not succeed. `code` is the interface's own where it gave one,
 * else a `ClientCode` or `HTTP_<status>`. Neither message nor cause ever holds the account key,
 * the signature, the secret, or text of a reply.
 */
export class ArchiveError extends Fault {
  override readonly name = "ArchiveError";
  readonly kind: ArchiveErrorKind;
  /** The reply's HTTP status, where there was a reply. */
  readonly httpStatus?: number;
  /** How long the archive asked us to wait, milliseconds in [0, 1 day]. */
  readonly retryAfterMs?: number;
  /**
   * The account key or signature was refused: no other request would fare better. Of an upload that is
   * what it looks like; a look-up that is refused, too, confirms it.
   */
  readonly credentials: boolean;
  /** The archive itself answered, with a code that the interface does not name. */
  readonly unnamed: boolean;

  constructor(
    kind: ArchiveErrorKind,
    code: string,
    message: string,
    details: ArchiveErrorDetails = {},
  ) {
    const options = "cause" in details ? { cause: details.cause } : undefined;
    super(code, message, details.hint ?? hintOf(code, details.credentials ?? false), options);
    this.kind = kind;
    if (details.httpStatus !== undefined) this.httpStatus = details.httpStatus;
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
    this.credentials = details.credentials ?? false;
    this.unnamed = details.unnamed ?? false;
  }
}

function hintOf(code: string, credentials: boolean): string {
  if (Object.hasOwn(CLIENT_CODES, code)) return CLIENT_CODES[code as ClientCode];
  if (credentials) return FAILURES.CREDENTIALS_REFUSED.hint;
  return failureOf(code).hint;
}
