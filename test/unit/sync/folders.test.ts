import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Folders } from "../../../src/sync/folders.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { ScriptedArchive, refused, unreachable } from "../../fakes/scripted-archive.ts";
import { never } from "./desk.ts";

/** An archive with `/Scans/2026/März`, and its folders. */
function anArchive() {
  const archive = new ScriptedArchive();
  const scans = archive.addFolder("Scans");
  const year = archive.addFolder("2026", scans);
  const month = archive.addFolder("März".normalize("NFC"), year);
  return { archive, scans, year, month, folders: new Folders(archive) };
}

describe("resolving a path", () => {
  test.for([
    ["/", "root", "the root is a folder like any other"],
    ["/Scans", "scans", "one level"],
    ["/Scans/2026", "year", "the tree is walked down"],
    [`/Scans/2026/${"März".normalize("NFC")}`, "month", "as it is stored"],
    [`/Scans/2026/${"März".normalize("NFD")}`, "month", "decomposed: the same name for a reader"],
  ] as const)("%s is %s: %s", async ([path, which]) => {
    const { archive, folders, ...ids } = anArchive();
    const folderId = which === "root" ? archive.rootId : ids[which];
    expect(await folders.resolve(path, never)).toEqual({ kind: "found", folderId });
  });

  test("a decomposed name in the archive is found by a composed path", async () => {
    const { archive, scans, folders } = anArchive();
    const folderId = archive.addFolder("Übrig".normalize("NFD"), scans);
    const path = `/Scans/${"Übrig".normalize("NFC")}`;
    expect(await folders.resolve(path, never)).toEqual({ kind: "found", folderId });
  });

  test("`#id` starts from that folder, without reading the tree above it", async () => {
    const { archive, year, scans, folders } = anArchive();
    expect(await folders.resolve(`#${scans}/2026`, never)).toEqual({
      kind: "found",
      folderId: year,
    });
    expect(archive.asked.map(({ about }) => about)).toEqual([
      scans,
      expect.objectContaining({ folderId: scans }),
    ]);
  });

  test("an id that is not there is missing, and has no nearest folder", async () => {
    const { folders } = anArchive();
    const problem = { code: "FOLDER_MISSING", message: "the archive has no folder with id 9" };
    const unusable = { kind: "unusable", problem, nearestId: null };
    expect(await folders.resolve("#9/2026", never)).toEqual(unusable);
  });
});

describe("what is not guessed", () => {
  test.for([
    ["/Scans/2027", "FOLDER_MISSING", /2027 does not exist/, "there is none"],
    [
      "/Scans/Twin",
      "FOLDER_TWINS",
      /2 folders are named Twin \(ids \d+, \d+\)/,
      "either may be it",
    ],
    ["/Scans/letters", "FOLDER_CASE", /but Letters \(id \d+\) is/, "it may be another folder"],
    ["/Scans/Twin/deep", "FOLDER_TWINS", /Twin/, "the way down is not certain"],
    ["/Scans/ÜBRIG", "FOLDER_CASE", /brig \(id \d+\) is/, "case beyond ASCII counts too"],
  ] as const)("%s is %s: %s, because %s", async ([path, code, message]) => {
    const { archive, scans, folders } = anArchive();
    for (const name of ["Twin", "Twin", "Letters", "Übrig".normalize("NFD")]) {
      archive.addFolder(name, scans);
    }
    const resolved = await folders.resolve(path, never);
    expect(resolved).toMatchObject({ kind: "unusable", problem: { code }, nearestId: scans });
    expect(resolved.kind === "unusable" && resolved.problem.message).toMatch(message);
    expect(resolved.kind === "unusable" && resolved.problem.message).toContain(path);
  });

  test("twins by normal form are twins", async () => {
    const { archive, year, folders } = anArchive();
    archive.addFolder("März".normalize("NFD"), year);
    const resolved = await folders.resolve("/Scans/2026/März", never);
    expect(resolved).toMatchObject({ problem: { code: "FOLDER_TWINS" } });
  });

  test("next to its own spelling another one does not disturb", async () => {
    const { archive, scans, folders } = anArchive();
    archive.addFolder("SCANS");
    expect(await folders.resolve("/Scans", never)).toEqual({ kind: "found", folderId: scans });
  });
});

