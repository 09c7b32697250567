/** A Windows path or the address of a share is refused wherever a path is given; what to do is said. */
import { describe, expect, test } from "vitest";
import { linesOf, scanferry, Sink } from "./in-process.ts";
import { isShareAddress } from "../../../src/config/place-kinds.ts";

test.for([
  ["C:\\scans", true, "a drive"],
  ["d:/scans", true, "the same, as some programs write it"],
  ["D:", true, "a whole drive"],
  ["\\\\nas\\scans", true, "a share, as Windows writes it"],
  ["//nas/scans", true, "a share, as mount writes it"],
  ["smb://nas/scans", true, "a share, as file managers write it"],
  ["CIFS://nas/scans", true, "the same in capitals"],
  ["/srv/scans", false, "a path of this machine"],
  ["./smb", false, "a folder of that name"],
  ["a:b.pdf", false, "a file may have a colon"],
  ["smb/scans", false, "no address"],
] as const)("%s: %s, because it is %s", ([path, expected]) => {
  expect(isShareAddress(path)).toBe(expected);
});

describe("refused in", () => {
  const SHARE = "\\\\nas\\scans";
  test.for([
    ["init --source SHARE", {}],
    ["init --journal SHARE", {}],
    ["--config SHARE check", {}],
    ["check", { SCANFERRY_CONFIG: SHARE }],
    ["explain SHARE", {}],
    ["list a.pdf SHARE", {}],
    ["retry SHARE", {}],
    ["backup SHARE", {}],
    ["archive upload SHARE", {}],
    ["serve-archive --data SHARE", {}],
    ["journal copy --from /j.db --to SHARE", {}],
    ["check", { SCANFERRY_ARCHIVE_URL: "http://127.0.0.1:1", SCANFERRY_MIRROR_SOURCE: SHARE }],
  ] as const)("scanferry %s %j", async ([line, env]) => {
    const words = line.split(" ").map((word) => (word === "SHARE" ? SHARE : word));
    const ran = await scanferry(words, { env });
    expect(ran.code).toBe(2);
    expect(linesOf(ran.stderr)[0]).toMatch(
      /nas\\+scans"? is a Windows path or the address of a share; mount the share on this machine/,
    );
  });
});

test.for([
  "retry --anyway EMPTY",
  "explain EMPTY",
  "backup EMPTY",
  "init --source EMPTY",
  "serve-archive --data EMPTY",
  "archive-admin --data EMPTY check",
])("an empty path is not the working directory: scanferry %s", async (line) => {
  const words = line.split(" ").map((word) => (word === "EMPTY" ? "" : word));
  expect(await scanferry(words)).toMatchObject({
    code: 2,
    stderr: "scanferry: a path is empty (is a shell variable not set?); name a file or folder\n",
  });
});

test("on a terminal a long line is broken between words, elsewhere it is one line", async () => {
  const { stderr } = await scanferry(["explain", "C:\\scans"], { stderr: new Sink(true) });
  expect(linesOf(stderr).length).toBeGreaterThan(1);
  for (const line of linesOf(stderr)) expect(line.length).toBeLessThanOrEqual(80);
  expect(linesOf((await scanferry(["explain", "C:\\scans"])).stderr)).toEqual([
    stderr.trimEnd().replaceAll("\n  ", " "),
  ]);
});
