/**
 * Who calls a page that this program serves: from this host, by way of a proxy, or sent by another page. One
 * place for the daemon's page and the embedded archive's.
 */
import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** True for `localhost`, and an address of the machine itself; also one of IPv4 that is written as one of IPv6. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^::ffff:(?=\d)/i, "");
  if (isIP(address) === 0) return address.toLowerCase() === "localhost";
  return LOOPBACK.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Headers by which proxies say for whom they ask, next to all that begin with `x-forwarded-`. */
const FORWARDED = [
  "forwarded",
  "via",
  "cf-connecting-ip",
  "true-client-ip",
  "x-client-ip",
  "x-real-ip",
];

/** A proxy on this host makes everyone a caller from this host. Not every proxy says that it is one. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some(
    (name) => FORWARDED.includes(name) || name.startsWith("x-forwarded-"),
  );
}

/** What browsers say about where a request comes from. */
export type WebRequest = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** It is for the page itself, which others may link to. */
  readonly isEntry: boolean;
};

/**
 * True unless a browser says that another page asks. Another page may link to the entry and nothing else:
 * not even read, since an open event stream takes a place. Another port of this host is another page.
 */
export function isOwnPage({ method, headers, isEntry }: WebRequest): boolean {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  const isRead = method === "GET" || method === "HEAD";
  const isLink = isRead && isEntry && origin === undefined;
  const isOurs = site === undefined || site === "same-origin" || (isRead && site === "none");
  return (isOurs || isLink) && (origin === undefined || hostOfOrigin(origin) === host);
}

/** `host:port` of an origin; undefined for `null` and what is none. */
function hostOfOrigin(origin: string): string | undefined {
  return /^https?:\/\/([^/?#\s]+)$/i.exec(origin)?.[1];
}

/**
 * The network that an address speaks for, as a key: an address of IPv4, the first 64 bits of one of IPv6,
 * of which everyone has all that are in them.
 */
export function networkOf(text: string): string {
  const address = text.replace(/^::ffff:(?=\d)/i, "");
  if (isIP(address) !== 6) return address;
  const [start = "", end] = address.split("%", 1).join("").split("::");
  const left = start === "" ? [] : start.split(":");
  const right = end === undefined || end === "" ? [] : end.split(":");
  const middle =
    end === undefined ? [] : Array(Math.max(0, 8 - left.length - right.length)).fill("0");
  return [...left, ...middle, ...right].slice(0, 4).join(":");
}
