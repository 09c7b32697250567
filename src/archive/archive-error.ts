import type { Problem } from "../domain/document.ts";
import { failureOf, FAILURES } from "../domain/failure.ts";
import type { RequestFailure } from "../domain/outcome.ts";
import { codeOf, Fault, InvariantError, messageOf } from "../std/fault.ts";
import { REQUEST_HINTS } from "../domain/lookup-failures.ts";
import { CODES } from "../wire/codes.ts";
import type { Operation } from "../wire/shapes.ts";
import { objectOf, own } from "./json-fields.ts";
import { refusedUnread } from "../network/secure.ts";
import { ConnectError, type ConnectProblem } from "../network/network.ts";

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

/** Where an error object is most likely to keep its code. */
const CODE_KEYS = ["code", "error", "name", "value"];

const CODE = /^[A-Z][A-Z0-9_]{1,99}$/;

/** Words of codes that speak of who we are or what we may; which ones occur is open (Authentication 4). */
const OF_CREDENTIALS =
  /^(?:(?:ACC|API)?KEYS?|SIG|SIGN|SIGNATURES?|(?:UN)?AUTH(?:(?:ENTICAT|ORI[SZ])[A-Z]*)?|CREDENTIALS?|ACCESS|FORBIDDEN|ACCOUNT|LOGIN)$/;

/** Words of codes that are about one document, its place, or how much there is; and a database's key. */
const OF_SOMETHING_ELSE =
  /^(?:DOC|DOCUMENT|DIGIDOC|CONTAINER|FILE|FOLDER|METADATA|QUOTA|LIMIT|SIZE|PAGES?|DUPLICATE|PRIMARY)$/;

/**
 * The error code in `responseDescription`: bare, or in an object, at most one level down, or in a
 * list of one, since its exact encoding is open (Errors 5). A code that the operation can give goes
 * before whatever else looks like one. `secrets` are never taken for a code, even if they look
 * like one and the archive repeats them.
 */
export function errorCodeIn(
  description: unknown,
  operation: Operation,
  secrets: readonly string[],
): string | undefined {
  const found = textsIn(description, 2)
    .map((text) => text.trim())
    .filter((text) => CODE.test(text) && !secrets.includes(text));
  return found.find((code) => isCodeOf(operation, code)) ?? found[0];
}

/** Whether the interface lists this code for the operation. */
export function isCodeOf(operation: Operation, code: string): boolean {
  return (CODES[operation] as readonly string[]).includes(code);
}

/** Whether a code that the interface does not list means that the credentials were refused. */
export function meansCredentials(code: string): boolean {
  const words = code.split("_");
  return (
    words.some((word) => OF_CREDENTIALS.test(word)) &&
    !words.some((word) => OF_SOMETHING_ELSE.test(word))
  );
}

function textsIn(value: unknown, levels: number): string[] {
  if (typeof value === "string") return [value];
  if (levels < 0) return [];
  if (Array.isArray(value)) return value.length === 1 ? textsIn(value[0], levels - 1) : [];
  const object = objectOf(value);
  if (!object) return [];
  const likely = CODE_KEYS.filter((key) => Object.hasOwn(object, key));
  const others = Object.keys(object).filter((key) => !CODE_KEYS.includes(key));
  return [...likely, ...others].flatMap((key) => textsIn(own(object, key), levels - 1));
}

const CONNECT_CODES: Readonly<Record<ConnectProblem, ClientCode>> = {
  unreachable: "ARCHIVE_UNREACHABLE",
  tls: "TLS_REFUSED",
  proxy: "PROXY_REFUSED",
};

/** An error before anything of the request was written: on the way to a connection, or of undici's own. */
export function connectFailure(error: unknown, host: string): ArchiveError | InvariantError {
  const cause = plainCause(error);
  if (error instanceof ConnectError) {
    return new ArchiveError("notSent", CONNECT_CODES[error.problem], error.message, { cause });
  }
  const code = codeOf(error);
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") {
    return new InvariantError(`undici refused the request: ${cause.message}`);
  }
  if (code === "UND_ERR_CLOSED" || code === "UND_ERR_DESTROYED") {
    return new ArchiveError("notSent", "ARCHIVE_CLOSED", "the client is closed", { cause });
  }
  const message = `no connection to ${host}: ${cause.message}`;
  return new ArchiveError("notSent", "ARCHIVE_UNREACHABLE", message, { cause });
}

/**
 * An error after the request, or part of it, was written: nobody knows what became of it, unless the server ended
 * TLS before it read anything.
 */
export function connectionLost(error: unknown, during: string): ArchiveError {
  const cause = plainCause(error);
  const refused = refusedUnread(error);
  if (refused !== undefined) return new ArchiveError("notSent", "TLS_REFUSED", refused, { cause });
  const message = `the connection broke ${during}: ${cause.message}`;
  return new ArchiveError("inDoubt", "CONNECTION_LOST", message, { cause });
}

/**
 * The error without whatever else hangs on it: undici's parser error carries the bytes of the
 * reply, which may repeat the request's credentials.
 */
function plainCause(error: unknown): Error {
  const code = codeOf(error);
  return Object.assign(new Error(messageOf(error)), code === undefined ? {} : { code });
}

/** The time to send is over, and the request has no end. */
export function timeOver(during: string): ArchiveError {
  const message = `another daemon may take over: given up ${during}`;
  return new ArchiveError("notSent", "LEASE_OVER", message);
}
