/** Which proxy leads to a server, from the environment, in the meaning that curl and others give it. */
import { BlockList, isIP } from "node:net";
import { isLoopback } from "../std/web-caller.ts";
import { placeOf } from "./network.ts";

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
