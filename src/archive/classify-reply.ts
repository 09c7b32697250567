import { SIGNED_TIME_MS_MAX } from "../domain/signing.ts";
import type { Operation } from "../wire/shapes.ts";
import {
  ArchiveError,
  type ArchiveErrorDetails,
  type ArchiveErrorKind,
  errorCodeIn,
  isCodeOf,
  meansCredentials,
} from "./archive-error.ts";
import type { Reply } from "./exchange.ts";
import { JsonFields, type JsonObject, objectOf, own, UnreadableError } from "./json-fields.ts";

/** What a reply answers: the operation, our time, and what must never come out in an error. */
export type ReplyContext = {
  operation: Operation;
  now: number;
  secrets: readonly string[];
  /** Its signature was good for a time only, by the archive's clock. */
  isDated?: boolean;
};

/**
 * Judges a reply (the interface's conventions, 3 and 4). Pure, so that the table can be tested
 * whole.
 *
 * | body                    | 2xx     | 401, 403 | 302, 303, 408, 409, 425, 499 | other 3xx, 4xx | other   |
 * | ----------------------- | ------- | -------- | ---------------------------- | -------------- | ------- |
 * | OK                      | result  | inDoubt  | inDoubt                      | inDoubt        | inDoubt |
 * | ERROR, a known code     | refused | refused  | refused                      | refused        | refused |
 * | ERROR, of credentials   | account | account  | account                      | account        | account |
 * | ERROR, any other        | inDoubt | inDoubt  | inDoubt                      | inDoubt        | inDoubt |
 * | no word of the interface| inDoubt | account  | inDoubt                      | refused        | inDoubt |
 *
 * `account` is `refused` with `credentials`: of an upload that is a suspicion, to be confirmed by a
 * look-up, since what stands before an archive refuses single documents by these statuses. Before the
 * whole request had been handed over, a code below 500 and the third column are `refused`: nobody
 * stores what has no end.
 *
 * Returns what `read` makes of an OK. An OK that `read` cannot read, or that came before the whole
 * request had been handed over, is in doubt: anyone who answered so cannot have stored the file.
 */
export function classifyReply<T>(
  reply: Reply,
  question: ReplyContext,
  read: (payload: JsonFields) => T,
): T {
  const errorOf = errorsOf(reply, question);
  const json = parse(reply.body);
  const response = json && own(json, "response");
  if (json && response === "ERROR") throw errorReply(json, reply, question, errorOf);
  if (!json || response !== "OK") throw bareReply(reply, question.operation, errorOf);
  if (!isSuccess(reply)) {
    throw errorOf("inDoubt", `HTTP_${reply.status}`, "answered OK, but with an error's status");
  }
  if (!reply.afterRequest) {
    throw errorOf("inDoubt", "REPLY_EARLY", "answered OK before it had the whole request");
  }
  try {
    return read(new JsonFields(json, "reply"));
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    throw errorOf("inDoubt", "REPLY_UNREADABLE", `answered OK, but ${error.message}`);
  }
}

/** Makes an error about this reply. */
type ErrorOf = (
  kind: ArchiveErrorKind,
  code: string,
  what: string,
  details?: Pick<ArchiveErrorDetails, "credentials" | "unnamed">,
) => ArchiveError;

function errorsOf(reply: Reply, question: ReplyContext): ErrorOf {
  const { operation, now } = question;
  const retryAfterMs = retryAfterMsOf(reply.headers, now);
  return (kind, code, what, more = {}) => {
    const details: ArchiveErrorDetails = { httpStatus: reply.status, ...more };
    if (retryAfterMs !== undefined) details.retryAfterMs = retryAfterMs;
    let message = `${operation}: the archive ${what} (HTTP ${reply.status})`;
    const apart = more.credentials ? clocksApart(reply, question) : undefined;
    if (apart !== undefined) {
      message += `; ${apart}`;
      details.hint = CLOCK_HINT;
    }
    return new ArchiveError(kind, code, message, details);
  };
}

/** Why a dated signature may have been refused; undefined: the clocks agree, or the archive tells no time. */
function clocksApart(reply: Reply, { now, isDated }: ReplyContext): string | undefined {
  const date = dateOf(reply.headers);
  if (!isDated || date === undefined) return undefined;
  const aheadMs = now - date;
  // The header is exact to a second, and the reply took its time.
  if (Math.abs(aheadMs) < SIGNED_TIME_MS_MAX - DATE_SLACK_MS) return undefined;
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  const side = aheadMs > 0 ? "ahead of" : "behind";
  return `this host's clock is ${minutes} min ${side} the archive's, and hmac2 allows ${SIGNED_TIME_MS_MAX / 60_000}`;
}

const DATE_SLACK_MS = 5_000;
const CLOCK_HINT =
  "Set this host's clock, e.g. by NTP: with `scheme: hmac2` a signature is good for a few minutes.";

