/** Connections to one server, for undici: straight or through a proxy, plain or by TLS. */
import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import type { Clock } from "../std/clock.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import { dial, type DialOptions, type HostPort } from "./dial.ts";
import { type NetworkSettings, placeOf } from "./network.ts";
import { secure } from "./secure.ts";
import { UNKNOWN_AUTHORITY } from "./tls-words.ts";
import { Trust } from "./trust.ts";
import { proxyAuthorization, tunnel } from "./tunnel.ts";
import { ConnectError } from "./connect-error.ts";

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
  callback(null, socket);
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
