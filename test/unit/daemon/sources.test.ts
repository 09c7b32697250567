import { describe, expect, test } from "vitest";
import { assertApart, SourcePlaces } from "../../../src/daemon/source-places.ts";
import { type Mount, parseMountinfo, readMounts } from "../../../src/source/mounts.ts";
import { Stopping } from "../../../src/std/abort.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { Fault } from "../../../src/std/fault.ts";
import { scratch, settingsOf } from "../source/scratch.ts";
import { aMirror } from "../../fixtures/a-config.ts";
import { sourceStatus } from "../../../src/source/source-status.ts";
import { isLocal } from "../../../src/sync/reader-mirror.ts";

describe("source places", () => {
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
});

describe("sources apart", () => {
  /** Two exports of one server are told by their names alone: device and root are the same. */
  const MOUNTS = parseMountinfo(`27 1 8:1 / / rw - ext4 /dev/sda1 rw
30 27 8:1 /data/scans /bound rw - ext4 /dev/sda1 rw
31 27 0:45 / /nas/one rw - nfs4 nas:/one rw
32 27 0:45 / /nas/two rw - nfs4 nas:/two rw
33 27 0:45 /in /again rw - nfs4 nas:/one rw
34 27 8:2 / /bound/disk rw - ext4 /dev/sdb1 rw
`);

  const refusal = (...sources: string[]) => {
    const mirrors = sources.map((source, at) => ({ name: `m${at}`, source }));
    try {
      assertApart(mirrors, MOUNTS);
      return "";
    } catch (error) {
      expect(error).toBeInstanceOf(Fault);
      return (error as Fault).code;
    }
  };

  test.for([
    [["/srv/a", "/srv/b", "/data/scan"], "", "folders next to one another"],
    [["/data/scans", "/bound"], "SOURCES_OVERLAP", "a folder, and where it is mounted too"],
    [["/bound/2026", "/data"], "SOURCES_OVERLAP", "below there"],
    [["/bound/a", "/data/scans/b"], "", "next to one another by both ways"],
    [["/bound/disk", "/data/scans/2026"], "", "another file system mounted below"],
    [["/nas/one", "/nas/two"], "", "two exports of one server"],
    [["/nas/one", "/again"], "SOURCES_OVERLAP", "a share, and a part of it mounted elsewhere"],
  ] as const)("%j: %o: %s", ([sources, code]) => {
    expect(refusal(...sources)).toBe(code);
  });

  test("links are followed", () => {
    const dir = scratch();
    mkdirSync(`${dir}/scans/2026`, { recursive: true });
    symlinkSync("scans/2026", `${dir}/link`);
    expect(refusal(`${dir}/scans`, `${dir}/link`)).toBe("SOURCES_OVERLAP");
    expect(refusal(`${dir}/scans/2025`, `${dir}/link`)).toBe("");
  });
});

describe("near", () => {
  const mirrorOf = (source: string) => aMirror({ source });

  test("a host is near to what is on its own file system, and there", () => {
    const source = `${realpathSync(scratch())}/scans`;
    const mounts = readMounts();
    const share: Mount = {
      point: source,
      fsType: "nfs4",
      device: "0:9",
      root: "/",
      source: "n:/",
    };
    const near = (device: string | null = null, table: readonly Mount[] = mounts) =>
      isLocal(mirrorOf(source), table, device);
    expect(near(), "there is nothing").toBe(false);
    mkdirSync(source);
    expect(near(), "it may be a bare mount point").toBe(false);
    const status = sourceStatus(settingsOf(source));
    if (status.kind === "offline") throw new Error(status.why);
    expect(near(status.device), "it is known, and was emptied").toBe(true);
    expect(near("8:1/ef53/7"), "what was known is another one").toBe(false);
    writeFileSync(`${source}/a.pdf`, "a");
    expect([near(), near("8:1/ef53/7")], "it has files").toEqual([true, true]);
    expect(near(null, [...mounts, share]), "it is a share").toBe(false);
    expect(near(null, []), "nothing is known of it").toBe(false);
  });
});
