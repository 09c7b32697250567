/**
 * The drop-in of the systemd unit for one configuration: of the places where sources lie it opens
 * just the configured ones, and of the network just the archive, where that has a fixed address.
 *
 * Written from the configuration and the mount table alone; no source is looked at.
 */
import { isIP } from "node:net";
import { isLinkLocal } from "../network/address-filter.ts";
import { isLoopback } from "../std/web-caller.ts";
import { isNetwork, type Mount, mountOf } from "../source/mounts.ts";
import { UsageError } from "../std/fault.ts";

/** What a service needs to reach. Paths are absolute. */
export type Needs = {
  readonly configFile: string;
  /** The file's name without its ending, for `scanferry@NAME`; undefined: for the plain unit. */
  readonly instance: string | undefined;
  readonly mirrors: readonly {
    readonly source: string;
    readonly after: After;
    /** A program next to scanferry may write to the source: a `before` hook. */
    readonly isWritten?: boolean;
    /** Where vetoed files go; absent: they stay. */
    readonly vetoedTo?: string;
  }[];
  /** Programs of hooks, as the configuration names them. */
  readonly programs?: readonly string[];
  /** Folders that the daemon itself writes to: of journal, log and receipts. */
  readonly folders: readonly string[];
  /** Where the PostgreSQL is that it is in; absent: on this machine. */
  readonly journalHost?: string;
  /** Names of the credentials that the configuration asks for. */
  readonly credentials: readonly string[];
  /** Other files that are read: a module that signs, a program that notifies. */
  readonly files: readonly string[];
  readonly archiveHosts: readonly string[];
  /** Where channels and the ping go; empty: not known before the service runs. */
  readonly toldHosts: readonly string[];
  /** Where the page listens; undefined: nowhere. */
  readonly webHost: string | undefined;
  /** Addresses that names are asked of. */
  readonly nameservers: readonly string[];
};

/** `to` is where finished files go. */
type After = { readonly kind: "keep" | "delete" } | { readonly kind: "move"; readonly to: string };

/** What the unit says without a drop-in. */
const DEFAULT_CONFIG = "/etc/scanferry/scanferry.yaml";
const PROGRAM = "/opt/scanferry/bin/scanferry";
const STATE = "/var/lib/scanferry";

/** What is closed but for the sources; the unit closes the homes on its own (`ProtectHome=`). */
const HOMES = ["/home", "/root", "/run/user"];
const TOPS = [...HOMES, "/srv", "/mnt", "/media", "/run/media"];

/** The text of the drop-in. Throws `UsageError` for a path that no unit can hold. */
export function dropIn(needs: Needs, mounts: readonly Mount[]): string {
  const places = [...placesOf(needs)];
  const sections = [
    "[Service]",
    ...programLines(needs),
    ...credentialLines(needs),
    ...closing(places, mounts),
    ...networkLines(needs),
  ];
  return `${sections.join("\n")}\n`;
}

/** A place that the service reads, or writes to. */
type Place = { readonly path: string; readonly isWritten: boolean };

function* placesOf(needs: Needs): Generator<Place> {
  const { mirrors, configFile, files, folders, instance, programs = [] } = needs;
  for (const { source, after, isWritten = false, vetoedTo } of mirrors) {
    yield { path: source, isWritten: isWritten || after.kind !== "keep" };
    if (vetoedTo !== undefined) yield { path: vetoedTo, isWritten: true };
    if (after.kind === "move" && !isBelow(source, after.to))
      yield { path: after.to, isWritten: true };
  }
  for (const path of [configFile, ...files, ...programs]) yield { path, isWritten: false };
  const own = instance === undefined ? STATE : `${STATE}-${instance}`;
  for (const path of folders) if (!isBelow(own, path)) yield { path, isWritten: true };
}

function programLines({ configFile, instance }: Needs): string[] {
  if (instance !== undefined || configFile === DEFAULT_CONFIG) return [];
  return ["ExecStart=", `ExecStart=${PROGRAM} --config ${quoted(configFile)} run`];
}

/** Files and folders that the service misses if they are not there when it starts; none on a share, which may hang. */
export function* wantedPaths(needs: Needs, mounts: readonly Mount[]): Generator<string> {
  for (const [, file] of credentialFiles(needs)) yield file;
  for (const { path } of placesOf(needs)) {
    const mount = mountOf(path, mounts);
    if (mount && !isNetwork(mount)) yield path;
  }
}

/** Names of the credentials, and the file of each. */
function credentialFiles({ configFile, instance, credentials }: Needs): [string, string][] {
  const folder = configFile.slice(0, configFile.lastIndexOf("/"));
  const secrets = `${folder}/secrets${instance === undefined ? "" : `/${instance}`}`;
  return credentials.map((name) => [name, `${secrets}/${name}`]);
}

