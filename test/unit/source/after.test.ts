import { createHash } from "node:crypto";
import {
  accessSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { expect, test } from "vitest";
import { act, recoverQuarantine } from "../../../src/source/after.ts";
import { numbered } from "../../../src/source/new-name.ts";
import { originalName, quarantineName } from "../../../src/source/quarantine.ts";
import { sourceStatus } from "../../../src/source/source-status.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { bytesAt, never, put, raw, scratch, settingsOf } from "./scratch.ts";

const toDelete = { kind: "delete" } as const;

function sha256(content: string): { digest: string } {
  return { digest: createHash("sha256").update(content).digest("hex") };
}

/** Every file below, as path and content. */
function tree(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((file) => file.isFile())
      .map((file) => `${file.parentPath}/${file.name}`)
      .sort()
      .map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")]),
  );
}

test("a proven file is deleted", async () => {
  const dir = scratch();
  put(dir, "a/scan.pdf", "content");
  put(dir, "a/other.pdf", "other");
  const acted = await act(settingsOf(dir), raw("a/scan.pdf"), sha256("content"), toDelete, never);
  expect(acted).toEqual({ kind: "done" });
  expect(tree(dir)).toEqual({ "a/other.pdf": "other" });
});

test("a proven file is moved, below the same directories", async () => {
  const dir = scratch();
  put(dir, "in/a/b/scan.pdf", "content");
  const move = { kind: "move", to: `${dir}/done/2026` } as const;
  const settings = settingsOf(`${dir}/in`);
  const acted = await act(settings, raw("a/b/scan.pdf"), sha256("content"), move, never);
  expect(acted).toEqual({ kind: "done", to: `${dir}/done/2026/a/b/scan.pdf` });
  expect(tree(dir)).toEqual({ "done/2026/a/b/scan.pdf": "content" });
});

test("a file with other content than was archived stays as it is", async () => {
  const dir = scratch();
  put(dir, "in/scan.pdf", "edited");
  for (const action of [toDelete, { kind: "move", to: `${dir}/done` } as const]) {
    const acted = await act(
      settingsOf(`${dir}/in`),
      raw("scan.pdf"),
      sha256("sent"),
      action,
      never,
    );
    expect(acted).toMatchObject({ kind: "refused", problem: { code: "FILE_CHANGED" } });
    expect(tree(dir)).toEqual({ "in/scan.pdf": "edited" });
  }
});

test.for([
  ["gone", () => {}],
  ["a link now", (at: string) => symlinkSync("elsewhere.pdf", at)],
  [
    "a directory now",
    (at: string) => {
      mkdirSync(at);
    },
  ],
] as const)("a file that is %s needs nothing done", async ([, make]) => {
  const dir = scratch();
  put(dir, "elsewhere.pdf", "content");
  make(`${dir}/scan.pdf`);
  const acted = await act(settingsOf(dir), raw("scan.pdf"), sha256("content"), toDelete, never);
  expect(acted).toEqual({ kind: "gone" });
  expect(tree(dir)).toEqual({ "elsewhere.pdf": "content" });
});

test("nothing is replaced: names that are taken get a number", async () => {
  const dir = scratch();
  put(dir, "in/scan.pdf", "third");
  put(dir, "done/scan.pdf", "first");
  put(dir, "done/scan (2).pdf", "second");
  const move = { kind: "move", to: `${dir}/done` } as const;
  const acted = await act(settingsOf(`${dir}/in`), raw("scan.pdf"), sha256("third"), move, never);
  expect(acted).toEqual({ kind: "done", to: `${dir}/done/scan (3).pdf` });
  expect(tree(`${dir}/done`)).toEqual({
    "scan (2).pdf": "second",
    "scan (3).pdf": "third",
    "scan.pdf": "first",
  });
  expect(tree(`${dir}/in`)).toEqual({});
});

test.for([
  ["a copy", (from: string, to: string) => writeFileSync(to, readFileSync(from))],
  ["the same inode", linkSync],
] as const)("a move that was cut off after %s was named is finished", async ([, leave]) => {
  const dir = scratch();
  const file = put(dir, "in/scan.pdf", "content");
  mkdirSync(`${dir}/done`);
  leave(file, `${dir}/done/scan.pdf`);
  const move = { kind: "move", to: `${dir}/done` } as const;
  const acted = await act(settingsOf(`${dir}/in`), raw("scan.pdf"), sha256("content"), move, never);
  expect(acted).toEqual({ kind: "done", to: `${dir}/done/scan.pdf` });
  expect(tree(dir)).toEqual({ "done/scan.pdf": "content" });
});

/** A directory on another file system, where there is one. */
function elsewhere(than: string): string | undefined {
  try {
    accessSync("/dev/shm");
    if (statSync("/dev/shm").dev === statSync(than).dev) return undefined;
    return mkdtempSync("/dev/shm/scanferry-");
  } catch {
    return undefined;
  }
}