describe("requests", () => {
  test("lists are read in pages as large as the interface allows", async () => {
    const { archive, folders } = anArchive();
    for (let n = 0; n < 2_400; n++) archive.addFolder(`folder-${n}`);
    const last = archive.addFolder("last");
    expect(await folders.resolve("/last", never)).toEqual({ kind: "found", folderId: last });
    expect(archive.count("folders")).toBe(3);
  });

  test("what was read is remembered, also what is missing, until it is forgotten", async () => {
    const { archive, scans, folders } = anArchive();
    await folders.resolve("/Scans/2026", never);
    await folders.resolve("/Scans/2027", never);
    expect(archive.forgetAsked()).toBe(3);
    const folderId = archive.addFolder("2027", scans);
    for (let n = 0; n < 100; n++) await folders.resolve("/Scans/2027", never);
    expect(archive.count()).toBe(0);
    folders.forget();
    expect(await folders.resolve("/Scans/2027", never)).toEqual({ kind: "found", folderId });
  });

  test("those who ask at the same time share one look-up", async () => {
    const { archive, folders } = anArchive();
    await Promise.all(Array.from({ length: 20 }, () => folders.resolve("/Scans", never)));
    expect(archive.count()).toBe(2);
  });

  test("a look-up that failed is not remembered", async () => {
    const { archive, scans, folders } = anArchive();
    archive.fail("folder", unreachable());
    archive.fail("folders", unreachable());
    await expect(folders.resolve("/Scans", never)).rejects.toMatchObject({
      code: "ARCHIVE_UNREACHABLE",
    });
    await expect(folders.resolve("/Scans", never)).rejects.toThrow("connection refused");
    expect(await folders.resolve("/Scans", never)).toEqual({ kind: "found", folderId: scans });
  });

  test("one that failed after it was forgotten does not undo a newer one", async () => {
    const { archive, scans, folders } = anArchive();
    const release = archive.stall("folder");
    const before = folders.resolve("/Scans", never);
    folders.forget();
    expect(await folders.resolve("/Scans", never)).toEqual({ kind: "found", folderId: scans });
    release();
    expect(await before).toEqual({ kind: "found", folderId: scans });
  });
});

describe("a tree that changes while it is remembered", () => {
  test("a folder that was removed is missing, not an archive that cannot be asked", async () => {
    const { archive, scans, year, folders } = anArchive();
    await folders.resolve("/Scans/2026", never);
    archive.removeFolder(year);
    expect(await folders.resolve("/Scans/2026/März", never)).toMatchObject({
      kind: "unusable",
      problem: { code: "FOLDER_MISSING" },
      nearestId: scans,
    });
  });

  test("one that was removed and made again is found under its new id", async () => {
    const { archive, scans, year, folders } = anArchive();
    await folders.resolve("/Scans/2026", never);
    archive.removeFolder(year);
    const again = archive.addFolder("2026", scans);
    const folderId = archive.addFolder("April", again);
    expect(await folders.resolve("/Scans/2026/April", never)).toEqual({ kind: "found", folderId });
  });

  test("one that another daemon found is found by all who ask at the same time", async () => {
    const { archive, scans } = anArchive();
    const clock = new ManualClock();
    const folders = new Folders(archive, clock, true);
    folders.forget();
    expect(await folders.resolve("/Scans/2027", never)).toMatchObject({ kind: "unusable" });
    const folderId = archive.addFolder("2027", scans);
    await clock.advance(60_000);
    const both = [folders.resolve("/Scans/2027", never), folders.resolve("/Scans/2027", never)];
    const found = { kind: "found", folderId };
    expect(await Promise.all(both)).toEqual([found, found]);
  });

  test("a slow archive is not asked without end for one that is not there", async () => {
    const { archive } = anArchive();
    const clock = new ManualClock();
    const ask = archive.folders.bind(archive);
    archive.folders = async (...all) => {
      if (archive.count() > 20) throw unreachable();
      await clock.advance(60_000);
      return ask(...all);
    };
    const found = await new Folders(archive, clock, true).resolve("/Scans/2027", never);
    expect(found).toMatchObject({ kind: "unusable" });
  });

  test("one that was made again while another look-up forgot the tree is found", async () => {
    const { archive, scans, year, folders } = anArchive();
    await folders.resolve("/Scans/2026", never);
    archive.removeFolder(year);
    const answer = archive.stall("folders");
    const waiting = folders.resolve("/Scans/2026/April", never);
    await nextTurn();
    folders.forget();
    const stale = archive.addFolder("2026", scans);
    await folders.resolve("/Scans/2026", never);
    archive.removeFolder(stale);
    const folderId = archive.addFolder("April", archive.addFolder("2026", scans));
    answer();
    expect(await waiting).toEqual({ kind: "found", folderId });
  });

  test("an archive that denies its own folders is not asked without end", async () => {
    const { archive, folders } = anArchive();
    const denials = Array.from({ length: 10 }, () => refused("FOLDER_NOT_EXISTS"));
    archive.fail("folders", ...denials);
    expect(await folders.resolve("/Scans", never)).toMatchObject({
      kind: "unusable",
      problem: { code: "FOLDER_MISSING" },
      nearestId: null,
    });
    expect(archive.count()).toBeLessThan(10);
  });
});

