/**
 * The name servers that this host's programs ask: resolv.conf(5). Where systemd-resolved's stub (127.0.0.53) is the
 * one that stands there, its own servers do not count: it asks them as a service of its own, with no filter of ours.
 */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";

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

/** Those of this host, or of what has its file there. */
export function readNameservers(file = "/etc/resolv.conf"): string[] {
  try {
    return nameserversIn(readFileSync(file, "utf8"));
  } catch {
    return nameserversIn("");
  }
}
