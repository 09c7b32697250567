import { codeOf, messageOf } from "../std/fault.ts";
import { InvariantError } from "../std/invariant.ts";
import { ArchiveError } from "./archive-error.ts";

/** OpenSSL's verdicts on a certificate, and Node's own codes for TLS. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|.*SELF_SIGNED|HOSTNAME_MISMATCH$|INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$|EPROTO$)/;

/** An error before anything was written to a connection: name resolution, connect, TLS. */
export function connectFailure(error: unknown, host: string): ArchiveError | InvariantError {
  const code = codeOf(error) ?? "";
  const cause = plainCause(error);
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") {
    return new InvariantError(`undici refused the request: ${cause.message}`);
  }
  if (code === "UND_ERR_CLOSED" || code === "UND_ERR_DESTROYED") {
    return new ArchiveError("notSent", "ARCHIVE_CLOSED", "the client is closed", { cause });
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") {
    const message = `${host} answers, but not by https`;
    return new ArchiveError("notSent", "ARCHIVE_UNREACHABLE", message, { cause });
  }
  if (TLS_CODE.test(code)) {
    return new ArchiveError("notSent", "TLS_REFUSED", `no TLS with ${host}: ${cause.message}`, {
      cause,
    });
  }
  return new ArchiveError(
    "notSent",
    "ARCHIVE_UNREACHABLE",
    `no connection to ${host}: ${cause.message}`,
    {
      cause,
    },
  );
}

/** An error after the request, or part of it, was written: nobody knows what became of it. */
export function connectionLost(error: unknown, during: string): ArchiveError {
  const cause = plainCause(error);
  const message = `the connection broke ${during}: ${cause.message}`;
  return new ArchiveError("inDoubt", "CONNECTION_LOST", message, { cause });
}

/**
 * The error without whatever else hangs on it: undici's parser error carries the bytes of the
 * reply, which may repeat the request's credentials.
 */
function plainCause(error: unknown): Error {
  // Node's message is empty when several addresses were tried in vain.
  const message =
    error instanceof AggregateError && error.message === ""
      ? error.errors.map(messageOf).join("; ")
      : plainText(messageOf(error));
  const code = codeOf(error);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

/** Of a line of OpenSSL what went wrong, without places in its sources; of Node's no advice for programmers. */
function plainText(message: string): string {
  const [, reason] = /\berror:[0-9A-F]{8}:[^:]*:[^:]*:([^:]+):/.exec(message) ?? [];
  return reason ?? message.replace(/; if the root CA is installed locally, .*$/s, "");
}