test("to another file system a file is copied, with its time, and then removed", async ({
  skip,
}) => {
  const dir = scratch();
  const other = elsewhere(dir);
  if (other === undefined) {
    skip("needs a second file system at /dev/shm");
    return;
  }
  try {
    const content = "content".repeat(1_000_000);
    utimesSync(put(dir, "a/scan.pdf", content), 1_700_000_000, 1_700_000_000);
    put(other, "a/scan.pdf", "another");
    const move = { kind: "move", to: other } as const;
    const acted = await act(settingsOf(dir), raw("a/scan.pdf"), sha256(content), move, never);
    expect(acted).toEqual({ kind: "done", to: `${other}/a/scan (2).pdf` });
    expect(tree(dir)).toEqual({});
    expect(Object.keys(tree(other))).toEqual(["a/scan (2).pdf", "a/scan.pdf"]);
    expect(readFileSync(`${other}/a/scan (2).pdf`, "utf8")).toBe(content);
    expect(statSync(`${other}/a/scan (2).pdf`).mtimeMs).toBe(1_700_000_000_000);
  } finally {
    rmSync(other, { recursive: true });
  }
});

test("a target that cannot be made refuses the move, and the file keeps its name", async () => {
  const dir = scratch();
  put(dir, "in/a/scan.pdf", "content");
  put(dir, "done/a", "a file where a directory should be");
  const move = { kind: "move", to: `${dir}/done` } as const;
  const acted = await act(
    settingsOf(`${dir}/in`),
    raw("a/scan.pdf"),
    sha256("content"),
    move,
    never,
  );
  expect(acted).toMatchObject({ kind: "refused", problem: { code: expect.any(String) } });
  expect(tree(`${dir}/in`)).toEqual({ "a/scan.pdf": "content" });
});

test.for([
  ["done/a", (dir) => symlinkSync(`${dir}/outside`, `${dir}/done/a`), "a link below the target"],
  ["done", (dir) => put(dir, "done", "in the way"), "a file in the target's place"],
  ["done", (dir) => symlinkSync("in", `${dir}/done`), "the directory where the file is already"],
] as const satisfies [string, (dir: string) => void, string][])(
  "a target that takes no file is met before the file is touched: %s, %#",
  async ([at, make]) => {
    const dir = scratch();
    put(dir, "in/a/scan.pdf", "content");
    mkdirSync(`${dir}/outside`);
    if (at !== "done") mkdirSync(`${dir}/done`);
    make(dir);
    const file = `${dir}/in/a/scan.pdf`;
    const before = statSync(file, { bigint: true }).ctimeNs;
    const move = { kind: "move", to: `${dir}/done` } as const;
    const settings = settingsOf(`${dir}/in`);
    const acted = await act(settings, raw("a/scan.pdf"), sha256("content"), move, never);
    expect(acted).toMatchObject({ kind: "refused", problem: { code: "AFTER_REFUSED" } });
    expect(tree(`${dir}/in`)).toEqual({ "a/scan.pdf": "content" });
    // Given another name and its own again, it would be met as a changed file.
    expect(statSync(file, { bigint: true }).ctimeNs).toBe(before);
  },
);

test("behind an unmounted source nothing is gone", async () => {
  const dir = scratch();
  put(dir, "mount/scan.pdf", "content");
  const status = sourceStatus(settingsOf(`${dir}/mount`));
  const device = status.kind === "online" ? status.device : null;
  renameSync(`${dir}/mount`, `${dir}/elsewhere`);
  mkdirSync(`${dir}/mount`);
  const settings = settingsOf(`${dir}/mount`, { device });
  const acted = await act(settings, raw("scan.pdf"), sha256("content"), toDelete, never);
  expect(acted).toMatchObject({ kind: "refused", problem: { code: "SOURCE_OFFLINE" } });
});

test("names of every kind go, also one too long to be put aside", async () => {
  const dir = scratch();
  for (const name of ["\xff.pdf", "new\nline.pdf", "-", "x".repeat(251), "x".repeat(255)]) {
    writeFileSync(bytesAt(dir, name as RawPath), "content");
    const acted = await act(settingsOf(dir), name as RawPath, sha256("content"), toDelete, never);
    expect(acted).toEqual({ kind: "done" });
    writeFileSync(bytesAt(dir, name as RawPath), "edited");
    const refused = await act(settingsOf(dir), name as RawPath, sha256("sent"), toDelete, never);
    expect(refused.kind).toBe("refused");
    rmSync(bytesAt(dir, name as RawPath));
  }
  expect(readdirSync(dir)).toEqual([]);
});

test("an abort while the content is read leaves the file under its name", async () => {
  const dir = scratch();
  const content = "content".repeat(1_000_000);
  put(dir, "scan.pdf", content);
  const stop = new AbortController();
  const acting = act(settingsOf(dir), raw("scan.pdf"), sha256(content), toDelete, stop.signal);
  expect(readdirSync(dir)).toEqual([expect.stringMatching(/^\.scanferry-scan\.pdf-[0-9a-f]{8}$/)]);
  stop.abort(new Error("stopping"));
  await expect(acting).rejects.toThrow("stopping");
  expect(readdirSync(dir)).toEqual(["scan.pdf"]);
});

