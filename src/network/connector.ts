/** Connections to one server, for undici: straight or through a proxy, plain or by TLS. */
import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import type { Clock } from "../std/clock.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import { dial, type DialOptions, type HostPort } from "./dial.ts";
import { type NetworkSettings, placeOf, loginOf, shownPlace, ConnectError } from "./network.ts";
import { secure } from "./secure.ts";
import { UNKNOWN_AUTHORITY } from "./tls-words.ts";
import { Trust } from "./trust.ts";
import { legible } from "../std/printable.ts";

export type ConnectorOptions = {
  readonly network: NetworkSettings;
  /** For each step of the way: name and addresses, the proxy's answer, TLS. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly stepwise?: boolean;
  /** For tests; see `DialOptions`. */
  readonly lookup?: DialOptions["lookup"];
};

/** Makes connections; the path and the headers of requests that go over them may have to be others. */
export type Connector = {
  readonly connect: buildConnector.connector;
  /** What stands before a request's path: a proxy gets the whole address where there is no tunnel. */
  readonly pathPrefix: string;
  /** What every request carries in addition. */
  readonly headers: Readonly<Record<string, string>>;
};

/** The connector to the server of `url`. Whatever it rejects with, nothing of a request was sent. */
export function connectorTo(url: URL, options: ConnectorOptions): Connector {
  const { proxy } = options.network;
  const route = new Route(url, options);
  const connect: buildConnector.connector = (_, callback) => void hand(route, callback);
  if (proxy === undefined || url.protocol === "https:")
    return { connect, pathPrefix: "", headers: {} };
  const authorization = proxyAuthorization(proxy);
  const headers = authorization === undefined ? {} : { "proxy-authorization": authorization };
  return { connect, pathPrefix: url.origin, headers };
}

async function hand(route: Route, callback: buildConnector.Callback): Promise<void> {
  let socket: Socket;
  try {
    socket = await route.open();
  } catch (error) {
    callback(asConnectError(error), null);
    return;
  }
  callback(null, withoutContinue(socket));
}

const CONTINUE = Buffer.from("HTTP/1.1 100");
const END_OF_HEAD = "\r\n\r\n";

/**
 * Leaves out each `100 Continue` that a chunk begins with. A server may send it although no one asked (RFC 9110, 15.2),
 * and undici breaks the connection then. What the archive says is JSON, in which such a line cannot stand.
 */
function withoutContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    let chunk: Buffer | null = read(size);
    while (chunk !== null && chunk.subarray(0, CONTINUE.length).equals(CONTINUE)) {
      const end = chunk.indexOf(END_OF_HEAD);
      if (end < 0) return chunk;
      chunk = chunk.subarray(end + END_OF_HEAD.length);
      if (chunk.length === 0) chunk = read(size);
    }
    return chunk;
  };
  return socket;
}

/** undici takes some codes of its own for a reason to connect again without end. */
function asConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  return new ConnectError("unreachable", messageOf(error), codeOf(error) ?? "");
}

class Route {
  readonly #place: HostPort;
  /** Where the proxy is; sessions are known by the place, so each is made once. */
  readonly #proxyPlace: HostPort | undefined;
  readonly #isSecure: boolean;
  readonly #options: ConnectorOptions & { readonly stepwise: boolean };
  readonly #trust: Trust;
  readonly #sessions = new Map<HostPort, Buffer>();

  constructor(url: URL, options: ConnectorOptions) {
    this.#place = placeOf(url.href);
    this.#isSecure = url.protocol === "https:";
    this.#options = { ...options, stepwise: options.stepwise ?? false };
    this.#trust = new Trust(options.network);
    const { proxy } = options.network;
    this.#proxyPlace = proxy === undefined ? undefined : placeOf(proxy);
  }

  async open(): Promise<Socket> {
    try {
      return await this.#open();
    } catch (error) {
      const isUnknown = error instanceof ConnectError && UNKNOWN_AUTHORITY.test(error.code);
      if (!isUnknown || !this.#trust.widen()) throw error;
      return this.#open();
    }
  }

  async #open(): Promise<Socket> {
    const { network, ...options } = this.#options;
    const { proxy } = network;
    const place = this.#proxyPlace;
    if (proxy === undefined || place === undefined) {
      const socket = await dial(this.#place, options);
      return this.#isSecure ? this.#secured(socket, this.#place) : socket;
    }
    const dialled = await dial(place, options).catch((error: ConnectError) => {
      throw new ConnectError(error.problem, `the proxy: ${error.message}`, error.code);
    });
    const socket = proxy.startsWith("https:") ? await this.#secured(dialled, place) : dialled;
    if (!this.#isSecure) return socket;
    await tunnel(socket, proxy, this.#place, options);
    return this.#secured(socket, this.#place);
  }

  #secured(socket: Socket, place: HostPort): Promise<Socket> {
    const { clock, timeoutMs, stepwise, network } = this.#options;
    return secure(socket, {
      place,
      context: this.#trust.context,
      hasClient: network.client !== undefined,
      session: this.#sessions.get(place),
      onSession: (session) => this.#sessions.set(place, session),
      timeoutMs,
      clock,
      stepwise,
    });
  }
}

/** Of a proxy's answer no more than this is read. */
const HEAD_BYTES_MAX = 16 * 1024;

/** What a proxy that knows its users gets with each request; undefined where it has no user. */
function proxyAuthorization(proxy: string): string | undefined {
  const { user, password } = loginOf(proxy);
  if (user === "") return undefined;
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/**
 * Asks the proxy at the other end of `socket` for a tunnel to `place`. Rejects with a `ConnectError`, and ends the
 * connection, unless the proxy says that there is one: until then nothing of a request has left.
 */
async function tunnel(
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
