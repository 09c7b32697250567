import type { Problem } from "../domain/document.ts";
import { failureOf, FAILURES } from "../domain/failure.ts";
import type { RequestFailure } from "../domain/outcome.ts";
import { codeOf, Fault } from "../std/fault.ts";
import { REQUEST_HINTS } from "../domain/lookup-failures.ts";

/** See `RequestFailure`; `invalid`: our own parameters break the interface's rules, and nothing was sent. */
export type ArchiveErrorKind = RequestFailure["kind"] | "invalid";

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

  /** What it means for an attempt to upload: with the error's own code, also where the account is suspected. */
  get outcome(): RequestFailure {
    const { kind, code, message, credentials, unnamed, pressed, retryAfterMs = null } = this;
    return {
      kind: kind === "invalid" ? "refused" : kind,
      problem: { code, message },
      retryAfterMs,
      pressed,
      credentials,
      unnamed,
    };
  }

  /**
   * What is journaled of a look-up. Every way of saying that key or signature are not accepted
   * (the interface names no code for it) becomes one code; the archive's own words stay.
   */
  get problem(): Problem {
    const code = this.credentials ? "CREDENTIALS_REFUSED" : this.code;
    return { code, message: this.message };
  }

  /** Whether the archive asked for patience, or took too long: fewer requests at a time may help it. */
  get pressed(): boolean {
    if (this.httpStatus !== undefined) return PRESSED_STATUSES.includes(this.httpStatus);
    if (this.code === "ARCHIVE_TIMEOUT") return true;
    return this.code === "ARCHIVE_UNREACHABLE" && codeOf(this.cause) === "ETIMEDOUT";
  }
}

/** Too many requests, not available just now, and a proxy that waited in vain. */
const PRESSED_STATUSES: readonly number[] = [429, 503, 504];

function hintOf(code: string, credentials: boolean): string {
  if (Object.hasOwn(CLIENT_CODES, code)) return CLIENT_CODES[code as ClientCode];
  if (credentials) return FAILURES.CREDENTIALS_REFUSED.hint;
  return failureOf(code).hint;
}
