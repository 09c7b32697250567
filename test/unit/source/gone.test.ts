/** Files that are gone when they are to be moved or deleted, from among many. */
import { closeSync, renameSync, utimesSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { act } from "../../../src/source/after.ts";
import { openDirectory, openRoot } from "../../../src/source/directory-fd.ts";
import { asideIn, putAside, putBack } from "../../../src/source/quarantine.ts";
import { put, never, raw, scratch, settingsOf } from "./scratch.ts";

const listed = vi.hoisted(() => ({ times: 0, isCoarse: false }));

vi.mock(import("node:fs"), async (original) => {
  const real = await original();
  const readdirSync = ((...asked: Parameters<typeof real.readdirSync>) => {
    listed.times += 1;
    return real.readdirSync(...asked);
  }) as typeof real.readdirSync;
  const fstatSync = ((...asked: Parameters<typeof real.fstatSync>) => {
    const stat = real.fstatSync(...asked);
    return listed.isCoarse ? Object.assign(stat ?? {}, { mtimeNs: 0n, ctimeNs: 0n }) : stat;
  }) as typeof real.fstatSync;
  return { ...real, readdirSync, fstatSync };
});

test("their directory is listed once, and again where something was put aside meanwhile", async () => {
  const dir = scratch();
  put(dir, "a/kept.pdf", "content");
  const gone = (name: string) =>
    act(settingsOf(dir), raw(`a/${name}`), { digest: "d" }, { kind: "delete" }, never);
  listed.times = 0;
  for (let n = 0; n < 20; n++) expect(await gone(`${n}.pdf`)).toEqual({ kind: "gone" });
  expect(listed.times).toBe(1);
  renameSync(`${dir}/a/kept.pdf`, `${dir}/a/.scanferry-kept.pdf-0123abcd`);
  // Some kernels tell times a few milliseconds apart only.
  utimesSync(`${dir}/a`, 1, 1);
  expect(await gone("kept.pdf"), "it is there, and another file").toMatchObject({
    kind: "refused",
    problem: { code: "FILE_CHANGED" },
  });
  expect(listed.times).toBe(2);
});

test("what is put aside or back is known where the times of a directory do not tell", () => {
  const dir = scratch();
  put(dir, "a/b.pdf", "content");
  const root = openRoot(dir);
  const fd = openDirectory(root, raw("a"));
  listed.isCoarse = true;
  try {
    expect(asideIn(fd)).toEqual([]);
    const aside = putAside(fd, raw("b.pdf"), () => 0.5);
    expect(asideIn(fd)).toEqual([aside]);
    putBack(fd, aside, raw("b.pdf"));
    expect(asideIn(fd)).toEqual([]);
  } finally {
    listed.isCoarse = false;
    closeSync(fd);
    closeSync(root);
  }
});
