/** What the archive holds in any folder, as far as search tells it. */
import { describe, expect, test } from "vitest";
import type { SearchQuery } from "../../../src/archive/archive.ts";
import { SendGuard } from "../../../src/sync/send-guard.ts";
import { waitingOf } from "../../../src/sync/pace.ts";
import { type PagesRead, ReadingNote } from "../../../src/sync/reading-note.ts";
import { WholeArchive } from "../../../src/sync/whole-archive.ts";
import { failed, refused, ScriptedArchive, unreachable } from "../../fakes/scripted-archive.ts";
import { never, SyncDesk } from "./desk.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";

/** What a folder lists. */
const KNOWN = [{ id: 8, filename: "known.pdf" }];

const REFUSED = refused("INVALID_QUERY_CONTENT");

/** An archive with `a.pdf` (id 7) filed in one folder, and `known.pdf` (id 8) in another. */
function anArchive() {
  const archive = new ScriptedArchive();
  const [filed, folderId] = [archive.addFolder("Filed"), archive.addFolder("Scans")];
  archive.addDocument({ id: 7, folderId: filed, filename: "a.pdf", status: "CONVERTED" });
  archive.addDocument({ id: 8, folderId, filename: "known.pdf", status: "CONVERTED" });
  return { archive, filed, folderId };
}

/** Its search shows these only, unless it is asked with a criterion. */
function showing(archive: ScriptedArchive, ids: readonly number[], also = false) {
  const search = archive.search.bind(archive);
  archive.search = async (query: SearchQuery, signal) => {
    const page = await search(query, signal);
    if (query.filesizeStart !== undefined && !also) return page;
    return { ...page, documents: page.documents.filter(({ id }) => ids.includes(id)) };
  };
}

/** Without a name it shows a million documents and more. */
function crowding(archive: ScriptedArchive) {
  const search = archive.search.bind(archive);
  archive.search = async (query: SearchQuery, signal) => {
    const page = await search(query, signal);
    return query.docFilename === undefined ? { ...page, paginationPages: 1_001 } : page;
  };
}

const refusing = (to: ScriptedArchive, times: number) =>
  to.fail("search", ...Array.from({ length: times }, () => REFUSED));

const failing = (to: ScriptedArchive, times: number) =>
  to.fail("search", ...Array.from({ length: times }, failed));

test.for<[string, (archive: ScriptedArchive) => void, number[], RegExp | null, number]>([
  ["it shows all", () => {}, [7], null, 1],
  ["without a criterion it is refused", (to) => to.fail("search", REFUSED), [7], null, 2],
  ["without a criterion it shows nothing", (to) => showing(to, []), [7], null, 2],
  ["without a criterion it shows a part", (to) => showing(to, [7]), [7], null, 2],
  ["it shows a part of it always", (to) => showing(to, [7], true), [7], /leaves out/, 3],
  ["it shows nothing ever", (to) => showing(to, [], true), [], /leaves out/, 3],
  ["without a name it is refused", (to) => refusing(to, 2), [7], null, 4],
  ["it is refused", (to) => refusing(to, 3), [], /INVALID_QUERY_CONTENT/, 3],
  ["it has more than can be read", (to) => crowding(to), [7], null, 3],
  ["it fails once", (to) => to.fail("search", failed()), [7], null, 2],
  ["without a name it fails", (to) => failing(to, 6), [7], null, 8],
  ["it alone fails", (to) => failing(to, 9), [], /failed/, 9],
])("of search that finds this: %s", async ([, plan, ids, unasked, requests]) => {
  const { archive } = anArchive();
  plan(archive);
  const whole = new WholeArchive(archive);
  const found = await whole.named("a.pdf", KNOWN, never);
  expect(found.map(({ id }) => id)).toEqual(ids);
  if (unasked === null) expect(whole.unasked).toBeNull();
  else expect(whole.unasked).toMatch(unasked);
  expect(archive.count("search")).toBe(requests);
});

