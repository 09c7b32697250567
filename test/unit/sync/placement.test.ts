import { Folders, Placement } from "../../../src/sync/folders.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import type { MissingFolder } from "../../../src/config/place-kinds.ts";
import { expect, test } from "vitest";
import { never, SyncDesk } from "./desk.ts";

const hold: MissingFolder = { kind: "hold" };
const nearest: MissingFolder = { kind: "nearest" };
const fallback = (path: string): MissingFolder => ({ kind: "fallback", path });

/** A desk whose archive has `/Scans/2026`, a `/Rest`, twins and a folder spelt otherwise. */
async function aPlacement(missingFolder: MissingFolder) {
  const desk = await SyncDesk.open({ mirrors: [{ missingFolder }] });
  const { archive } = desk;
  const scans = archive.addFolder("Scans");
  const ids = {
    root: archive.rootId,
    scans,
    year: archive.addFolder("2026", scans),
    rest: archive.addFolder("Rest"),
  };
  for (const name of ["Twin", "Twin", "Letters"]) archive.addFolder(name, scans);
  const folders = new Folders(archive);
  return { desk, ids, folders, placement: new Placement(folders) };
}

test.for([
  // missingFolder, path, where or why not, because
  [hold, "/Scans/2026", "year", "it is there"],
  [hold, "/Scans/2027", "FOLDER_MISSING", "it waits for its own folder"],
  [nearest, "/Scans/2026", "year", "it is there, so nothing is nearer"],
  [nearest, "/Scans/2027", "scans", "the deepest that is there"],
  [nearest, "/Scans/2026/05/02", "year", "however much is missing"],
  [nearest, "/Nothing/at/all", "root", "the root always is"],
  [nearest, "#999/2026", "FOLDER_MISSING", "an id has nothing near it"],
  [nearest, "/Scans/Twin", "FOLDER_TWINS", "that is for a person to sort out"],
  [nearest, "/Scans/letters", "FOLDER_CASE", "that is for a person to sort out"],
  [fallback("/Rest"), "/Scans/2026", "year", "it is there"],
  [fallback("/Rest"), "/Scans/2027", "rest", "that is what it is for"],
  [fallback("/Rest"), "/Scans/Twin", "FOLDER_TWINS", "twins are not missing"],
  [fallback("/Gone"), "/Scans/2027", "FOLDER_MISSING", "neither is there"],
  [fallback("/Scans/Twin"), "/Scans/2027", "FOLDER_TWINS", "the fallback is not certain"],
] as const)("%o: %s goes to %s, because %s", async ([missingFolder, path, where]) => {
  const { desk, ids, placement } = await aPlacement(missingFolder);
  const place = await placement.of(path, desk.mirror(), never);
  if ("folderId" in place) expect(place.folderId).toBe(ids[where as keyof typeof ids]);
  else expect(place.problem.code).toBe(where);
});

test("nothing is sent into the nearest folder once that has another name", async () => {
  const { desk, ids } = await aPlacement(nearest);
  const clock = new ManualClock();
  const placement = new Placement(new Folders(desk.archive, clock));
  expect(await placement.of("/Scans/2026/05", desk.mirror(), never)).toEqual({
    folderId: ids.year,
  });
  desk.archive.changeFolder(ids.year, { name: "2026, old" });
  await clock.advance(10_001);
  expect(await placement.of("/Scans/2026/05", desk.mirror(), never)).toEqual({
    folderId: ids.scans,
  });
});

test("what is said of a missing fallback names both", async () => {
  const { desk, placement } = await aPlacement(fallback("/Gone"));
  const place = await placement.of("/Scans/2027", desk.mirror(), never);
  expect("problem" in place && place.problem.message).toMatch(/\/Scans\/2027.*\/Gone/);
});

test.for([
  ["FOLDER_NOT_EXISTS", true, "the archive does not know a folder we know"],
  ["INVALID_FOLDER_ID", true, "the id may be of another tree"],
  ["QUOTA_LIMIT", false, "that is no word about folders"],
  ["FILE_SIZE_TOO_BIG", false, "that is no word about folders"],
] as const)("after %s the tree is read again: %s, because %s", async ([code, again]) => {
  const { desk, placement } = await aPlacement(hold);
  await placement.of("/Scans", desk.mirror(), never);
  desk.archive.forgetAsked();
  placement.doubted(code);
  await placement.of("/Scans", desk.mirror(), never);
  expect(desk.archive.count() > 0).toBe(again);
});
