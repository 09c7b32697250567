import { expect, test } from "vitest";
import { SourcePlaces } from "../../../src/daemon/source-places.ts";
import { type Mount, parseMountinfo } from "../../../src/source/mounts.ts";
import { Stopping } from "../../../src/std/abort.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";

const ROOT = "27 1 254:0 / / rw - ext4 /dev/vda rw";
const NFS = "36 27 0:45 / /nowhere/scans ro - nfs4 nas:/scans ro";
const AUTOFS = "36 27 0:45 / /nowhere/scans rw - autofs systemd-1 rw";
const DISK = "36 27 8:1 / /nowhere/scans rw - ext4 /dev/sda1 rw";
const OTHER = "37 27 8:2 / /nowhere/other rw - ext4 /dev/sdb1 rw";

const SOURCES = [
  { name: "scans", source: "/nowhere/scans" },
  { name: "desk", source: "/nowhere/desk" },
];

test.for([
  [[ROOT], [ROOT, NFS], "a network file system at /nowhere/scans", "a share is mounted late"],
  [[ROOT], [ROOT, DISK], "a local file system at /nowhere/scans", "it gets a reader of its own"],
  [[ROOT, NFS], [ROOT], "a local file system at /", "it is unmounted"],
  [[ROOT, DISK], [ROOT, NFS], "a network file system at /nowhere/scans", "of another kind"],
  [[], [ROOT, NFS], "a network file system at /nowhere/scans", "nothing was known before"],
  [[ROOT, AUTOFS], [ROOT, AUTOFS, NFS], null, "mounted on demand: nothing is decided otherwise"],
  [[ROOT], [ROOT, OTHER], null, "no source lies there"],
] as const)("%# from %j to %j: %j, because %s", async ([before, after, place]) => {
  const clock = new ManualClock();
  let mounts: Mount[] = parseMountinfo(before.join("\n"));
  const places = new SourcePlaces(SOURCES, () => mounts);
  const over = new AbortController();
  const left = places.left(clock, over.signal).catch((error: unknown) => error);
  await clock.advance(60_000);
  mounts = parseMountinfo(after.join("\n"));
  await clock.advance(5_000);
  over.abort(new Stopping("at the end"));
  const found = await left;
  if (place === null) expect(found).toBe(over.signal.reason);
  else expect(found).toContain(`scans: ${place}`);
});