test("where folders list nothing, what a part of it shows tells whether names can be asked for", async () => {
  const { archive } = anArchive();
  crowding(archive);
  const whole = new WholeArchive(archive);
  expect(await whole.named("a.pdf", [], never)).toHaveLength(1);
  expect(whole.unasked).toBeNull();
});

test("an empty archive is no complaint", async () => {
  const whole = new WholeArchive(new ScriptedArchive());
  expect(await whole.named("a.pdf", [], never)).toEqual([]);
  expect(whole.unasked).toBeNull();
});

test("an archive that is away may answer later, and is asked again", async () => {
  const { archive } = anArchive();
  const whole = new WholeArchive(archive);
  archive.fail("search", unreachable());
  await expect(whole.named("a.pdf", KNOWN, never)).rejects.toThrow();
  archive.fail("search", failed());
  archive.fail("folder", failed());
  await expect(whole.named("a.pdf", KNOWN, never)).rejects.toThrow();
  expect(await whole.named("a.pdf", KNOWN, never)).toHaveLength(1);
  expect(whole.unasked).toBeNull();
});

test("it is read in pages, until these show nothing new, however many names are asked for, whatever page is repeated", async () => {
  const { archive, filed } = anArchive();
  for (let n = 0; n < 2_500; n++) archive.addDocument({ folderId: filed, filename: `${n}.pdf` });
  const whole = new WholeArchive(archive);
  for (let n = 0; n < 50; n++) expect(await whole.named(`${n}.pdf`, KNOWN, never)).toHaveLength(1);
  expect(archive.count("search")).toBe(6);

  const search = archive.search.bind(archive);
  archive.search = (query, signal) => search({ ...query, paginationIndex: 0 }, signal);
  whole.forget();
  expect(await whole.named("a.pdf", KNOWN, never), "its name is asked for").toHaveLength(1);
  expect(whole.unasked).toBeNull();
});

test("a page that repeats, as so many documents were uploaded after the one before it, hides none", async () => {
  const { archive, filed } = anArchive();
  const search = archive.search.bind(archive);
  const add = (count: number, what: string) => {
    for (let n = 0; n < count; n++)
      archive.addDocument({ folderId: filed, filename: `${what}${n}.pdf` });
  };
  add(1_500, "");
  archive.search = async (query, signal) => {
    const all = await search({ paginationSize: 10_000 }, signal);
    const oldestFirst = all.documents.toSorted((a, b) => a.id - b.id);
    const documents = query.sortDesc ? oldestFirst.toReversed() : oldestFirst;
    const from = (query.paginationIndex ?? 0) * 1_000;
    if (query.sortDesc && from === 0) add(1_000, "later ");
    return { ...all, paginationPages: 3, documents: documents.slice(from, from + 1_000) };
  };
  const whole = new WholeArchive(archive);
  expect(await whole.named("0.pdf", KNOWN, never)).toHaveLength(1);
  expect(whole.unasked).toBeNull();
});

test("of a large archive it is noted how far the reading is, since nothing is sent meanwhile", async () => {
  const { archive, filed } = anArchive();
  for (let n = 0; n < 3_500; n++) archive.addDocument({ folderId: filed, filename: `${n}.pdf` });
  const { journal, clock, context } = await SyncDesk.open();
  const told: PagesRead[] = [];
  const waits: (string | undefined)[] = [];
  const waiting = async () => (await waitingOf(journal, context.config, clock.now()))?.message;
  const search = archive.search.bind(archive);
  archive.search = async (query, signal) => {
    waits.push(await waiting());
    await clock.advance(8_000);
    return search(query, signal);
  };
  const note = new ReadingNote(journal, clock, (read) => told.push(read));
  const whole = new WholeArchive(archive, { note });
  await whole.named("a.pdf", KNOWN, never);
  expect(told).toEqual([3, 1, 3].map((page) => ({ page, of: 4 })));
  const said = waits.map((why) => why?.replace(/^.*\((.*)\)$/, "$1"));
  const first = [undefined, undefined, undefined];
  expect(said).toEqual([...first, ...[3, 3, 1, 1, 3].map((page) => `page ${page} of 4`)]);
  expect(await waiting(), "it is over").toBeUndefined();
});