test("a file that takes the name meanwhile is not touched", async () => {
  const dir = scratch();
  put(dir, "scan.pdf", "sent");
  const acting = act(settingsOf(dir), raw("scan.pdf"), sha256("sent"), toDelete, never);
  put(dir, "scan.pdf", "new");
  expect(await acting).toEqual({ kind: "done" });
  expect(tree(dir)).toEqual({ "scan.pdf": "new" });
  const refused = act(settingsOf(dir), raw("scan.pdf"), sha256("sent"), toDelete, never);
  put(dir, "scan.pdf", "newer");
  expect((await refused).kind).toBe("refused");
  expect(tree(dir)).toEqual({ "scan (2).pdf": "new", "scan.pdf": "newer" });
});

test("what was left put aside gets its name back, or a numbered one", async () => {
  const dir = scratch();
  put(dir, "a/.scanferry-scan.pdf-0123abcd", "one");
  put(dir, "b/.scanferry-scan.pdf-0123abcd", "two");
  put(dir, "b/scan.pdf", "taken");
  put(dir, "c/.scanferry-notes", "not ours");
  put(dir, "c/.scanferry~0123abcd0123abcd", "a copy that was cut off");
  expect((await recoverQuarantine(settingsOf(dir))).toSorted()).toEqual([
    "a/scan.pdf",
    "b/scan (2).pdf",
  ]);
  expect(tree(dir)).toEqual({
    "a/scan.pdf": "one",
    "b/scan (2).pdf": "two",
    "b/scan.pdf": "taken",
    "c/.scanferry-notes": "not ours",
    "c/.scanferry~0123abcd0123abcd": "a copy that was cut off",
  });
  expect(existsSync(`${dir}/a/.scanferry-scan.pdf-0123abcd`)).toBe(false);
});

test("what is put aside just now is left to anyone who has it in hand", async () => {
  const dir = scratch();
  const content = "x".repeat(8_000_000);
  put(dir, "in/a/scan.pdf", content);
  put(dir, "in/a/.scanferry-left.pdf-0123abcd", "left");
  const settings = settingsOf(`${dir}/in`);
  const move = { kind: "move", to: `${dir}/done` } as const;
  const acting = act(settings, raw("a/scan.pdf"), sha256(content), move, never);
  expect(await recoverQuarantine(settings)).toEqual(["a/left.pdf"]);
  expect(await acting).toEqual({ kind: "done", to: `${dir}/done/a/scan.pdf` });
  expect(Object.keys(tree(dir))).toEqual(["done/a/scan.pdf", "in/a/left.pdf"]);
});

test("a file that a broken share kept put aside is found there by the next try", async () => {
  const dir = scratch();
  put(dir, "a/.scanferry-scan.pdf-0123abcd", "content");
  put(dir, "a/.scanferry-other.pdf-0123abcd", "content");
  const acted = await act(settingsOf(dir), raw("a/scan.pdf"), sha256("content"), toDelete, never);
  expect(acted).toEqual({ kind: "done" });
  expect(tree(dir)).toEqual({ "a/.scanferry-other.pdf-0123abcd": "content" });
  put(dir, "a/.scanferry-scan.pdf-0123abcd", "something else");
  const refused = await act(settingsOf(dir), raw("a/scan.pdf"), sha256("content"), toDelete, never);
  expect(refused).toMatchObject({ kind: "refused", problem: { code: "FILE_CHANGED" } });
  expect(tree(dir)["a/scan.pdf"]).toBe("something else");
});

test.for([
  ["scan.pdf", 2, "scan (2).pdf", "before the extension"],
  ["scan", 3, "scan (3)", "no extension"],
  [".hidden", 2, ".hidden (2)", "a leading dot begins no extension"],
  ["a.tar.gz", 2, "a.tar (2).gz", "the last one"],
  [`${"x".repeat(251)}.pdf`, 2, `${"x".repeat(247)} (2).pdf`, "no longer than a name may be"],
] as const)("%s and %i make %s: %s", ([name, number, result]) => {
  expect(numbered(raw(name), number)).toBe(result);
});

test("a name that is shortened for a number ends with a whole character", () => {
  const name = raw(`${"ä".repeat(125)}x.pdf`);
  expect(numbered(name, 2)).toBe(raw(`${"ä".repeat(123)} (2).pdf`));
});

test("a name put aside can be told from every other, and read back", () => {
  for (const name of [
    "a",
    "a-0123abcd",
    "new\nline",
    "\xff",
    ".scanferry-x-0123abcd",
  ] as RawPath[]) {
    const aside = quarantineName(name, () => 0.5);
    expect(aside && originalName(aside)).toBe(name);
  }
  expect(quarantineName("x".repeat(236) as RawPath, () => 0)).toBeUndefined();
  expect(originalName(raw("scan.pdf"))).toBeUndefined();
});
