/** What learns about a document is the same whether its row's times tell it or lines that were written. */
import Database from "better-sqlite3";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Document, State } from "../../../src/domain/document.ts";
import { ARROWS, type Event, type EventType } from "../../../src/domain/life.ts";
import { eventLine, linesFor, noteLine, seenLine } from "../../../src/journal/history-line.ts";
import type { NumberedLine } from "../../../src/journal/history-line.ts";
import { historyRow } from "../../../src/journal/history-line.ts";
import type { Change } from "../../../src/journal/journal.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { Desk, NOW, seenOf } from "../../contract/journal-desk.ts";
import { Dice } from "../../simulation/dice.ts";
import { scratch } from "./scratch.ts";

const LIVES = 400;
const STEPS = 12;

/** An event of this type as the step `n` of a life; times may repeat, as those of a coarse clock. */
function eventOf(type: EventType, n: number, documentId: number): Event {
  const at = NOW + Math.floor(n / 2);
  const problem = {
    code: n % 2 ? "FOLDER_MISSING" : "ARCHIVE_BUSY",
    message: `so it was ${n % 3}`,
  };
  const settled = {
    digest: "d",
    sentName: `n${n}`,
    targetPath: `/T${n}`,
    remark: null,
    batch: "b",
  };
  const original = {
    id: 1,
    documentId: 1,
    folderId: 1,
    sentName: "o",
    uploadedAt: at,
    archiveUploadedAt: null,
    pages: 1,
    archiveBytes: 1,
    sentBytes: 1,
    digidoc: false,
  };
  const counted = { pages: n, archiveBytes: n, digidoc: false, after: null };
  const dueAt = at + 1;
  const made: { readonly [T in EventType]: Event } = {
    changed: { type: "changed", at, dueAt, seen: seenOf(n) },
    unfinished: { type: "unfinished", at, dueAt, problem },
    settled: { type: "settled", at, ...settled },
    claimed: { type: "claimed", at, archiveAt: at, folderId: n, batch: "b" },
    accepted: { type: "accepted", at, dueAt, documentId, status: "UPLOADED" },
    adopted: { type: "adopted", at, dueAt, documentId, folderId: n, status: "X", sentBytes: 1 },
    duplicated: { type: "duplicated", at, original, remark: "the same", after: null },
    released: { type: "released", at },
    deferred: { type: "deferred", at, dueAt, problem },
    vetoed: { type: "vetoed", at, digest: "d", problem, after: null },
    heldBack: { type: "heldBack", at, dueAt, problem },
    refused: { type: "refused", at, problem },
    inDoubt: { type: "inDoubt", at, dueAt, problem },
    looked: { type: "looked", at, dueAt },
    found: { type: "found", at, dueAt, documentId, status: null },
    absent: { type: "absent", at },
    polled: { type: "polled", at, dueAt, status: n % 3 ? "UPLOADED" : null, problem: null },
    converted: { type: "converted", at, ...counted },
    vanished: { type: "vanished", at, problem },
    mistaken: { type: "mistaken", at, problem },
    goesOn: { type: "goesOn", at },
    recheck: { type: "recheck", at },
    lookAgain: { type: "lookAgain", at },
  };
  return made[type];
}

/** The next step of a life: an arrow from where it is, more often the ordinary one; or a note. */
function stepOf(row: Document, dice: Dice, n: number, documentId: number): Change {
  const { id } = row;
  if (dice.chance(0.1)) {
    const set = dice.chance(0.3) ? { seen: seenOf(1_000 + n) } : { remark: `r${n}` };
    return { type: "note", id, at: NOW + n, why: `why ${dice.int(0, 1)}`, set };
  }
  const types = (Object.keys(ARROWS[row.state]) as EventType[]).filter(
    (type) => type !== "lookAgain" || row.doubtAt !== null,
  );
  const isSettled = row.digest !== null && row.sentName !== null;
  const possible = types.filter((type) => type !== "claimed" || isSettled);
  const usual = possible.filter((type) => ORDINARY[row.state] === type);
  const type = dice.pick(dice.chance(0.6) && usual.length > 0 ? usual : possible) ?? "goesOn";
  return { type: "event", id, event: eventOf(type, n, documentId) };
}

const ORDINARY: { readonly [S in State]?: EventType } = {
  settling: "settled",
  pending: "claimed",
  uploading: "accepted",
  uploaded: "converted",
};

test("lives of all kinds are told as if a line had been written for every step", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  const desk = await Desk.at(journal);
  const seen = new Set<string>();
  const ordinary = new Map<State, number>();
  for (let life = 1; life <= LIVES; life++) {
    const dice = new Dice(life);
    const added = await desk.add(`${life}.pdf`);
    let row = added;
    const told: NumberedLine[] = [{ ...seenLine(added), number: 1, times: 1 }];
    for (let n = 1; n <= STEPS && ARROWS[row.state] !== undefined; n++) {
      const change = stepOf(row, dice, n, life * 100 + n);
      const [applied] = await journal.apply([change]);
      if (!applied?.document) throw new Error("the row is gone");
      const before = row;
      row = applied.document;
      const line =
        change.type === "event"
          ? eventLine(before.state, row.state, change.event)
          : noteLine(before, NOW + n, change.type === "note" ? change.why : "");
      for (const each of linesFor(line, told.at(-1), told.at(-2), 1))
        told.splice(each.number - 1, 1, each);
      if (row.ordinary) ordinary.set(row.state, (ordinary.get(row.state) ?? 0) + 1);
      if (change.type === "event") seen.add(`${before.state} ${change.event.type}`);
      expect(await journal.history(row.id), `life ${life}, step ${n}`).toEqual(
        told.map(historyRow),
      );
    }
  }
  const arrows = Object.entries(ARROWS).flatMap(([state, by]) =>
    Object.keys(by).map((type) => `${state} ${type}`),
  );
  expect(
    arrows.filter((arrow) => !seen.has(arrow)),
    "arrows that no life took",
  ).toEqual([]);
  expect(ordinary.get("uploaded"), "told by their times").toBeGreaterThan(30);
  expect(ordinary.get("converted"), "told by their times").toBeGreaterThan(10);
});

test("the ordinary life of a document leaves neither line nor attempt", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  {
    await using journal = await SqliteJournal.open({ path, role: "owner" });
    const desk = await Desk.at(journal);
    const { id } = await desk.add("a.pdf");
    const types = ["settled", "claimed", "accepted", "converted"] as const;
    const row = await desk.after(id, ...types.map((type, n) => eventOf(type, n, 501)));
    expect(row).toMatchObject({ state: "converted", ordinary: true });
    expect(await journal.history(id)).toHaveLength(5);
    expect(await journal.attempts(id)).toMatchObject([{ outcome: "accepted", documentId: 501 }]);
  }
  const db = new Database(path, { readonly: true });
  for (const table of ["history", "attempts"])
    expect(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), table).toBe(0);
  db.close();
});
