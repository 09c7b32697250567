import { BlockList, isIP } from "node:net";
import { isLoopback } from "../std/web-caller.ts";

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

/** Which proxy leads to a server, from the environment, in the meaning that curl and others give it. */

/** Variables of the environment that say something of proxies. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that `HTTPS_PROXY` or `HTTP_PROXY` (by the scheme of `url`) names for it, in small letters or capitals,
 * as it stands there; undefined for what `NO_PROXY` excepts, and for this machine itself.
 */
export function proxyIn(env: Environment, url: string): string | undefined {
  if (isExcepted(env, url)) return undefined;
  const name = url.toLowerCase().startsWith("https:") ? "https_proxy" : "http_proxy";
  const proxy = (env[name] || env[name.toUpperCase()] || "").trim();
  if (proxy === "") return undefined;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}

/** Whether nothing goes there by a proxy: by `NO_PROXY`, or because it is this machine. */
export function isExcepted(env: Environment, url: string): boolean {
  const { host, port } = placeOf(url);
  if (isLoopback(host)) return true;
  const list = env["no_proxy"] || env["NO_PROXY"] || "";
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => covers(entry.toLowerCase(), host.toLowerCase(), port));
}

/** `*`, a name (and all below it, with a dot before it or not), an address, a network; each may name a port. */
function covers(entry: string, host: string, port: number): boolean {
  if (entry === "*") return true;
  const [, bracketed, plain, digits] =
    /^(?:\[([^\]]+)\]|([^:]+|[^:]*:[^:]*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
  if (digits !== undefined && Number(digits) !== port) return false;
  const named = bracketed ?? plain ?? "";
  const family = isIP(host);
  if (family !== 0) return coversAddress(named, host, family);
  const name = named.replace(/^\*?\./, "").replace(/\.$/, "");
  const asked = host.replace(/\.$/, "");
  return name !== "" && (asked === name || asked.endsWith(`.${name}`));
}

function coversAddress(named: string, host: string, family: number): boolean {
  const [address = "", bits] = named.split("/");
  if (isIP(address) !== family) return false;
  const type = family === 6 ? "ipv6" : "ipv4";
  const length = Number(bits ?? (family === 6 ? 128 : 32));
  if (!Number.isInteger(length) || length < 0 || length > (family === 6 ? 128 : 32)) return false;
  const list = new BlockList();
  list.addSubnet(address, length, type);
  return list.check(host, type);
}
