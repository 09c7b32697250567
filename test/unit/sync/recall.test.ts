/** Retention, and files that come back after their rows were dropped. */
import { expect, test } from "vitest";
import type { Document } from "../../../src/domain/document.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { Tidier } from "../../../src/sync/tidier.ts";
import { aSettler, onDisk, settling } from "./a-settler.ts";
import { MINUTE, type SyncDesk } from "./desk.ts";

const DAY = 86_400_000;
const retention = { retainMs: 100 * DAY, rememberMs: 1_000 * DAY };
const digest = "ab".repeat(32);

/** A row that was converted, and whose file is gone, `days` ago. */
function longGone(desk: SyncDesk, days: number, set: Partial<Document> & { path?: string } = {}) {
  const at = desk.clock.now() - days * DAY;
  const done = { convertedAt: at, uploadedAt: at, goneAt: at, dueAt: null, documentId: 17 };
  return desk.put({ state: "converted", digest, folderId: 7, ...done, ...set });
}

test("what is long done is dropped in steps, once a day; what comes back is not sent again", async () => {
  const { desk, settler } = await aSettler({ config: { retention } });
  for (let n = 0; n < 450; n++) longGone(desk, 200, { documentId: 1_000 + n });
  const young = longGone(desk, 98, { documentId: 17 });
  const tidier = new Tidier(desk.context, () => [1]);
  await desk.run(tidier);
  await desk.advance(MINUTE);
  expect(desk.journal.store.rows.map(({ id }) => id)).toEqual([young.id]);
  await desk.advance(DAY);
  expect(desk.journal.store.rows.map(({ id }) => id)).toEqual([young.id]);
  await desk.advance(2 * DAY);
  expect(desk.journal.store.rows.length).toBe(0);

  const back = settling(desk, "back/again.pdf", digest);
  await desk.run(settler);
  expect(await desk.row(back)).toMatchObject({ state: "uploaded", documentId: 17, folderId: 7 });
  expect(await desk.story(back)).toEqual(
    expect.arrayContaining([expect.stringContaining("adopted")]),
  );
});

test("what was claimed by name and size is nobody's content: it is sent when it comes back", async () => {
  const { desk, settler } = await aSettler({ config: { retention } });
  longGone(desk, 200, { sentBytes: null });
  await desk.run(new Tidier(desk.context, () => [1]));
  expect(desk.journal.store.rows.length).toBe(0);
  const back = settling(desk, "back/again.pdf", digest);
  await desk.run(settler);
  expect(await desk.row(back)).toMatchObject({ state: "pending", documentId: null });
});

test("what comes back is not held for an expiry that is over by now", async () => {
  const expiry = { after: { months: 0, days: 1 }, from: { kind: "modified" } } as const;
  const { desk, settler } = await aSettler({ config: { retention } });
  longGone(desk, 200);
  await desk.run(new Tidier(desk.context, () => [1]));
  Object.assign(desk.mirror().settings, { rules: { ...NO_RULES, expiry } });
  const back = settling(desk, "back/again.pdf", digest);
  Object.assign(back.seen, { modifiedAt: 0 });
  await desk.run(settler);
  expect(await desk.row(back)).toMatchObject({ state: "uploaded", documentId: 17 });
});

test("two that come back at once are two documents; a third was never sent", async () => {
  const { desk, settler } = await aSettler({ config: { retention } });
  longGone(desk, 200, { documentId: 17 });
  longGone(desk, 200, { documentId: 18 });
  await desk.run(new Tidier(desk.context, () => [1]));
  expect(desk.journal.store.rows.length).toBe(0);
  for (const name of ["a", "b", "c"]) settling(desk, name, digest);
  await desk.run(settler);
  const rows = desk.journal.store.rows;
  expect(new Set(rows.map(({ documentId }) => documentId))).toEqual(new Set([17, 18, null]));
  expect(rows.map(({ state }) => state).toSorted()).toEqual(["pending", "uploaded", "uploaded"]);
});

test.for([
  [undefined, [1], "it is not asked for"],
  [retention, [], "no source was walked yet, so what is gone may be back"],
] as const)("nothing is let go with %o, scanned %o: %s", async ([retained, scanned]) => {
  const { desk } = await aSettler({ config: { retention: retained } });
  const row = longGone(desk, 5_000);
  await desk.run(new Tidier(desk.context, () => scanned));
  await desk.advance(MINUTE);
  expect(await desk.row(row)).toEqual(row);
});

test("with other bytes at the place of a dropped row, a file is new", async () => {
  const { desk, settler } = await aSettler({ config: { retention } });
  const row = longGone(desk, 200, { path: "a.pdf" });
  await desk.run(new Tidier(desk.context, () => [1]));
  onDisk(desk, "a.pdf", "cd".repeat(32));
  const fresh = settling(desk, "a.pdf", "cd".repeat(32));
  await desk.run(settler);
  expect(await desk.row(fresh)).toMatchObject({ state: "pending", documentId: null });
  expect(await desk.journal.tombstones(1, digest, rawOfText("a.pdf"), 0)).toHaveLength(1);
  expect(row.documentId).toBe(17);
});
