import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  rmSync,
  statfsSync,
  truncateSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { inspect } from "../../../src/source/inspect.ts";
import { whyHollow } from "../../../src/source/under-way.ts";
import { titled } from "../formats/titled.ts";
import { never, put, raw, scratch, settingsOf } from "./scratch.ts";

const PDF = "%PDF-1.4\nxref\nstartxref\n9\n%%EOF\n";
const look = (dir: string, name: string) =>
  inspect(settingsOf(dir), raw(name), undefined, { pages: false }, never);

test.for(
  titled<[string, string, boolean, string]>([
    ["a.pdf.aria2", "a.pdf", true, "aria2's control file"],
    ["a.pdf.part", "a.pdf", true, "Firefox holds the final name"],
    ["a.pdf.crdownload", "a.pdf", true, "so does Chrome"],
    ["a.pdf.!ut", "a.pdf", true, "uTorrent's data"],
    ["a.pdf.filepart", "a.pdf", true, "WinSCP's data"],
    ["a.bin.part", "a.bin", true, "its format says nothing"],
    ["b.pdf.part", "a.pdf", false, "another file's"],
    ["a.part", "a.pdf", false, "not its whole name"],
    ["a.pdf.part/of it", "a.pdf", false, "a directory is none"],
  ]),
)("next to %s", async ([, [beside, name, isUnderWay]]) => {
  const dir = scratch();
  put(dir, `in/${name}`, PDF);
  put(dir, `in/${beside}`);
  const found = await look(dir, `in/${name}`);
  const why = `${beside} stands next to it: a download under way`;
  if (isUnderWay) expect(found).toMatchObject({ kind: "whole", completeness: "unfinished", why });
  else expect(found).toMatchObject({ completeness: "complete" });
  rmSync(`${dir}/in/${beside}`, { recursive: true });
  expect(await look(dir, `in/${name}`)).not.toMatchObject({ completeness: "unfinished" });
});

test("a name that leaves no room for a companion's is looked at like any other", async () => {
  const dir = scratch();
  const name = `${"n".repeat(251)}.pdf`;
  put(dir, name, PDF);
  expect(await look(dir, name)).toMatchObject({ completeness: "complete" });
});

const EXT4 = 0xef53;
const BTRFS = 0x9123683e;
const stat = (size: number, blocks: number) => {
  const fd = openSync("/dev/null", "r");
  const found = fstatSync(fd, { bigint: true });
  closeSync(fd);
  return Object.assign(found, { size: BigInt(size), blocks: BigInt(blocks) });
};

test.for(
  titled<[string, number, number, number, number, boolean, string]>([
    ["a block missing", EXT4, 20_000, 32, 4096, true, "4 of 5 blocks of 8 are there"],
    ["none missing", EXT4, 20_000, 40, 4096, false, "its zeros were written"],
    ["more than needed", EXT4, 20_000, 64, 8192, false, "space set aside hides holes"],
    ["less than a block", EXT4, 100, 0, 0, false, "its data stand in the inode"],
    ["no block of zeros", EXT4, 20_000, 24, 0, false, "a hole reads as zeros"],
    ["fewer zeros than missing", EXT4, 40_000, 40, 4096, false, "not only holes are missing"],
    ["another file system", BTRFS, 20_000, 8, 16_384, false, "it compresses"],
  ]),
)("of blocks, %s", ([, [, type, size, blocks, zeros, isHollow]]) => {
  const why = whyHollow(0, stat(size, blocks), zeros, () => type);
  expect(why !== undefined).toBe(isHollow);
});

/** Directories of file systems that tell of holes. */
const outboxEntry = [tmpdir(), "/dev/shm"].filter(
  (dir) => existsSync(dir) && [EXT4, 0x01021994, 0x58465342].includes(statfsSync(dir).type),
);

describe.skipIf(outboxEntry.length === 0)("on a disk that tells of holes", () => {
  test.for(outboxEntry)("%s: a hole in what may hold zeros makes it unfinished", async (parent) => {
    const dir = scratch(parent);
    const rows = Buffer.alloc(60_000, 0xfe);
    const black = Buffer.concat([rows, Buffer.alloc(40_000), rows]);
    put(dir, "written.bin", black);
    expect(await look(dir, "written.bin")).toMatchObject({ completeness: "unknown" });
    for (const [name, bytes] of [
      ["small.bin", 60_000],
      ["large.bin", 9 << 20],
    ] as const) {
      const path = put(dir, name, Buffer.alloc(bytes, 0xfe));
      truncateSync(path, bytes + 40_000);
      const found = await look(dir, name);
      expect(found).toMatchObject({ completeness: "unfinished" });
      expect(found).toHaveProperty("why", expect.stringMatching(/^\d+ of its bytes are holes/));
    }
  });
});
