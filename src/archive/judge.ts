import type { Operation } from "../wire/shapes.ts";
import { ArchiveError, type ArchiveErrorDetails, type ArchiveErrorKind } from "./archive-error.ts";
import { errorCodeIn, isCodeOf, meansCredentials } from "./error-code.ts";
import type { Reply } from "./exchange.ts";
import { JsonFields, type JsonObject, objectOf, own, UnreadableError } from "./json-fields.ts";
import { retryAfterMsOf } from "./reply-headers.ts";

/** What a reply answers: the operation, our time, and what must never come out in an error. */
export type Question = { operation: Operation; now: number; secrets: readonly string[] };

/**
 * Judges a reply (the interface's conventions, 3 and 4). Pure, so that the table can be tested
 * whole.
 *
 * | body                     | 2xx     | 302, 303 | 3xx     | 4xx     | other   |
 * | ------------------------ | ------- | -------- | ------- | ------- | ------- |
 * | OK                       | result  | inDoubt  | inDoubt | inDoubt | inDoubt |
 * | ERROR with a known code  | refused | refused  | refused | refused | refused |
 * | ERROR with an unknown one| refused | refused  | refused | refused | inDoubt |
 * | anything else, unreadable| inDoubt | inDoubt  | refused | refused | inDoubt |
 *
 * Returns what `read` makes of an OK. An OK that `read` cannot read, or that came before the whole
 * request had been handed over, is in doubt: whoever answered so cannot have stored the file.
 */
export function judge<T>(reply: Reply, question: Question, read: (payload: JsonFields) => T): T {
  const verdict = verdictsOf(reply, question);
  const json = parse(reply.body);
  if (!json) throw otherReply(reply, verdict);
  const response = own(json, "response");
  if (response === "ERROR") throw errorReply(json, reply, question, verdict);
  if (response !== "OK") throw otherReply(reply, verdict);
  if (!isSuccess(reply)) {
    throw verdict("inDoubt", `HTTP_${reply.status}`, "answered OK, but with an error's status");
  }
  if (!reply.afterRequest) {
    throw verdict("inDoubt", "REPLY_EARLY", "answered OK before it had the whole request");
  }
  try {
    return read(new JsonFields(json, "reply"));
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    throw verdict("inDoubt", "REPLY_UNREADABLE", `answered OK, but ${error.message}`);
  }
}

/** Makes an error about this reply. */
type Verdict = (
  kind: ArchiveErrorKind,
  code: string,
  what: string,
  credentials?: boolean,
) => ArchiveError;

function verdictsOf(reply: Reply, { operation, now }: Question): Verdict {
  const retryAfterMs = retryAfterMsOf(reply.headers, now);
  return (kind, code, what, credentials = false) => {
    const details: ArchiveErrorDetails = { httpStatus: reply.status, credentials };
    if (retryAfterMs !== undefined) details.retryAfterMs = retryAfterMs;
    const message = `${operation}: the archive ${what} (HTTP ${reply.status})`;
    return new ArchiveError(kind, code, message, details);
  };
}

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

function errorReply(
  json: JsonObject,
  reply: Reply,
  { operation, secrets }: Question,
  verdict: Verdict,
): ArchiveError {
  const code = errorCodeIn(own(json, "responseDescription"), operation, secrets);
  if (code === undefined) return otherReply(reply, verdict, "an error without a code");
  const known = isCodeOf(operation, code);
  if (!known && reply.status === 429) {
    return verdict("refused", "ARCHIVE_BUSY", `asked for a pause: ${code}`);
  }
  const credentials = !known && (isUnauthorized(reply) || meansCredentials(code));
  if (!known && !credentials && reply.status >= 500) {
    // "Internal error" and the like: it may have failed after it stored.
    return verdict("inDoubt", code, `failed: ${code}`);
  }
  return verdict("refused", code, `refused: ${code}`, credentials);
}

function isUnauthorized({ status }: Reply): boolean {
  return status === 401 || status === 403;
}

/** Redirects by which servers also answer what they have done; all others want to have it asked elsewhere. */
const AFTER_THE_DEED: readonly number[] = [302, 303];

/** A reply without a word of the interface: only the status is left to go by. */
function otherReply(reply: Reply, verdict: Verdict, what = describe(reply.body)): ArchiveError {
  const { status } = reply;
  if (isSuccess(reply)) {
    const code = reply.body === "too big" ? "REPLY_TOO_BIG" : "REPLY_UNREADABLE";
    return verdict("inDoubt", code, `answered with ${what}`);
  }
  if (isUnauthorized(reply)) {
    return verdict("refused", "CREDENTIALS_REFUSED", "refused the account key or signature", true);
  }
  if (status === 429) return verdict("refused", "ARCHIVE_BUSY", "asked for a pause");
  if (status >= 300 && status < 400) {
    const isDone = AFTER_THE_DEED.includes(status) && reply.afterRequest;
    const kind = isDone ? "inDoubt" : "refused";
    return verdict(kind, `HTTP_${status}`, "redirects, which is not followed");
  }
  const kind = status >= 400 && status < 500 ? "refused" : "inDoubt";
  return verdict(kind, `HTTP_${status}`, `answered with ${what}`);
}

function describe(body: Reply["body"]): string {
  if (body === "too big") return "more than is read";
  if (body === "encoded") return "a compressed body, which was not asked for";
  return body.length === 0 ? "nothing" : "something that is not a reply of the interface";
}
