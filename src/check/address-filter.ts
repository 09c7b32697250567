/**
 * Does the unit that is installed let the daemon speak to all whom it has to? What its address filter does not let
 * through is dropped without a word, while everything is reached from a shell.
 */
import { lookup } from "node:dns/promises";
import { archivesOf, type Config } from "../config/config.ts";
import { type Host, partnerAt } from "../config/channel-definition.ts";
import { notifyPartners } from "../config/notify-section.ts";
import { addressFilter, readNameservers } from "../network/address-filter.ts";
import { placeOf } from "../network/network.ts";
import { type CheckResult, fail, ok, warn } from "./check-result.ts";
import { readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";

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

/** One that came before counts more than what follows. */
const FOLDERS = [
  "etc/systemd/system.control",
  "run/systemd/system.control",
  "etc/systemd/system",
  "run/systemd/system",
  "usr/local/lib/systemd/system",
  "usr/lib/systemd/system",
  "lib/systemd/system",
];

/** A unit, and what its section `[Service]` says. */
type InstalledUnit = {
  readonly name: string;
  /** The values of a setting, in their order; an empty one takes back what came before it. */
  values(setting: string): string[];
};

/** `root` is that of the host; undefined where no unit is installed that runs `configFile`. */
export function installedUnit(configFile: string, root = "/"): InstalledUnit | undefined {
  const instance = basename(configFile, extname(configFile));
  const named = `scanferry@${instance}.service`;
  const candidates = [
    { name: "scanferry.service", files: ["scanferry.service"] },
    { name: named, files: [named, "scanferry@.service"] },
  ];
  const asked = `--config ${unquoted(configFile)} `;
  return candidates
    .map(({ name, files }) => ({ name, values: valuesIn(textsOf(files, root)) }))
    .find(({ values }) =>
      values("ExecStart").some((line) => {
        const specified = line.replaceAll("%i", instance).replaceAll("%%", "%");
        return unquoted(specified).includes(asked);
      }),
    );
}

function unquoted(words: string): string {
  return words.replaceAll(/["\\]/g, "");
}

/** The unit's own file, the first that is found, and its drop-ins in the order of their names; none without the former. */
function textsOf(files: readonly string[], root: string): string[] {
  const places = (names: readonly string[]) =>
    names.flatMap((name) => FOLDERS.map((folder) => join(root, folder, name)));
  const [unit] = places(files).flatMap((path) => textAt(path) ?? []);
  if (unit === undefined) return [];
  const dropIns = new Map<string, string>();
  for (const folder of places([...files, "service"].map((name) => `${name}.d`))) {
    for (const name of namesIn(folder)) {
      if (!name.endsWith(".conf") || dropIns.has(name)) continue;
      dropIns.set(name, textAt(join(folder, name)) ?? "");
    }
  }
  const inOrder = [...dropIns].sort(([one], [other]) => (one < other ? -1 : 1));
  return [unit, ...inOrder.map(([, text]) => text)];
}

function valuesIn(texts: readonly string[]): InstalledUnit["values"] {
  const settings = texts.flatMap(settingsIn);
  return (setting) => {
    const values = settings.flatMap(([name, value]) => (name === setting ? [value] : []));
    return values.slice(values.lastIndexOf("") + 1);
  };
}

/** The assignments of `[Service]`. */
function settingsIn(text: string): [name: string, value: string][] {
  let section = "";
  const lines = text.replaceAll(/^[ \t]*[#;].*\n/gm, "").replaceAll(/\\\n/g, " ");
  return lines.split("\n").flatMap((line): [string, string][] => {
    section = /^\s*\[(.*)\]\s*$/.exec(line)?.[1] ?? section;
    const [, name, value] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined || section !== "Service"
      ? []
      : [[name, value]];
  });
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