function credentialLines(needs: Needs): string[] {
  return [
    "# The secrets that the configuration names. Each file is readable by root only.",
    "LoadCredential=",
    ...credentialFiles(needs).map((names) => `LoadCredential=${quoted(names.join(":"))}`),
  ];
}

/** Closes what can be closed, and opens the places again that lie there. */
function closing(places: readonly Place[], mounts: readonly Mount[]): string[] {
  const reasons = TOPS.flatMap((top) => {
    const why = whyOpen(top, places, mounts);
    return why === undefined ? [] : [{ top, why }];
  });
  // The homes are closed together, or not at all.
  const opened = reasons.map(({ top }) => top);
  const homesOpen = HOMES.some((home) => opened.includes(home));
  const closed = TOPS.filter((top) => !opened.includes(top) && !(homesOpen && HOMES.includes(top)));
  const covered = closed.filter((top) => !HOMES.includes(top)).map((top) => `${top}:ro`);
  const inHomes = places.some(({ path }) => HOMES.some((home) => isBelow(home, path)));
  return [
    "# Closed except for what follows. A source that is removed and made again while the service",
    "# runs is seen after a restart.",
    ...(inHomes ? [`ProtectHome=${homesOpen ? "read-only" : "tmpfs"}`] : []),
    ...(covered.length > 0 ? [`TemporaryFileSystem=${covered.join(" ")}`] : []),
    ...reasons.map(({ top, why }) => `# ${top} stays open: ${why}.`),
    ...places.flatMap((place) => openingLines(place, closed)),
  ];
}

function openingLines({ path, isWritten }: Place, closed: readonly string[]): string[] {
  const isClosed = closed.some((top) => isBelow(top, path));
  if (isClosed) return [`${isWritten ? "BindPaths" : "BindReadOnlyPaths"}=${quoted(`-${path}`)}`];
  return isWritten ? [`ReadWritePaths=${quoted(`-${path}`)}`] : [];
}

/**
 * Why a top directory cannot be closed. What is opened again must be looked up at the start, and a
 * share that hangs would keep the whole service from starting; one that is mounted later, or again,
 * would not be seen.
 */
function whyOpen(
  top: string,
  places: readonly Place[],
  mounts: readonly Mount[],
): string | undefined {
  for (const { path } of places) {
    if (!isBelow(top, path)) continue;
    const mount = mountOf(path, mounts);
    if (!mount) return `cannot find the file system of ${shownIn(path)}`;
    if (isNetwork(mount) || !isBelow(mount.point, top))
      return `${shownIn(path)} is on its own file system (${mount.fsType} at ${shownIn(mount.point)})`;
  }
  return undefined;
}

function networkLines(needs: Needs): string[] {
  const { archiveHosts, toldHosts, webHost, journalHost, nameservers } = needs;
  const named = [
    ...archiveHosts,
    ...toldHosts,
    ...(journalHost === undefined ? [] : [journalHost]),
  ];
  const hosts = named.map((host) => host.replace(/^\[|\]$/g, ""));
  const isWide = webHost !== undefined && !isLoopback(webHost);
  if (isWide || hosts.some((host) => isIP(host) === 0 && !isLoopback(host))) {
    return [
      ...linkLocalLines([...hosts, ...nameservers]),
      "# Where the archive, the channels, the name servers and all who look at the page have fixed addresses:",
      "# IPAddressAllow=",
      "# IPAddressAllow=localhost 192.0.2.10 192.0.2.53",
    ];
  }
  const others = new Set(hosts.filter((host) => !isLoopback(host)));
  const allowed = ["localhost", ...others].join(" ");
  return [
    "# The service reaches no other address.",
    "IPAddressAllow=",
    `IPAddressAllow=${allowed}`,
  ];
}

/** The unit lets none of them through on its own. */
function linkLocalLines(addresses: readonly string[]): string[] {
  const needed = new Set(addresses.filter(isLinkLocal));
  if (needed.size === 0) return [];
  return [
    "# Name servers and hosts on this link. What else has the same address, such as a cloud's metadata",
    "# service, is let through with them.",
    `IPAddressAllow=${[...needed].join(" ")}`,
  ];
}

function isBelow(folder: string, path: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

/** A word as unit files write it. */
function quoted(word: string): string {
  const specific = shownIn(word).replaceAll("%", "%%");
  if (/^[\w@%+=:,./-]+$/.test(specific)) return specific;
  return `"${specific.replaceAll(/["\\]/g, "\\$&")}"`;
}

function shownIn(path: string): string {
  if (!/\p{Cc}/u.test(path)) return path;
  throw new UsageError(
    `${JSON.stringify(path)} has a control character, which a unit cannot hold; rename it`,
  );
}
