/** A way through an HTTP proxy, by CONNECT (RFC 9110, 9.3.6). */
import type { Socket } from "node:net";
import type { Clock } from "../std/clock.ts";
import { codeOf } from "../std/fault.ts";
import { legible } from "../std/legible.ts";
import type { HostPort } from "./dial.ts";
import { loginOf, placeOf, shownPlace } from "./network.ts";
import { ConnectError } from "./connect-error.ts";

/** Of a proxy's answer no more than this is read. */
const HEAD_BYTES_MAX = 16 * 1024;

/** What a proxy that knows its users gets with each request; undefined where it has no user. */
export function proxyAuthorization(proxy: string): string | undefined {
  const { user, password } = loginOf(proxy);
  if (user === "") return undefined;
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/**
 * Asks the proxy at the other end of `socket` for a tunnel to `place`. Rejects with a `ConnectError`, and ends the
 * connection, unless the proxy says that there is one: until then nothing of a request has left.
 */
export async function tunnel(
  socket: Socket,
  proxy: string,
  place: HostPort,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<void> {
  const through = `the proxy ${shownPlace(placeOf(proxy))}`;
  const to = shownPlace(place);
  const authorization = proxyAuthorization(proxy);
  const login = authorization === undefined ? "" : `Proxy-Authorization: ${authorization}\r\n`;
  const answer = Promise.withResolvers<string>();
  const cancel = clock.alarm(timeoutMs, () => {
    const message = `${through} made no way to ${to} within ${timeoutMs / 1_000} s`;
    answer.reject(new ConnectError("unreachable", message, "ETIMEDOUT"));
  });
  const lost = (error?: Error) => {
    const why = error ? ` (${codeOf(error) ?? error.message})` : "";
    const message = `${through} ended the connection instead of making a way to ${to}${why}`;
    answer.reject(new ConnectError("unreachable", message, codeOf(error) ?? "ECONNRESET"));
  };
  let head = Buffer.alloc(0);
  const read = () => {
    for (
      let chunk = socket.read() as Buffer | null;
      chunk;
      chunk = socket.read() as Buffer | null
    ) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end >= 0) {
        const rest = head.subarray(end + 4);
        if (rest.length > 0) socket.unshift(rest);
        answer.resolve(head.subarray(0, end).toString("latin1"));
        return;
      }
      if (head.length > HEAD_BYTES_MAX) lost(new Error("an answer without end"));
    }
  };
  socket.on("readable", read).once("error", lost).once("end", lost).once("close", lost);
  socket.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`);
  try {
    const refusal = refusalIn(await answer.promise, through, to, authorization !== undefined);
    if (refusal) throw refusal;
  } catch (error) {
    socket.on("error", () => {}).destroy();
    throw error;
  } finally {
    cancel();
    for (const event of ["end", "error", "close"]) socket.removeListener(event, lost);
    socket.removeListener("readable", read);
  }
}

/** What the answer means, unless it is that the tunnel stands. */
function refusalIn(
  head: string,
  through: string,
  to: string,
  hasLogin: boolean,
): ConnectError | undefined {
  const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(head)?.[1]);
  if (status >= 200 && status < 300) return undefined;
  const said = Number.isNaN(status) ? "no HTTP" : `HTTP ${status}`;
  if (status === 407)
    return new ConnectError("proxy", `${through} ${wanted(head, hasLogin)}`, said);
  if (status >= 400 && status < 500)
    return new ConnectError("proxy", `${through} does not let us through to ${to} (${said})`, said);
  return new ConnectError("unreachable", `${through} cannot reach ${to} (${said})`, said);
}

/** What a 407 asks for; only `Basic` is spoken here. */
function wanted(head: string, hasLogin: boolean): string {
  const schemes = [...head.matchAll(/^proxy-authenticate:\s*([\w-]+)/gim)].map(
    ([, one = ""]) => one,
  );
  const names = legible([...new Set(schemes)].join(", "));
  if (schemes.length > 0 && !schemes.some((one) => /^basic$/i.test(one)))
    return `asks for ${names}, of which none is spoken here (HTTP 407)`;
  return hasLogin
    ? "refuses the user or the password (HTTP 407)"
    : "asks for a user and a password (HTTP 407)";
}
