/** TLS over a connection that stands. */
import { isIP, type Socket } from "node:net";
import {
  connect,
  type ConnectionOptions,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import type { Clock } from "../std/clock.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import { shownPlace, ConnectError } from "./network.ts";
import type { HostPort } from "./dial.ts";
import { isAboutOurs, ours, tlsProblem } from "./tls-words.ts";

export type SecureOptions = {
  readonly place: HostPort;
  readonly context: SecureContext;
  readonly hasClient: boolean;
  /** Of an earlier connection to the same place. */
  readonly session: Buffer | undefined;
  readonly onSession: (session: Buffer) => void;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly stepwise: boolean;
};

/** Errors of connections whose server refused us before it read anything of a request. */
const unread = new WeakMap<Error, string>();

/**
 * Why the server refused us before it read anything, although the connection stood. In TLS 1.3 it checks our
 * certificate after we may send; its alert comes before anything that was sent is read (RFC 8446, 4.4.2.4).
 */
export function refusedUnread(error: unknown): string | undefined {
  return error instanceof Error ? unread.get(error) : undefined;
}

/** Rejects with a `ConnectError`, and ends the connection, when no TLS comes of it. */
export async function secure(socket: Socket, options: SecureOptions): Promise<TLSSocket> {
  const { place, clock, hasClient } = options;
  const host = shownPlace(place);
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const settings: ConnectionOptions & { highWaterMark: number } = {
    socket,
    host: place.host,
    ...(isIP(place.host) === 0 ? { servername: place.host } : {}),
    secureContext: options.context,
    ...(options.session && { session: options.session }),
    rejectUnauthorized: true,
    // Every rule about what was sent and what was not rests on HTTP/1.1.
    ALPNProtocols: ["http/1.1"],
    highWaterMark: options.stepwise ? 1 : 16_384,
  };
  const wrapped = connect(settings);
  // TLS above it reports what goes wrong beneath.
  socket.on("error", () => {});
  let peer: PeerCertificate | undefined;
  // Before Node itself looks at the certificate, and destroys the socket with it. Not as an `X509Certificate`:
  // Node 24 no longer finds an address in the certificate then.
  wrapped.prependOnceListener("secure", () => {
    peer = wrapped.getPeerCertificate();
  });
  wrapped.on("session", options.onSession);
  const cancel = clock.alarm(options.timeoutMs, () => {
    const message = `${host} did not agree on TLS within ${options.timeoutMs / 1_000} s`;
    wrapped.destroy(new ConnectError("unreachable", message, "ETIMEDOUT"));
  });
  const onError = (error: Error) => {
    if (error instanceof ConnectError) return reject(error);
    const code = codeOf(error) ?? "";
    const known = { host, code, message: messageOf(error), peer, hasClient };
    const { problem, said } = tlsProblem(known);
    return reject(new ConnectError(problem, said, code));
  };
  wrapped.once("error", onError);
  wrapped.once("secureConnect", () => {
    wrapped.removeListener("error", onError);
    if (wrapped.getProtocol() === "TLSv1.3") wrapped.once("error", noteAlert);
    resolve(wrapped);
  });
  const noteAlert = (error: Error) => {
    const code = codeOf(error) ?? "";
    if (isAboutOurs(code)) unread.set(error, `no TLS with ${host}: ${ours(code, hasClient)}`);
    // Node leaves it open, and its end would be told in place of this.
    wrapped.destroy(error);
  };
  return promise.finally(cancel);
}
