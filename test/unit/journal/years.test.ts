/** Years of days over one journal with retention: it grows to a size, and stays there. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { Change } from "../../../src/journal/journal.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import type { TidyRequest } from "../../../src/journal/tidiness.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { scratch } from "./scratch.ts";

const DAY = 86_400_000;
const START = 1_700_000_000_000;
const YEARS = 8;
/** Months of four weeks. */
const MONTHS = 13;
const MONTHLY = 40;
const RETAIN_MS = 365 * DAY;
const REMEMBER_MS = 2 * 365 * DAY;
/** What stays in the tree for good; everything else is gone after a month. */
const KEPT_EVERY = 60;

const digestOf = (n: number) => n.toString(16).padStart(64, "0");

/** A document's whole life, but for its end. */
function lifeOf(id: number, at: number): Change[] {
  const told = { type: "event", id } as const;
  const settled = { sentName: `${id}.pdf`, targetPath: "/Scans", remark: null, batch: `b-${at}` };
  return [
    { ...told, event: { type: "settled", at, digest: digestOf(id), ...settled } },
    {
      ...told,
      event: { type: "claimed", at, archiveAt: at, folderId: 7, batch: `b-${at}` },
    },
    { ...told, event: { type: "accepted", at, dueAt: at, documentId: id, status: "UPLOADED" } },
    {
      ...told,
      event: { type: "converted", at, pages: 1, archiveBytes: 9, digidoc: false, after: null },
    },
  ];
}

test(`over ${YEARS} years it stays within its bounds, and what is there is never let go`, async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  const { id: mirrorId } = await journal.mirror("scans", "/srv/scans");
  const bytesAfterYear: number[] = [];
  const kept: number[] = [];
  const leaving = new Map<number, number>();
  for (let month = 0; month < YEARS * MONTHS; month++) {
    const at = START + month * 28 * DAY;
    const seen = { sizeBytes: 100, modifiedAt: at, stamp: `${at}` };
    const dir = rawOfText(`${2023 + Math.floor(month / MONTHS)}/${month}`);
    const added = await journal.apply([
      {
        type: "batch",
        batch: { id: `b-${at}`, mirrorId, openedAt: at, joinedAt: at, documents: 1 },
      },
      ...Array.from({ length: MONTHLY }, (_, n): Change => {
        const document = { mirrorId, dir, name: rawOfText(`${n}.pdf`), seen, at, dueAt: at };
        return { type: "add", document: { ...document, supersedes: null } };
      }),
    ]);
    const ids = added.flatMap(({ document }) => document?.id ?? []);
    await journal.apply(ids.slice(1).flatMap((id) => lifeOf(id, at)));
    // One was removed before it was sent.
    await journal.apply([{ type: "forget", id: ids[0] ?? 0, at, why: "removed" }]);
    for (const id of ids.slice(1)) {
      if (id % KEPT_EVERY === 0) kept.push(id);
      else leaving.set(id, at + 30 * DAY);
    }
    const left = [...leaving].filter(([, goneAt]) => goneAt <= at);
    for (const [id] of left) leaving.delete(id);
    await journal.apply(
      left.map(([id]): Change => ({ type: "note", id, at, why: "gone", set: { goneAt: at } })),
    );
    let after: number | null = 0;
    while (after !== null) {
      const bounds = { before: at - RETAIN_MS, forgetBefore: at - REMEMBER_MS, receipts: false };
      const places = { mirrorIds: [mirrorId], after, afterBatch: 0, limit: 200 };
      const request: TidyRequest = { at, ...bounds, ...places };
      after = (await journal.tidy(request)).next;
    }
    if (month % MONTHS === MONTHS - 1) bytesAfterYear.push(bytesOf(path));
  }
  // Full after a year of details and two of tombstones; from then on only what is kept adds to it.
  const [full = 0, ...later] = bytesAfterYear.slice(4);
  for (const bytes of later) expect(bytes / full).toBeLessThan(1.08);
  for (const id of kept) expect(await journal.document(id)).toMatchObject({ state: "converted" });
  const all = YEARS * MONTHS * (MONTHLY - 1);
  const rows = (await journal.counts()).reduce((sum, { documents }) => sum + documents, 0);
  expect(rows).toBeLessThan(all / 3);
  // A file of two years ago that comes back is known; one of the first year is not any more.
  const known = async (id: number) =>
    (await journal.tombstones(mirrorId, digestOf(id), rawOfText("x"), 0)).length;
  expect(await known((YEARS - 2) * MONTHS * MONTHLY + 7)).toBe(1);
  expect(await known(7)).toBe(0);
});

/** The database's own size, without its log. */
function bytesOf(path: string): number {
  const db = new Database(path, { readonly: true });
  try {
    return Number(db.pragma("page_count", { simple: true })) * 4096;
  } finally {
    db.close();
  }
}