function isSuccess({ status }: Reply): boolean {
  return status >= 200 && status < 300;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The body as an object; undefined when it is not one. Takes a byte order mark, but only UTF-8. */
function parse(body: Reply["body"]): JsonObject | undefined {
  if (typeof body === "string") return undefined;
  try {
    return objectOf(JSON.parse(utf8.decode(body)));
  } catch {
    // HTML, nothing, half a reply, bytes that are not UTF-8: whatever it is, it is not ours.
    return undefined;
  }
}

/** The archive's own word, of which only two kinds prove anything: the operation's codes, and those of credentials. */
function errorReply(
  json: JsonObject,
  reply: Reply,
  { operation, secrets }: ReplyContext,
  errorOf: ErrorOf,
): ArchiveError {
  const { status } = reply;
  const code = errorCodeIn(own(json, "responseDescription"), operation, secrets);
  if (operation === "upload" && objectOf(own(json, "document"))?.["id"]) {
    const what = `answered ${code ?? "ERROR"} and a document, one of which is wrong`;
    return errorOf("inDoubt", "REPLY_UNREADABLE", what);
  }
  if (code !== undefined && isCodeOf(operation, code)) {
    return errorOf("refused", code, `refused: ${code}`);
  }
  if (code !== undefined && meansCredentials(code)) {
    return errorOf("refused", code, `refused: ${code}`, { credentials: true });
  }
  const what =
    code === undefined
      ? "answered with an error without a code"
      : `answered ${code}, which the interface does not name`;
  const shown = code ?? (isSuccess(reply) ? "REPLY_UNREADABLE" : `HTTP_${status}`);
  // "Internal error" and the like, whatever the status: it may have failed after it stored.
  const isProven = !reply.afterRequest && status < 500 && shown !== "REPLY_UNREADABLE";
  const kind = isProven ? "refused" : "inDoubt";
  if (status === 429) return errorOf(kind, "ARCHIVE_BUSY", `asked for a pause: ${shown}`);
  const credentials = isUnauthorized(reply);
  // What servers say with 5xx passes; what they say otherwise is about what was asked.
  return errorOf(kind, shown, what, { credentials, unnamed: code !== undefined && status < 500 });
}

function isUnauthorized({ status }: Reply): boolean {
  return status === 401 || status === 403;
}

/**
 * Statuses by which servers also answer what they have done, or are still doing: redirects to what came
 * of it, a time that was over, a conflict with what is there, a replay, a client that seemed to be gone.
 */
const AFTER_THE_DEED: readonly number[] = [302, 303, 408, 409, 425, 499];

/** A reply without a word of the interface: only the status is left to go by. */
function bareReply(reply: Reply, operation: Operation, errorOf: ErrorOf): ArchiveError {
  const { status } = reply;
  const what = `answered with ${describe(reply.body)}`;
  if (isSuccess(reply)) {
    const code = reply.body === "too big" ? "REPLY_TOO_BIG" : "REPLY_UNREADABLE";
    return errorOf("inDoubt", code, what);
  }
  if (status === 407) {
    return errorOf("refused", "PROXY_REFUSED", "is behind a proxy that asks for a user");
  }
  if (wantsCertificate(reply)) {
    return errorOf("refused", "TLS_REFUSED", "asks for a client certificate, or another one");
  }
  if (isUnauthorized(reply)) return unauthorized(status, operation, errorOf);
  if (status === 429) return errorOf("refused", "ARCHIVE_BUSY", "asked for a pause");
  const isDone = AFTER_THE_DEED.includes(status) && reply.afterRequest;
  const kind = status >= 300 && status < 500 && !isDone ? "refused" : "inDoubt";
  const isRedirect = status >= 300 && status < 400;
  return errorOf(kind, `HTTP_${status}`, isRedirect ? "redirects, which is not followed" : what);
}

function unauthorized(status: number, operation: Operation, errorOf: ErrorOf): ArchiveError {
  const credentials = true;
  if (operation !== "upload") {
    const what = "refused the account key or signature";
    return errorOf("refused", "CREDENTIALS_REFUSED", what, { credentials });
  }
  const what = "(or what stands before it) refused this upload";
  return errorOf("refused", `HTTP_${status}`, what, { credentials });
}

/** What nginx and IIS answer where they got no client certificate, or one that they do not accept. */
function wantsCertificate({ status, body }: Reply): boolean {
  if (typeof body === "string" || ![400, 403, 495, 496].includes(status)) return false;
  return /\b(?:SSL|client) certificate\b/i.test(body.toString("latin1"));
}

function describe(body: Reply["body"]): string {
  if (body === "too big") return "more than is read";
  if (body === "encoded") return "a compressed body, which was not asked for";
  return body.length === 0 ? "nothing" : "something that is not a reply of the interface";
}

/** However long the archive asks us to wait, after a day we look again. */
const RETRY_AFTER_MS_MAX = 86_400_000;

/** Dates in headers begin with the day's name; `Date.parse` alone takes almost anything. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** The moment in the Date header, epoch milliseconds, exact to a second. */
export function dateOf(headers: Reply["headers"]): number | undefined {
  return httpDate(headers["date"]);
}

/** What Retry-After asks for, milliseconds in [0, 1 day]; by the archive's clock where known. */
function retryAfterMsOf(headers: Reply["headers"], now: number): number | undefined {
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  const asked = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : undefined;
  const at = httpDate(value);
  const ms = asked ?? (at === undefined ? undefined : at - (dateOf(headers) ?? now));
  return ms === undefined ? undefined : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}

function httpDate(value: string | string[] | undefined): number | undefined {
  if (typeof value !== "string" || !HTTP_DATE.test(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}
