/**
 * Which file system a path is on, read from the kernel's mount table alone: asking the file system
 * itself would hang with it.
 */
import { readFileSync, readlinkSync } from "node:fs";

/** One line of the mount table. */
export type Mount = {
  readonly point: string;
  /** What of the file system is mounted there; of all of it, `/`. */
  readonly root: string;
  readonly fsType: string;
  /** `major:minor`. */
  readonly device: string;
  /** What is mounted, e.g. `/dev/sda1` or `server:/export`. */
  readonly source: string;
};

/** How a source is watched, and why so; for the log. */
export type WatchChoice = {
  readonly mode: "native" | "polling" | "off";
  readonly why: string;
};

/** The mounts of a `/proc/self/mountinfo` text; lines that are not understood are left out. */
export function parseMountinfo(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    // Optional fields of any number stand between the options and the lone dash.
    const [left = "", right] = line.split(" - ", 2);
    const [, , device, root, point, options] = left.split(" ");
    const [fsType, source] = right?.split(" ") ?? [];
    if (!device || !root || !point || !options || !fsType) return [];
    const places = { point: unescape(point), root: unescape(root), source: unescape(source ?? "") };
    return [{ ...places, fsType, device }];
  });
}

/** The kernel writes space, tab, newline, backslash and `#` as three octal digits. */
function unescape(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

/**
 * The mount that what has this absolute path is on. Links on the way are followed as long as they lie
 * on local file systems: a share is not touched, for it may hang, and the first on the way is the answer.
 */
export function mountOf(
  path: string,
  mounts: readonly Mount[],
  linkAt: LinkAt = readLink,
): Mount | undefined {
  return followed(path, mounts, linkAt).mount;
}

/**
 * What is one and the same for all paths to a directory, whatever links and mounts they lead over: its
 * file system, and its path within. A share's own links are not known, and what a server exports twice
 * is two file systems.
 */
export function placeOnDisk(
  path: string,
  mounts: readonly Mount[],
  linkAt: LinkAt = readLink,
): { readonly fileSystem: string; readonly path: string } {
  const { mount, at } = followed(path, mounts, linkAt);
  if (!mount) return { fileSystem: "", path: at };
  const { device, source, root, point } = mount;
  const names = [...namesOf(at.slice(point.length)), ...namesOf(root)].toReversed();
  return { fileSystem: `${device} ${source}`, path: `/${names.join("/")}` };
}

type LinkAt = (path: string) => string | undefined;

/** The path without links, as far as they may be looked at, and the mount that it is on. */
function followed(
  path: string,
  mounts: readonly Mount[],
  linkAt: LinkAt,
): { readonly mount: Mount | undefined; readonly at: string } {
  let at = "";
  let links = 0;
  for (const ahead = namesOf(path); ahead.length > 0; ) {
    const name = ahead.pop();
    const next = name === ".." ? at.slice(0, at.lastIndexOf("/")) : `${at}/${name}`;
    const mount = over(next, mounts);
    if (mount && isNetwork(mount)) return { mount, at: [next, ...ahead.toReversed()].join("/") };
    const to = links < LINKS_MAX ? linkAt(next) : undefined;
    if (to === undefined) at = next;
    else {
      links += 1;
      ahead.push(...namesOf(to));
      if (to.startsWith("/")) at = "";
    }
  }
  return { mount: over(at, mounts), at };
}

/** As the kernel does. */
const LINKS_MAX = 40;

/** The names of a path, the last one first. */
function namesOf(path: string): string[] {
  return path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .toReversed();
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/**
 * The mount over a path without links: the longest mount point that leads to it, the last of them
 * where one was mounted over another. Compares text.
 */
function over(path: string, mounts: readonly Mount[]): Mount | undefined {
  let best: Mount | undefined;
  for (const mount of mounts) {
    if (leadsTo(mount.point, path) && mount.point.length >= (best?.point.length ?? 0)) best = mount;
  }
  return best;
}

function leadsTo(point: string, path: string): boolean {
  return point === "/" || path === point || path.startsWith(`${point}/`);
}

/** File systems that others may write to behind the kernel's back. */
const NETWORK_TYPES: ReadonlySet<string> = new Set(
  (
    "nfs nfs4 cifs smb3 smbfs ncpfs afs kafs coda davfs sshfs " +
    "9p virtiofs vboxsf vmhgfs prl_fs drvfs fuse " +
    // What Docker Desktop shows a container of its host; other such machines by 9p and virtiofs.
    "fakeowner grpcfuse osxfs " +
    "ceph lustre gfs2 ocfs2 gpfs beegfs orangefs pvfs2 glusterfs " +
    // Something is mounted here once it is asked for, and gone again when nobody does: most often a share.
    "autofs"
  ).split(" "),
);

/**
 * True when events of others' writes, inode numbers and ctime are not to be relied on: network
 * file systems, folders of a virtual machine's host, whatever FUSE serves, and what is mounted on
 * demand. (`fuseblk`, a disk of another system's format, is local.)
 */
export function isNetwork(mount: Mount): boolean {
  return NETWORK_TYPES.has(mount.fsType) || mount.fsType.startsWith("fuse.");
}

/** The kernel's mount table as it is now; empty where there is none. */
export function readMounts(): Mount[] {
  try {
    return parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8"));
  } catch {
    return [];
  }
}

/** Where file systems are to be mounted by an `/etc/fstab`; not `/`, which always is, and no swap. */
export function fstabPoints(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const [source = "", point = ""] = line.trim().split(/\s+/u);
    const path = unescape(point).replace(/\/+$/u, "");
    return source.startsWith("#") || !path.startsWith("/") ? [] : [path];
  });
}

/**
 * The mount point at or above a path where nothing is mounted though something is to be: what is written
 * there would lie on the disk below, out of sight as soon as the share is back. Undefined: all is mounted.
 */
export function unmounted(
  path: string,
  points: readonly string[],
  mounts: readonly Mount[],
  linkAt: LinkAt = readLink,
): string | undefined {
  const { at, mount } = followed(path, mounts, linkAt);
  return points.find((point) => leadsTo(point, at) && !leadsTo(point, mount?.point ?? "/"));
}

/** The same of this host, as it is now; where there is no `/etc/fstab` nothing is to be mounted. */
export function unmountedNow(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync("/etc/fstab", "utf8");
  } catch {
    return undefined;
  }
  return unmounted(path, fstabPoints(text), readMounts());
}

/**
 * How to watch a source on `mount`. `polling` means scanning at short intervals, without events:
 * what can be relied on where another machine writes.
 */
export function watchMode(
  wanted: "auto" | "native" | "polling" | "off",
  mount: Mount | undefined,
): WatchChoice {
  const where = mount ? `${mount.fsType} at ${mount.point}` : "an unknown file system";
  const blind = mount === undefined || isNetwork(mount);
  if (wanted === "off") return { mode: "off", why: "configured: scans by schedule only" };
  if (wanted === "polling") return { mode: "polling", why: "configured" };
  const silence = `${where} does not report writes of other hosts`;
  if (wanted === "native")
    return { mode: "native", why: blind ? `configured, although ${silence}` : "configured" };
  if (blind) return { mode: "polling", why: silence };
  return { mode: "native", why: `${where} is local` };
}
