import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { codeOf, Fault, messageOf } from "../std/fault.ts";
import { isLoopback } from "../std/web-caller.ts";

/** Where the listener stands, and by which names it may be called. */
export type Address = {
  /** The host as configured, lower case. */
  readonly host: string;
  /** What is bound: an address, never a name. */
  readonly ip: string;
  readonly isLoopback: boolean;
  /** Bound to every address of this host. */
  readonly isWildcard: boolean;
  /** What else it is called by: names of reverse proxies, lower case. */
  readonly names: readonly string[];
};

const WILDCARDS = ["0.0.0.0", "::"];

/**
 * The address of a configured host. A name is looked up here, once, so that "is this loopback" is
 * decided about the very address that is bound. Rejects with the Fault `WEB_LISTEN`.
 */
export async function addressOf(
  listen: { host: string; port: number },
  names: readonly string[] = [],
): Promise<Address> {
  const host = listen.host.toLowerCase();
  const ip = await ipOf(host).catch((error: unknown) => {
    throw listenFault(listen, error);
  });
  return { host, ip, isLoopback: isLoopback(ip), isWildcard: WILDCARDS.includes(ip), names };
}

async function ipOf(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  // The name may stand for two addresses; browsers and tools try both, so one is enough.
  if (host === "localhost") return "127.0.0.1";
  const { address } = await lookup(host);
  return address;
}

/**
 * True when a Host header names this listener. A page from elsewhere can have its own name point
 * here (DNS rebinding), and its requests then look like ours in everything but this header.
 */
export function isCalledBy(header: string | undefined, address: Address): boolean {
  const name = nameOf(header);
  if (name === undefined) return false;
  if (name === "localhost" || name === address.host || name === address.ip) return true;
  if (address.names.includes(name)) return true;
  if (isIP(name) === 0) return address.isWildcard && name === hostname().toLowerCase();
  // Rebinding needs a name: an address in the header is the address that was dialled.
  return isLoopback(name) || address.isWildcard;
}

/** Host without port and brackets, lower case; undefined for what is no host. */
function nameOf(header: string | undefined): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header ?? "");
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** Where a person finds the page; for a wildcard, from this host. No slash at its end. */
export function urlOf(address: Address, port: number): string {
  const host = address.isWildcard ? "localhost" : address.host;
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken by another program",
  EADDRNOTAVAIL: "this host has no such address",
  EACCES: "the daemon's user may not use this port",
  ENOTFOUND: "no address is known for this name",
};

/** The listener could not be opened. */
export function listenFault(listen: { host: string; port: number }, error: unknown): Fault {
  const host = isIP(listen.host) === 6 ? `[${listen.host}]` : listen.host;
  const why = REASONS[codeOf(error) ?? ""] ?? messageOf(error);
  return new Fault(
    "WEB_LISTEN",
    `cannot listen on ${host}:${listen.port}: ${why}`,
    "Change `web.listen`, or set `web: off`.",
    { cause: error },
  );
}
