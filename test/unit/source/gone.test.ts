/** Files that are gone when they are to be put away, from among many. */
import { renameSync, utimesSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { act } from "../../../src/source/after.ts";
import { put, never, raw, scratch, settingsOf } from "./scratch.ts";

const listed = vi.hoisted(() => ({ times: 0 }));

vi.mock(import("node:fs"), async (original) => {
  const real = await original();
  const readdirSync = ((...asked: Parameters<typeof real.readdirSync>) => {
    listed.times += 1;
    return real.readdirSync(...asked);
  }) as typeof real.readdirSync;
  return { ...real, readdirSync };
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
    trouble: { code: "FILE_CHANGED" },
  });
  expect(listed.times).toBe(2);
});
