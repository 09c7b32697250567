/**
 * Does the unit that is installed let the daemon speak to all whom it has to? What its address filter does not let
 * through is dropped without a word, while everything is reached from a shell.
 */
import { lookup } from "node:dns/promises";
import { archivesOf } from "../config/config.ts";
import type { Config } from "../config/config.ts";
import { type Host, partnerAt } from "../config/channel-definition.ts";
import { notifyPartners } from "../config/notify-section.ts";
import { addressFilter, readNameservers } from "../network/address-filter.ts";
import { placeOf } from "../network/network.ts";
import { type CheckResult, fail, ok, warn } from "./check-result.ts";
import { installedUnit } from "./installed-unit.ts";

/** The addresses that one of the daemon's partners has. */
export type Partner = { readonly what: string; readonly addresses: readonly string[] };

/** `root` is that of the host, for its units and its name servers. */
export async function* examineAddressFilter(
  config: Config,
  root = "/",
): AsyncGenerator<CheckResult> {
  const unit = config.file === undefined ? undefined : installedUnit(config.file, root);
  if (!unit) return;
  const passes = addressFilter(unit.values("IPAddressAllow"), unit.values("IPAddressDeny"));
  const partners = await partnersOf(config, `${root}/etc/resolv.conf`);
  const findings = partners.flatMap((partner) => findingOf(partner, unit.name, passes) ?? []);
  if (findings.length > 0) yield* findings;
  else yield ok(`${unit.name} allows the addresses that the daemon connects to`);
}

/** Undefined: none of its addresses is dropped. */
export function findingOf(
  { what, addresses }: Partner,
  unit: string,
  passes: (address: string) => boolean,
): CheckResult | undefined {
  const dropped = addresses.filter((address) => !passes(address));
  if (dropped.length === 0) return undefined;
  const isAll = dropped.length === addresses.length;
  const part = isAll ? "" : " (others pass)";
  return (isAll ? fail : warn)(
    `${unit} blocks ${what}: ${dropped.join(", ")}${part}`,
    "Write its drop-in again (scanferry systemd), or allow the address in your own drop-in:  " +
      `IPAddressAllow=${dropped.join(" ")}; then systemctl daemon-reload, and restart it.`,
  );
}

/** A name that has no address now is left out: that is found where the partner is asked. */
async function partnersOf(config: Config, resolvConf: string): Promise<Partner[]> {
  const nameservers = { what: "the name servers", addresses: readNameservers(resolvConf) };
  const hosts = await Promise.all(
    hostsOf(config).map(async ({ what, host }) => {
      const found = await lookup(host, { all: true }).catch(() => []);
      return { what: `${what} ${host}`, addresses: found.map(({ address }) => address) };
    }),
  );
  return [nameservers, ...hosts];
}

function hostsOf(config: Config): Host[] {
  const { notify, journal } = config;
  const server = typeof journal === "string" ? "" : placeOf(journal.server).host;
  return [
    ...archivesOf(config).map(({ url, network }) => partnerAt("the archive", url, network)),
    ...(notify ? notifyPartners(notify) : []),
    // Of none, or of a folder, it is a socket of this machine.
    ...(server === "" || server.startsWith("%2F") ? [] : [{ what: "PostgreSQL", host: server }]),
  ];
}
