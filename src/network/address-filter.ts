/** Which addresses a systemd unit lets its processes speak to: systemd.resource-control(5), `IPAddressAllow=`. */
import { BlockList, isIP } from "node:net";
import { readFileSync } from "node:fs";

/** The names that may stand in the place of a network. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  any: ["0.0.0.0/0", "::/0"],
  localhost: ["127.0.0.0/8", "::1/128"],
  "link-local": ["169.254.0.0/16", "fe80::/64"],
  multicast: ["224.0.0.0/4", "ff00::/8"],
};

/** What the unit of scanferry lets through to no host that it does not name. */
const LINK_LOCAL = listOf(["169.254.0.0/16", "fe80::/10"]);

/**
 * Whether packets to an address pass, by the values of `IPAddressAllow=` and `IPAddressDeny=` in their order: what is
 * allowed passes, else what is denied does not, else it passes. A value that is not understood counts for nothing.
 */
export function addressFilter(
  allow: readonly string[],
  deny: readonly string[],
): (address: string) => boolean {
  const allowed = listOf(allow.flatMap(wordsOf));
  const denied = listOf(deny.flatMap(wordsOf));
  return (address) => holds(allowed, address) || !holds(denied, address);
}

/** Whether an address counts on one link alone: RFC 3927, RFC 4291 (2.5.6). */
export function isLinkLocal(address: string): boolean {
  return holds(LINK_LOCAL, address);
}

function wordsOf(value: string): string[] {
  return value.split(/\s+/).filter((word) => word !== "");
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks.flatMap((word) => NAMED[word] ?? [word])) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address);
    const longest = family === 6 ? 128 : 32;
    const length = Number(bits ?? longest);
    if (family === 0 || !Number.isInteger(length) || length < 0 || length > longest) continue;
    list.addSubnet(address, length, typeOf(family));
  }
  return list;
}

function holds(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, typeOf(family));
}

function typeOf(family: number): "ipv4" | "ipv6" {
  return family === 6 ? "ipv6" : "ipv4";
}

/** glibc asks no more of them. */
const COUNT_MAX = 3;

/** Their addresses, in their order and without the interface (`%eth0`); with none written, it is this host. */
export function nameserversIn(resolvConf: string): string[] {
  const found = resolvConf.split("\n").flatMap((line) => {
    const [, address = ""] = /^nameserver[ \t]+([^\s%#;]+)/.exec(line) ?? [];
    return isIP(address) === 0 ? [] : [address];
  });
  return found.length === 0 ? ["127.0.0.1"] : found.slice(0, COUNT_MAX);
}

/**
 * Those of this host, or of what has its file there: resolv.conf(5). The servers behind systemd-resolved (127.0.0.53) do
 * not count: it asks them as a service of its own, with no filter of ours.
 */
export function readNameservers(file = "/etc/resolv.conf"): string[] {
  try {
    return nameserversIn(readFileSync(file, "utf8"));
  } catch {
    return nameserversIn("");
  }
}
