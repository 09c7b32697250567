import { Claimer } from "../../../src/sync/claimer.ts";
import { FirstRun } from "../../../src/sync/first-run.ts";
import { Folders, Placement } from "../../../src/sync/folders.ts";
import { UNCLEAN_KEYS } from "../../../src/journal/cluster.ts";
import { SendGuard } from "../../../src/sync/send-guard.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { failed, refused, ScriptedArchive } from "../../fakes/scripted-archive.ts";
import { describe, expect, test } from "vitest";
import { CHANGING_ARCHIVE, HOUR, MINUTE, never, SyncDesk } from "./desk.ts";

const outgoing = (sentName: string, folderId: number) => ({ sentName, sizeBytes: 1, folderId });

describe("documents that nobody accounts for", () => {
  const claimedBy = (byMirror: Readonly<Record<number, readonly number[]>>) => ({
    claimed: async (ids: readonly number[], mirrorIds?: readonly number[]) => {
      const mirrors = mirrorIds ?? Object.keys(byMirror).map(Number);
      const claimed = new Set(mirrors.flatMap((id) => byMirror[id] ?? []));
      return new Map(ids.filter((id) => claimed.has(id)).map((id) => [id, null]));
    },
    conflicts: async () => [],
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
    const guard = new SendGuard(archive, claimedBy(byMirror));
    const objection = await guard.objection(outgoing(name, folderId), [1], never);
    if (message === undefined) expect(objection).toBeUndefined();
    else
      expect(objection).toMatchObject({
        code: "FIRST_RUN",
        message: expect.stringMatching(message),
      });
  });

  test("a folder is listed once, also when it was foreseen, and again when it is to be", async () => {
    const archive = new ScriptedArchive();
    const folderId = archive.addFolder("Scans");
    const guard = new SendGuard(archive, undefined);
    guard.foresee(folderId, never);
    await guard.objection(outgoing("a.pdf", folderId), [], never);
    await guard.objection(outgoing("b.pdf", folderId), [], never);
    expect(archive.count("documents")).toBe(1);
    guard.forget();
    await guard.objection(outgoing("a.pdf", folderId), [], never);
    expect(archive.count("documents")).toBe(2);
  });

  test("what is filed elsewhere after the archive was read, and before its folder is listed, is found", async () => {
    const archive = new ScriptedArchive();
    const [scans = 0, letters = 0, filed = 0] = ["A", "B", "C"].map((name) =>
      archive.addFolder(name),
    );
    archive.addDocument({ id: 7, folderId: scans, filename: "a.pdf", filesize: 1 });
    const guard = new SendGuard(archive, claimedBy({}));
    expect(await guard.objection(outgoing("b.pdf", letters), [1], never)).toBeUndefined();
    archive.change(7, { folderId: filed });
    const objection = await guard.objection(outgoing("a.pdf", scans), [1], never);
    expect(objection).toMatchObject({ code: "FIRST_RUN" });
  });

  test("of many of one name in other folders rows are asked once, and again when that is some time ago", async () => {
    const archive = new ScriptedArchive();
    const folderId = archive.addFolder("Scans");
    const other = archive.addFolder("Other");
    const ids = [7, 8, 9];
    for (const id of ids)
      archive.addDocument({ id, folderId: other, filename: "1.pdf", filesize: 1 });
    const rows = { 1: [...ids] };
    const journal = claimedBy(rows);
    const asked: number[] = [];
    const claimed = (ids: readonly number[]) => {
      asked.push(ids.length);
      return journal.claimed(ids);
    };
    const clock = new ManualClock();
    const guard = new SendGuard(archive, { ...journal, claimed }, { clock });
    const ask = () => guard.objection(outgoing("1.pdf", folderId), [1], never);
    for (let n = 0; n < 3; n++) expect(await ask()).toBeUndefined();
    expect(asked).toEqual([3]);
    // The archive was taken back, and has another document under this id.
    rows[1].pop();
    await clock.advance(10_000);
    expect(await ask()).toMatchObject({ code: "FIRST_RUN" });
  });

  test("a folder that others send to all the time is not read for ever", async () => {
    const archive = new ScriptedArchive();
    const folderId = archive.addFolder("Scans");
    archive.addDocument({ id: 1, folderId, filename: "b.pdf" });
    const [document] = (await archive.documents({ folderId }, never)).documents;
    let passes = 0;
    archive.documents = async ({ paginationIndex = 0 }) => {
      if (paginationIndex === 0) passes += 1;
      const documents = document ? [{ ...document, id: 10 * passes + paginationIndex }] : [];
      return { paginationSize: 1, paginationPages: 2, documents };
    };
    const guard = new SendGuard(archive, undefined);
    expect(await guard.objection(outgoing("a.pdf", folderId), [], never)).toBeUndefined();
    expect(passes).toBe(5);
  });

  test("what moves to a page that was read, since another document is removed meanwhile, is found", async () => {
    const archive = new ScriptedArchive();
    const folderId = archive.addFolder("Scans");
    archive.addDocument({ id: 7, folderId, filename: "a.pdf" });
    for (const id of [8, 9]) archive.addDocument({ id, folderId, filename: `${id}.pdf` });
    const whole = (await archive.documents({ folderId, sortDesc: true }, never)).documents;
    let removed = 0;
    archive.documents = async ({ paginationIndex = 0 }) => {
      const left = whole.filter(({ id }) => id !== removed);
      const documents = left.slice(2 * paginationIndex, 2 * paginationIndex + 2);
      removed = 8;
      return { paginationSize: 2, paginationPages: Math.ceil(left.length / 2), documents };
    };
    const guard = new SendGuard(archive, undefined);
    const objection = await guard.objection(outgoing("a.pdf", folderId), [], never);
    expect(objection).toMatchObject({ code: "FIRST_RUN" });
  });
});

