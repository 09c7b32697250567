import { describe, expect, test } from "vitest";
import { Claimer } from "../../../src/sync/claimer.ts";
import { FirstRun } from "../../../src/sync/first-run.ts";
import { Folders } from "../../../src/sync/folders.ts";
import { Placement } from "../../../src/sync/placement.ts";
import { Strangers } from "../../../src/sync/strangers.ts";
import { refused, ScriptedArchive } from "../../fakes/scripted-archive.ts";
import { never, SyncDesk } from "./desk.ts";

describe("documents that nobody accounts for", () => {
  const claimedBy = (byMirror: Readonly<Record<number, readonly number[]>>) => ({
    claimed: async (ids: readonly number[], mirrorIds?: readonly number[]) => {
      const mirrors = mirrorIds ?? Object.keys(byMirror).map(Number);
      const claimed = new Set(mirrors.flatMap((id) => byMirror[id] ?? []));
      return new Set(ids.filter((id) => claimed.has(id)));
    },
  });

  test.for([
    ["other.pdf", { 1: [7] }, undefined, "nothing has its name"],
    ["a.pdf", { 1: [7] }, undefined, "it is a configured mirror's own"],
    ["a.pdf", {}, /^the archive holds a\.pdf .* \(document 7\)$/, "nobody's"],
    ["a.pdf", { 2: [7] }, /give it its name back$/, "of a mirror that is not configured any more"],
    ["e\u0301.pdf", {}, /document 8/, "its name is composed in another way"],
  ] as const)("%s with %o: %s, %s", async ([name, byMirror, message]) => {
    const archive = new ScriptedArchive();
    const folderId = archive.addFolder("Scans");
    archive.addDocument({ id: 7, folderId, filename: "a.pdf" });
    archive.addDocument({ id: 8, folderId, filename: "\u00e9.pdf" });
    const strangers = new Strangers(archive, claimedBy(byMirror));
    const objection = await strangers.objection(name, folderId, [1], never);
    if (message === undefined) expect(objection).toBeUndefined();
    else
      expect(objection).toMatchObject({
        code: "FIRST_RUN",
        message: expect.stringMatching(message),
      });
  });

  test("a folder is listed once, also when it was foreseen, and anew when it is to be", async () => {
    const archive = new ScriptedArchive();
    const folderId = archive.addFolder("Scans");
    const strangers = new Strangers(archive, undefined);
    strangers.foresee(folderId, never);
    await strangers.objection("a.pdf", folderId, [], never);
    await strangers.objection("b.pdf", folderId, [], never);
    expect(archive.count("documents")).toBe(1);
    strangers.forget();
    await strangers.objection("a.pdf", folderId, [], never);
    expect(archive.count("documents")).toBe(2);
  });
});

test("on a first run the folders of what is claimed are listed side by side", async () => {
  const desk = await SyncDesk.open({ mirrors: [{ firstRun: "hold" }] });
  const { archive, context } = desk;
  const answer = archive.stall("documents");
  for (const name of ["A", "B", "C"]) {
    archive.addFolder(name);
    desk.pending({ path: `${name}.pdf`, targetPath: `/${name}` });
  }
  const firstRun = await FirstRun.open(context, async () => false);
  const claimer = new Claimer(context, new Placement(new Folders(archive)), firstRun);
  const candidates = await desk.journal.due({ state: "pending", now: desk.clock.now(), limit: 9 });
  const claiming = claimer.claim(candidates, never);
  await desk.advance(1);
  expect(archive.count("documents")).toBe(3);
  answer();
  expect((await claiming).claimed).toHaveLength(3);
});

test("folders are looked ahead for, however many documents go into each", async () => {
  const desk = await SyncDesk.open({ mirrors: [{ firstRun: "hold" }] });
  const { archive, context } = desk;
  const answer = archive.stall("documents");
  for (let n = 0; n < 60; n++) {
    const name = `F${Math.floor(n / 20)}`;
    if (n % 20 === 0) archive.addFolder(name);
    desk.pending({ path: `${n}.pdf`, targetPath: `/${name}` });
  }
  const firstRun = await FirstRun.open(context, async () => false);
  const claimer = new Claimer(context, new Placement(new Folders(archive)), firstRun);
  const query = { state: "pending", now: desk.clock.now(), limit: 60 } as const;
  const claiming = claimer.claim(await desk.journal.due(query), never);
  await desk.advance(1);
  expect(archive.count("documents")).toBe(3);
  answer();
  expect((await claiming).claimed).toHaveLength(60);
  expect(archive.count("documents")).toBe(3);
});

test("the folders above what is claimed are listed side by side, on any run", async () => {
  const desk = await SyncDesk.open();
  const { archive, context } = desk;
  for (const name of ["A", "B", "C"]) {
    archive.addFolder("2026", archive.addFolder(name));
    desk.pending({ path: `${name}.pdf`, targetPath: `/${name}/2026` });
  }
  const folders = new Folders(archive);
  const claimer = new Claimer(context, new Placement(folders));
  await folders.resolve("/A", never);
  const answer = archive.stall("folders");
  const query = { state: "pending", now: desk.clock.now(), limit: 9 } as const;
  const claiming = claimer.claim(await desk.journal.due(query), never);
  await desk.advance(1);
  // The root is known; its three folders are asked for at once.
  expect(archive.count("folders")).toBe(1 + 3);
  answer();
  expect((await claiming).claimed).toHaveLength(3);
});

test("of an archive that fails no more is asked than a few folders", async () => {
  const desk = await SyncDesk.open({ mirrors: [{ firstRun: "hold" }] });
  const { archive, context } = desk;
  for (let n = 0; n < 30; n++) {
    archive.addFolder(`F${n}`);
    desk.pending({ path: `${n}.pdf`, targetPath: `/F${n}` });
    archive.fail("documents", refused("ARCHIVE_BUSY"));
  }
  const firstRun = await FirstRun.open(context, async () => false);
  const claimer = new Claimer(context, new Placement(new Folders(archive)), firstRun);
  const candidates = await desk.journal.due({ state: "pending", now: desk.clock.now(), limit: 30 });
  const { claimed, trouble } = await claimer.claim(candidates, never);
  expect(claimed).toEqual([]);
  expect(trouble).toMatchObject({ code: "ARCHIVE_BUSY" });
  expect(archive.count("documents")).toBeLessThanOrEqual(9);
});
