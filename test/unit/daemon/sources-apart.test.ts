import { mkdirSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { assertApart } from "../../../src/daemon/sources-apart.ts";
import { parseMountinfo } from "../../../src/source/mounts.ts";
import { Fault } from "../../../src/std/fault.ts";
import { scratch } from "../source/scratch.ts";

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
  [["/srv/a", "/srv/b", "/data/scan"], "", "folders beside one another"],
  [["/data/scans", "/bound"], "SOURCES_OVERLAP", "a folder, and where it is mounted too"],
  [["/bound/2026", "/data"], "SOURCES_OVERLAP", "below there"],
  [["/bound/a", "/data/scans/b"], "", "beside one another by both ways"],
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