describe("a journal that was taken back", () => {
  const SIZE = 700;

  /** A desk whose journal knows the document of 12:00 in the folder, and its guard, as after a start. */
  async function aDesk(config = {}) {
    const desk = await SyncDesk.open({ mirrors: [{ firstRun: "hold" }], config });
    await desk.journal.endFirstRun(1, 0);
    const folderId = desk.archive.addFolder("Scans");
    const known = desk.archive.addDocument({ folderId, filename: "known.pdf", ...at(12) });
    desk.put({ state: "converted", documentId: known, folderId, sentArchiveAt: 12 * HOUR });
    const start = () => FirstRun.open(desk.context, async () => true);
    return { desk, folderId, known, start };
  }
  const at = (hour: number) => ({ uploadedDate: hour * HOUR, filesize: SIZE, status: "CONVERTED" });
  const file = { sizeBytes: SIZE, modifiedAt: 0, stamp: "s" };

  test.for([
    ["scan.pdf", { ...at(13) }, true, "of its name and size, later than what the journal knows"],
    ["scan.pdf", { ...at(13), filesize: 0 }, true, "the archive does not know its size yet"],
    ["scan.pdf", { ...at(13), filesize: 9 }, false, "another content"],
    ["other.pdf", { ...at(13) }, false, "another name"],
    ["scan.pdf", { ...at(11) }, false, "older: when that came the journal knew all of its own"],
    ["scan.pdf", { ...at(12), uploadedDate: 12 * HOUR - MINUTE / 2 }, true, "dates are not exact"],
  ] as const)("%s of %o: held is %s, for %s", async ([filename, set, isHeld]) => {
    const { desk, folderId, start } = await aDesk();
    const id = desk.archive.addDocument({ folderId, filename, ...set });
    const firstRun = await start();
    const row = desk.pending({ path: "scan.pdf", seen: file });
    const objection = await firstRun.objection(row, folderId, never);
    if (!isHeld) expect(objection).toBeUndefined();
    else
      expect(objection).toMatchObject({
        code: "FIRST_RUN",
        message: expect.stringContaining(`${id}`),
      });
  });

  test("what was in doubt then, and is found though it was sent again later, hides nothing", async () => {
    const { desk, folderId, start } = await aDesk();
    desk.archive.addDocument({ folderId, filename: "scan.pdf", ...at(13) });
    const again = desk.archive.addDocument({ folderId, filename: "again.pdf", ...at(14) });
    desk.put({ state: "uploaded", documentId: again, folderId, sentArchiveAt: 11 * HOUR });
    const row = desk.pending({ path: "scan.pdf", seen: file });
    const firstRun = await start();
    expect(await firstRun.objection(row, folderId, never)).toMatchObject({ code: "FIRST_RUN" });
  });

  test("of an archive that changes documents, one of another size may be it as well", async () => {
    const { desk, folderId, start } = await aDesk({ archive: CHANGING_ARCHIVE });
    desk.archive.addDocument({ folderId, filename: "scan.pdf", ...at(13), filesize: 9 });
    const row = desk.pending({ path: "scan.pdf", seen: file });
    const firstRun = await start();
    expect(await firstRun.objection(row, folderId, never)).toMatchObject({ code: "FIRST_RUN" });
  });

  test("what was sent since then does not hide it, over any number of starts; within a week", async () => {
    const { desk, folderId, start } = await aDesk();
    desk.archive.addDocument({ folderId, filename: "scan.pdf", ...at(13) });
    const row = desk.pending({ path: "scan.pdf", seen: file });
    const isHeld = async () =>
      (await start().then((run) => run.objection(row, folderId, never))) !== undefined;
    expect(await isHeld()).toBe(true);
    const next = desk.archive.addDocument({ folderId, filename: "next.pdf", ...at(14) });
    desk.put({ state: "converted", documentId: next, folderId, sentArchiveAt: 14 * HOUR });
    expect(await isHeld()).toBe(true);
    await desk.advance(8 * 24 * HOUR);
    expect(await isHeld()).toBe(false);
  });

  test("a folder is listed once a start, no further than to what the journal knows, and again once the machine slept", async () => {
    const { desk, folderId, start } = await aDesk();
    for (let n = 0; n < 1_000; n++)
      desk.archive.addDocument({ folderId, filename: `${n}.pdf`, ...at(1) });
    const firstRun = await start();
    expect(desk.archive.count("documents")).toBe(0);
    const look = async () => {
      await firstRun.objection(desk.pending({ seen: file }), folderId, never);
      return desk.archive.count("documents");
    };
    const pages = await look();
    expect(pages).toBeLessThanOrEqual(2);
    expect(await look()).toBe(pages);
    desk.clock.jump(HOUR);
    expect(await look()).toBe(2 * pages);
    expect(await look()).toBe(2 * pages);
  });

  /** The same, with `scan.pdf` of 13:00 in a folder that people have renamed, or put it into. */
  async function aFiling() {
    const { desk, folderId, known, start } = await aDesk();
    const filed = desk.archive.addFolder("Filed");
    const documentId = desk.archive.addDocument({
      folderId: filed,
      filename: "scan.pdf",
      ...at(13),
    });
    const row = desk.pending({ path: "scan.pdf", seen: file });
    const look = async (guard?: FirstRun) =>
      (guard ?? (await start())).objection(row, folderId, never);
    const searches = () => desk.archive.asked.filter(({ operation }) => operation === "search");
    const unclean = () => desk.journal.setKeyValue(`${UNCLEAN_KEYS}1`, "yes");
    return { desk, folderId, known, start, filed, documentId, row, look, searches, unclean };
  }
  type Filing = Awaited<ReturnType<typeof aFiling>>;
  const LATE = { code: "FIRST_RUN", message: expect.stringMatching(/in another folder.*later/) };

  test.for<[string, (filing: Filing) => unknown, number]>([
    ["the last daemon ended in good order", () => undefined, 0],
    ["it did not", ({ unclean }) => unclean(), 1],
    [
      "someone else's document came to the folder later",
      ({ desk, folderId }) =>
        desk.archive.addDocument({ folderId, filename: "other.pdf", ...at(14) }),
      1,
    ],
    [
      "the folder has nothing that the journal knows",
      ({ desk, known, filed }) => desk.archive.change(known, { folderId: filed }),
      1,
    ],
  ])("in another folder, where %s: it costs so many searches more", async ([, make, searches]) => {
    const filing = await aFiling();
    await make(filing);
    const objection = await filing.look();
    if (searches > 0) expect(objection).toMatchObject(LATE);
    else expect(objection).toBeUndefined();
    expect(filing.searches()).toHaveLength(searches);
  });

  test("in another folder: asked once, again at each start for a week, and then no more", async () => {
    const { desk, folderId, start, look, searches, unclean } = await aFiling();
    await unclean();
    const guard = await start();
    for (let n = 0; n < 3; n++) expect(await look(guard)).toMatchObject(LATE);
    expect(searches()).toHaveLength(1);
    desk.clock.jump(HOUR);
    await look(guard);
    expect(searches()).toHaveLength(2);
    const next = desk.archive.addDocument({ folderId, filename: "next.pdf", ...at(14) });
    desk.put({ state: "converted", documentId: next, sentArchiveAt: 14 * HOUR });
    expect(await look()).toMatchObject(LATE);
    expect(searches()).toHaveLength(3);
    await desk.advance(8 * 24 * HOUR);
    expect(await look()).toBeUndefined();
    expect(searches()).toHaveLength(3);
    // Where nothing is found the archive is asked once for each end in disorder.
    await unclean();
    for (const _ of [1, 2]) {
      await look();
      expect(searches()).toHaveLength(4);
    }
  });

  test("in another folder: what was sent since an end in disorder does not hide it, also after a restart", async () => {
    const { desk, folderId, start, look, unclean } = await aFiling();
    await unclean();
    // Its own folder has a suspect, which is held without a look at the whole archive.
    const other = { folderId, filename: "other.pdf", ...file };
    desk.archive.addDocument({ ...other, ...at(14) });
    const row = desk.pending({ path: "other.pdf", seen: file });
    await (await start()).objection(row, folderId, never);
    await desk.advance(HOUR);
    const archive = { folderId: desk.archive.addFolder("New"), filename: "sent.pdf" };
    const documentId = desk.archive.addDocument({ ...archive, ...at(15) });
    const sentAt = desk.clock.now();
    desk.put({ state: "converted", documentId, sentAt, sentArchiveAt: sentAt });
    await desk.advance(HOUR);
    expect(await look()).toMatchObject(LATE);
  });

  test("in another folder: what was sent since this start does not hide it", async () => {
    const { desk, folderId, row, start, look } = await aFiling();
    const guard = await start();
    const archive = { folderId: desk.archive.addFolder("New"), filename: "sent.pdf" };
    const documentId = desk.archive.addDocument({ ...archive, ...at(15) });
    desk.put({ state: "uploaded", documentId, folderId, sentAt: desk.clock.now() });
    expect(await look(guard)).toBeUndefined();
    expect(await guard.objection(row, archive.folderId, never)).toMatchObject(LATE);
  });

  test.for([
    ["there", 0],
    ["to where it was filed from", 1],
  ] as const)(
    "in another folder: it may be in doubt, sent %s, which is found first",
    async ([, by]) => {
      const { desk, filed, documentId, look, unclean } = await aFiling();
      await unclean();
      const doubt = { state: "inDoubt", folderId: filed + by, sentName: "scan.pdf" } as const;
      const { id } = desk.put({ path: "filed/scan.pdf", seen: file, ...doubt });
      expect(await look()).toMatchObject({ conflict: { id } });
      await desk.journal.apply([
        {
          type: "event",
          id,
          event: {
            type: "found",
            at: desk.clock.now(),
            dueAt: 0,
            documentId,
            status: "CONVERTED",
            uploadedDate: 13 * HOUR,
          },
        },
      ]);
      expect(await look()).toBeUndefined();
    },
  );

  test("in another folder: a search that is refused tells nothing, and one that fails is asked again", async () => {
    const { desk, start, look, searches, unclean } = await aFiling();
    await unclean();
    const refusal = refused("INVALID_QUERY_CONTENT");
    desk.archive.fail("search", refusal, refusal);
    expect(await look()).toBeUndefined();
    expect(desk.warnings.join()).toMatch(/not all could be asked/);
    expect(await look()).toBeUndefined();
    expect(searches()).toHaveLength(2);
    await unclean();
    const guard = await start();
    desk.archive.fail("search", ...Array.from({ length: 9 }, failed));
    for (let n = 0; n < 2; n++) {
      await expect(look(guard)).rejects.toThrow("failed");
      await desk.advance(9 * MINUTE);
    }
    expect(await look(guard)).toMatchObject(LATE);
  });

  test("where `firstRun: upload` was chosen nothing is listed or held", async () => {
    const desk = await SyncDesk.open({ mirrors: [{ firstRun: "upload" }] });
    const folderId = desk.archive.addFolder("Scans");
    desk.archive.addDocument({ folderId, filename: "scan.pdf", ...at(13) });
    const firstRun = await FirstRun.open(desk.context, async () => true);
    const row = desk.pending({ path: "scan.pdf", seen: file });
    expect(await firstRun.objection(row, folderId, never)).toBeUndefined();
    expect(desk.archive.count("documents")).toBe(0);
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
  const claiming = claimer.claim(candidates, () => true, never);
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
  const claiming = claimer.claim(await desk.journal.due(query), () => true, never);
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
  const claiming = claimer.claim(await desk.journal.due(query), () => true, never);
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
  const { claimed, problem } = await claimer.claim(candidates, () => true, never);
  expect(claimed).toEqual([]);
  expect(problem).toMatchObject({ code: "ARCHIVE_BUSY" });
  expect(archive.count("documents")).toBeLessThanOrEqual(9);
});
