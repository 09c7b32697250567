import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { placeOf, placesOf } from "../../../src/cli/paths.ts";
import { UsageError } from "../../../src/cli/exit.ts";
import { bytesOf, rawOf, shown, textOf } from "../../../src/std/raw-path.ts";
import * as fc from "fast-check";
import { aMirror } from "./mirrors.ts";

const scans = aMirror({ name: "scans", source: "/srv/scans" });
const inner = aMirror({ name: "inner", source: "/srv/scans/inner" });
const post = aMirror({ name: "post", source: "/srv/post" });
const all = [scans, inner, post];

describe("a path means", () => {
  test.for([
    ["/srv/scans/a.pdf", "/", ["scans a.pdf"], "an absolute path below a source"],
    ["/srv/scans", "/", ["scans "], "the source itself is its root"],
    ["/srv/scans/inner/a.pdf", "/", ["inner a.pdf"], "the innermost source has it"],
    ["/srv/scans/../post/a.pdf", "/", ["post a.pdf"], "dots are resolved"],
    [
      "a.pdf",
      "/srv/scans/x",
      ["scans x/a.pdf"],
      "relative to the working directory inside a source",
    ],
    [".", "/srv/post", ["post "], "the working directory itself"],
    ["../post/a.pdf", "/srv/scans", ["post a.pdf"], "from one source to another"],
    ["x/a.pdf", "/home", ["scans x/a.pdf", "inner x/a.pdf", "post x/a.pdf"], "else each source's"],
  ] as const)("%j in %s: %j (%s)", ([typed, cwd, meant]) => {
    const places = placesOf(typed, cwd, all);
    expect(places.map(({ mirror, path }) => `${mirror.name} ${path}`)).toEqual(meant);
  });

  test.for([
    ["/etc/passwd", "an absolute path outside of every source is a mistake"],
    ["/srv/scansx/a.pdf", "a source's name is not a prefix of letters"],
  ] as const)("%j is refused: %s", ([typed]) => {
    expect(() => placesOf(typed, "/", all)).toThrow(UsageError);
  });

  test("dots cannot lead out of a source", () => {
    expect(placesOf("../../etc/passwd", "/home/me", [scans])).toEqual([]);
  });
});

describe("of several mirrors, a path that none has", () => {
  test("is refused as one outside, where the file is here", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "scanferry-paths-"));
    writeFileSync(join(cwd, "3.txt"), "");
    const meant = placeOf("3.txt", { cwd, mirrors: all }, undefined);
    await expect(meant).rejects.toThrow(
      `${cwd}/3.txt is not below the source of a mirror; sources:`,
    );
    rmSync(cwd, { recursive: true });
  });

  test("may be in any of them, where there is none", async () => {
    const meant = placeOf("3.txt", { cwd: "/nowhere", mirrors: all }, undefined);
    await expect(meant).rejects.toThrow(/may be in the mirrors scans, inner, post; write the abs/);
  });
});

test("what list shows of any name leads back to its bytes", () => {
  const name = fc
    .uint8Array({ minLength: 1, maxLength: 12 })
    .filter((bytes) => !bytes.some((byte) => byte === 0x2f || byte === 0 || byte === 0x5c))
    // Beside bytes that are no text, a control character beyond ASCII is shown as if it were one.
    .filter((bytes) => textOf(rawOf(bytes)) !== undefined || !/\xc2[\x80-\x9f]/.test(rawOf(bytes)))
    .filter((bytes) => ![".", ".."].includes(Buffer.from(bytes).toString("latin1")));
  fc.assert(
    fc.property(name, (bytes) => {
      const path = rawOf(bytes);
      const places = placesOf(`/srv/post/${shown(path)}`, "/", [post]);
      const found = places.map((place) => bytesOf(place.path).toString("hex"));
      expect(found).toContain(Buffer.from(bytes).toString("hex"));
    }),
  );
});

test("a name that holds \\x41 itself goes before what it may stand for", () => {
  const places = placesOf("/srv/post/a\\x41.pdf", "/", [post]);
  expect(places.map(({ path }) => path)).toEqual(["a\\x41.pdf", "aA.pdf"]);
});
