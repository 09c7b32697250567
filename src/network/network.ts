/**
 * How a server is reached. Plain data, so that it can be sent to a child process. Proxy and client
 * key are secrets.
 */
export type NetworkSettings = {
  /** `http://` or `https://`, with user and password where it asks for them; absent: straight. */
  readonly proxy?: string | undefined;
  /** PEM: authorities that are trusted next to those of the host. */
  readonly ca?: string | undefined;
  /** PEM: what proves who we are to a server that asks, the certificate first; with its key. */
  readonly client?: { readonly cert: string; readonly key: string } | undefined;
};

/** Everything in it that must never be shown. */
export function networkSecretsOf({ proxy, client }: NetworkSettings): string[] {
  const { user, password } = proxy === undefined ? NOBODY : loginOf(proxy);
  const secrets = [user, password, ...(client ? [client.key] : [])];
  if (user !== "") secrets.push(Buffer.from(`${user}:${password}`).toString("base64"));
  return secrets.filter((secret) => secret !== "");
}

const NOBODY = { user: "", password: "" };

/** User and password of a proxy's address, decoded; empty where it has none. */
export function loginOf(proxy: string): { readonly user: string; readonly password: string } {
  const { username, password } = new URL(proxy);
  return { user: decoded(username), password: decoded(password) };
}

/** A `%` that begins no escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Host and port of a URL, the port also where it is the scheme's own. */
export function placeOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replaceAll(/[[\]]/g, "");
  return { host, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}

/** `HOST:PORT` as people write it. */
export function shownPlace({ host, port }: ReturnType<typeof placeOf>): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

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
