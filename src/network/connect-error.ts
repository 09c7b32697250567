/**
 * - `unreachable`: no connection came to be, or it ended while it was made.
 * - `tls`: the other side answers, and one of the two does not accept the other.
 * - `proxy`: the proxy refuses to let us through.
 */
export type ConnectProblem = "unreachable" | "tls" | "proxy";

/**
 * No connection came to be, so nothing was sent. `message` says where to and why, and holds no
 * secret. `code` is Node's or OpenSSL's where they gave one.
 */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
  readonly problem: ConnectProblem;
  readonly code: string;

  constructor(problem: ConnectProblem, message: string, code: string) {
    super(message);
    this.problem = problem;
    this.code = code;
  }
}
