import { refusedUnread } from "../network/secure.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import { InvariantError } from "../std/invariant.ts";
import { ArchiveError, type ClientCode } from "./archive-error.ts";
import { ConnectError, type ConnectProblem } from "../network/network.ts";

const CODES: Readonly<Record<ConnectProblem, ClientCode>> = {
  unreachable: "ARCHIVE_UNREACHABLE",
  tls: "TLS_REFUSED",
  proxy: "PROXY_REFUSED",
};

/** An error before anything of the request was written: on the way to a connection, or of undici's own. */
export function connectFailure(error: unknown, host: string): ArchiveError | InvariantError {
  const cause = plainCause(error);
  if (error instanceof ConnectError) {
    return new ArchiveError("notSent", CODES[error.problem], error.message, { cause });
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
