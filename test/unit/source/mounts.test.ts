import { expect, test } from "vitest";
import {
  fstabPoints,
  isNetwork,
  type Mount,
  mountOf,
  parseMountinfo,
  readMounts,
  unmounted,
  watchMode,
} from "../../../src/source/mounts.ts";

const TABLE = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
36 27 0:45 / /srv/scans rw,relatime shared:7 master:3 - nfs4 nas:/export/scans rw,vers=4.2
37 27 0:46 / /srv/with\\040space ro,relatime - cifs //nas/scans\\040of\\0402026 rw
38 27 8:1 / /srv/back\\134slash rw - ext4 /dev/sda1 rw
39 36 0:47 / /srv/scans rw,relatime - tmpfs tmpfs rw
a line that is no mount
`;

function mount(fsType: string): Mount {
  return { point: "/srv", root: "/", fsType, device: "0:1", source: "x" };
}

test("lines of the mount table are read, escapes, optional fields and all", () => {
  const mounts = parseMountinfo(TABLE);
  expect(mounts).toHaveLength(6);
  expect(mounts[2]).toEqual({
    point: "/srv/scans",
    root: "/",
    fsType: "nfs4",
    device: "0:45",
    source: "nas:/export/scans",
  });
  expect(mounts[3]).toMatchObject({
    point: "/srv/with space",
    source: "//nas/scans of 2026",
  });
  expect(mounts[4]?.point).toBe("/srv/back\\slash");
});

test.for([
  ["/", "ext4", "the root file system holds what no other does"],
  ["/srv", "ext4", "a directory above a mount point is not on that mount"],
  ["/srv/scans", "tmpfs", "the last of two mounts over one another is seen"],
  ["/srv/scans/2026", "tmpfs", "so it is below it"],
  ["/srv/scans-old", "ext4", "a name that only begins alike is another directory"],
  ["/srv/with space/a", "cifs", "escapes are undone before paths are compared"],
  ["/proc/self", "proc", "the table is not in the order of the tree"],
] as const)("%s is on %s: %s", ([path, fsType]) => {
  expect(mountOf(path, parseMountinfo(TABLE))?.fsType).toBe(fsType);
});

const LINKS: Record<string, string> = {
  "/home": "/data/home",
  "/data/home/anna": "/srv/scans",
  "/data/up": "../srv/./scans/in",
  "/data/here": "here",
  "/srv/scans/link": "/data",
};

test.for([
  ["/home/x", "ext4", "a link to a place on the same file system"],
  ["/home/anna/in", "nfs4", "two links that end on a share"],
  ["/data/up", "nfs4", "a link that is relative"],
  ["/data/here", "ext4", "a link to itself leads nowhere, and ends"],
  ["/srv/scans/link/x", "nfs4", "links on a share are not looked at: it may hang"],
] as const)("by links, %s is on %s: %s", ([path, fsType]) => {
  const looked: string[] = [];
  const linkAt = (at: string) => {
    looked.push(at);
    return LINKS[at];
  };
  const mounts = parseMountinfo(TABLE).filter((each) => each.fsType !== "tmpfs");
  expect(mountOf(path, mounts, linkAt)?.fsType).toBe(fsType);
  expect(looked.filter((at) => at.startsWith("/srv/scans"))).toEqual([]);
});

test.for([
  ["nfs4", true, "another machine writes without a word"],
  ["cifs", true, "the same"],
  ["fuse.sshfs", true, "whatever stands behind a FUSE process"],
  ["fuse.rclone", true, "the same"],
  ["9p", true, "a virtual machine's host writes"],
  ["virtiofs", true, "the same"],
  ["fakeowner", true, "a folder of Docker Desktop's host, by VirtioFS"],
  ["grpcfuse", true, "the same, by gRPC FUSE"],
  ["fuse.grpcfuse", true, "the same"],
  ["osxfs", true, "the same, by its first file system"],
  ["autofs", true, "a share that is mounted once it is asked for"],
  ["fuseblk", false, "a local disk of another system's format"],
  ["ext4", false, "local"],
  ["overlay", false, "a container's own layer"],
  ["tmpfs", false, "memory"],
] as const)("%s is a network file system: %s, %s", ([fsType, network]) => {
  expect(isNetwork(mount(fsType))).toBe(network);
});

test.for([
  ["auto", "ext4", "native", "the kernel tells of every write"],
  ["auto", "nfs4", "polling", "events would never come"],
  ["auto", undefined, "polling", "scanning works everywhere"],
  ["native", "nfs4", "native", "the operator's word counts"],
  ["polling", "ext4", "polling", "the operator's word counts"],
  ["off", "ext4", "off", "the operator's word counts"],
] as const)("%s on %s is %s: %s", ([wanted, fsType, mode]) => {
  const choice = watchMode(wanted, fsType === undefined ? undefined : mount(fsType));
  expect(choice.mode).toBe(mode);
  expect(choice.why).not.toBe("");
});

test("the kernel's own table holds the root and /proc", () => {
  const points = readMounts().map(({ point }) => point);
  expect(points).toContain("/");
  expect(points).toContain("/proc");
});

test("what is to be mounted is read from an fstab: no comments, no swap, not the root", () => {
  const fstab = `# a comment
/dev/vda1 / ext4 defaults 0 1
nas:/export\t/srv/nas/\tnfs4 noauto 0 0
UUID=1 /srv/with\\040space ext4 defaults
UUID=2 none swap sw 0 0
#nas:/old /srv/old nfs4 defaults

`;
  expect(fstabPoints(fstab)).toEqual(["/srv/nas", "/srv/with space"]);
});

test.for([
  ["/srv/nas/done", [], "/srv/nas", "nothing is mounted there"],
  ["/srv/nas", [], "/srv/nas", "the mount point itself"],
  ["/srv/nas/done", ["/srv/nas"], undefined, "it is mounted"],
  ["/srv/nas/done", ["/srv/nas/done"], undefined, "something else is, right there"],
  ["/srv/nasty/done", [], undefined, "another name that begins alike"],
  ["/srv/link/done", [], "/srv/nas", "a link leads there"],
  ["/srv/nas/a/b/done", ["/srv/nas"], "/srv/nas/a/b", "one of two on the way is missing"],
] as const)("%s with %j mounted: %s, as %s", ([path, mounted, missing]) => {
  const points = ["/srv/nas", "/srv/nas/a/b"];
  const mounts = ["/", ...mounted].map((point) => ({ ...mount("ext4"), point }));
  const linkAt = (at: string) => (at === "/srv/link" ? "/srv/nas" : undefined);
  expect(unmounted(path, points, mounts, linkAt)).toBe(missing);
});