describe("a folder that is renamed or moved, and another made under its name", () => {
  const CHANGES: readonly [string, (tree: ReturnType<typeof anArchive>) => number, string][] = [
    [
      "renamed",
      ({ archive, scans, year }) => {
        archive.changeFolder(year, { name: "2026, wrong" });
        return archive.addFolder("März".normalize("NFC"), archive.addFolder("2026", scans));
      },
      "a folder on the way counts as much as the last one",
    ],
    [
      "moved",
      ({ archive, year, month }) => {
        archive.changeFolder(month, { parentId: archive.rootId });
        return archive.addFolder("März".normalize("NFD"), year);
      },
      "its own name says nothing of where it is",
    ],
    [
      "renamed and none made",
      ({ archive, month }) => {
        archive.changeFolder(month, { name: "April" });
        return 0;
      },
      "nothing is sent into the renamed one",
    ],
  ];

  test.for(CHANGES)("%s: the new one is found at once, since %s", async ([, change]) => {
    const tree = anArchive();
    const clock = new ManualClock();
    const folders = new Folders(tree.archive, clock);
    const path = `/Scans/2026/${"März".normalize("NFC")}`;
    await folders.resolve(path, never);
    const folderId = change(tree);
    await clock.advance(10_001);
    const found = folderId === 0 ? { kind: "unusable" } : { kind: "found", folderId };
    expect(await folders.resolve(path, never)).toMatchObject(found);
  });

  test("what was read or confirmed seconds ago is not asked for again; each folder once, anyone who asks", async () => {
    const { archive, scans, folders: _, ...ids } = anArchive();
    const other = archive.addFolder("2027", scans);
    const clock = new ManualClock();
    const folders = new Folders(archive, clock);
    const all = () =>
      Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          folders.resolve(n % 2 === 0 ? "/Scans/2026" : "/Scans/2027", never),
        ),
      );
    await all();
    await clock.advance(10_000);
    archive.forgetAsked();
    await all();
    expect(archive.asked).toEqual([]);
    await clock.advance(1);
    await all();
    await clock.advance(10_000);
    await all();
    const asked = archive.asked.map(({ operation, about }) => `${operation} ${String(about)}`);
    const each = [scans, ids.year, other].map((id) => `folder ${id}`);
    expect(new Set(asked)).toEqual(new Set(each));
    expect(asked).toHaveLength(each.length);
  });

  test("an archive that calls a folder otherwise in its list is not asked without end", async () => {
    const { archive, scans } = anArchive();
    const clock = new ManualClock();
    const folders = new Folders(archive, clock);
    const ask = archive.folder.bind(archive);
    archive.folder = async (...all) => ({ ...(await ask(...all)), name: "as I like it" });
    const found = { kind: "found", folderId: scans };
    for (let times = 0; times < 5; times++) {
      await clock.advance(60_000);
      expect(await folders.resolve("/Scans", never)).toEqual(found);
    }
    expect(archive.count()).toBeLessThan(20);
  });

  test("one that is denied when it is asked for is looked up again", async () => {
    const { archive, scans, year } = anArchive();
    const clock = new ManualClock();
    const folders = new Folders(archive, clock);
    await folders.resolve("/Scans/2026", never);
    archive.removeFolder(year);
    const folderId = archive.addFolder("2026", scans);
    await clock.advance(60_000);
    expect(await folders.resolve("/Scans/2026", never)).toEqual({ kind: "found", folderId });
  });

  test("an archive that cannot be asked confirms nothing", async () => {
    const { archive } = anArchive();
    const clock = new ManualClock();
    const folders = new Folders(archive, clock);
    await folders.resolve("/Scans", never);
    await clock.advance(60_000);
    archive.fail("folder", unreachable());
    await expect(folders.resolve("/Scans", never)).rejects.toThrow("connection refused");
    expect(await folders.resolve("/Scans", never)).toMatchObject({ kind: "found" });
  });
});