test("a document that moves to a page already read, as one before it is removed, is found", async () => {
  const { archive, filed } = anArchive();
  for (let n = 0; n < 1_500; n++) archive.addDocument({ folderId: filed, filename: `${n}.pdf` });
  const search = archive.search.bind(archive);
  let asked = 0;
  archive.search = async (query, signal) => {
    const page = await search({ ...query, paginationIndex: 0, paginationSize: 5_000 }, signal);
    const from = (query.paginationIndex ?? 0) * 1_000;
    // The newest is removed after the first page was read.
    const left = page.documents.slice(asked++ === 0 ? 0 : 1);
    return { ...page, paginationPages: 2, documents: left.slice(from, from + 1_000) };
  };
  const whole = new WholeArchive(archive);
  for (let n = 0; n < 1_500; n++)
    expect(await whole.named(`${n}.pdf`, KNOWN, never), `${n}.pdf`).toHaveLength(1);
});

test("a document that each copy of the archive has on the other's page, as one is behind, is found", async () => {
  const { archive, filed } = anArchive();
  for (let n = 0; n < 1_500; n++) archive.addDocument({ folderId: filed, filename: `${n}.pdf` });
  const search = archive.search.bind(archive);
  archive.search = async (query, signal) => {
    const page = await search({ ...query, paginationIndex: 0, paginationSize: 5_000 }, signal);
    const index = query.paginationIndex ?? 0;
    const newestFirst = page.documents.toSorted((a, b) => b.id - a.id);
    // The second page is always answered by a copy that does not have the newest.
    const had = newestFirst.slice(index === 0 ? 0 : 1);
    const all = query.sortDesc ? had : had.toReversed();
    return {
      ...page,
      paginationPages: 2,
      documents: all.slice(index * 1_000, (index + 1) * 1_000),
    };
  };
  const whole = new WholeArchive(archive);
  for (let n = 0; n < 1_500; n++)
    expect(await whole.named(`${n}.pdf`, KNOWN, never), `${n}.pdf`).toHaveLength(1);
});

test("who asks again gives search up after ten minutes of failures only", async () => {
  const { archive } = anArchive();
  archive.fail("search", ...Array.from({ length: 100 }, failed));
  const clock = new ManualClock();
  const whole = new WholeArchive(archive, { clock });
  for (let minute = 0; minute < 10; minute++) {
    await expect(whole.named("a.pdf", KNOWN, never)).rejects.toThrow();
    await clock.advance(60_000);
  }
  expect(await whole.named("a.pdf", KNOWN, never)).toEqual([]);
  expect(whole.unasked).toMatch(/failed/);
});

describe("on a first run", () => {
  const outgoing = (folderId: number, set = {}) => {
    return { sentName: "a.pdf", sizeBytes: 1_000, folderId, ...set };
  };
  const claimedBy = (ids: readonly number[]) => ({
    claimed: async () => new Map(ids.map((id) => [id, null])),
    conflicts: async () => [],
  });

  test.for([
    [{}, [], true, "nobody accounts for it: people may have filed it there"],
    [{ sizeBytes: 999 }, [], false, "that has another content"],
    [{ sentName: "b.pdf" }, [], false, "nothing has its name"],
    [{}, [7], false, "it is another row's"],
  ] as const)("%o, claimed %o: held is %s, since %s", async ([set, claimed, isHeld]) => {
    const { archive, filed, folderId } = anArchive();
    const guard = new SendGuard(archive, claimedBy(claimed));
    const objection = await guard.objection(outgoing(folderId, set), [1], never);
    const message = expect.stringContaining(`(document 7 in folder ${filed})`);
    if (isHeld) expect(objection).toMatchObject({ code: "FIRST_RUN", message });
    else expect(objection).toBeUndefined();
  });
});
