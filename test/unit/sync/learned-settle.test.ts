/** What a mirror learns from a document that was sent too early. */
import { expect, test } from "vitest";
import { asLearned, learnedSettle } from "../../../src/sync/learned-settle.ts";
import { aSettler, sent, settling } from "./a-settler.ts";
import { SECOND } from "./desk.ts";

const REMARK = "sent too early: more was appended 5 s later; raise `settle`";

/** A page was sent, and five seconds after it was written there is more; `beginning` is what that begins with. */
async function aFeeder(beginning: string, pages = 2) {
  const { desk, settler } = await aSettler();
  const now = desk.clock.now();
  const seen = { sizeBytes: 1_000, modifiedAt: now - 8 * SECOND, stamp: "d1" };
  const times = { changedAt: now - 8 * SECOND, current: false, goneAt: null };
  const before = sent(desk, "scan.tif", "d1", { ...times, seen });
  const grown = { sizeBytes: 2_000, modifiedAt: now - 3 * SECOND, stamp: "d2" };
  const row = settling(desk, "scan.tif", "d2", {
    supersedes: before.id,
    firstSeenAt: now - 3 * SECOND,
    changedAt: now - 3 * SECOND,
    file: { seen: grown, beginning, pages },
  });
  await desk.run(settler);
  return { desk, before, row };
}

test("a page was sent, and the next one appended: that is said, and all wait longer from then on", async () => {
  const { desk, before, row } = await aFeeder("d1");
  expect(await desk.row(before)).toMatchObject({ state: "converted", remark: REMARK });
  expect(desk.warnings).toEqual([
    `${REMARK}; files of this mirror must be unchanged for 10s from now on`,
  ]);
  expect(desk.mirror().settings.settleMs).toBe(10 * SECOND);
  await desk.advance(7 * SECOND - 1);
  expect((await desk.row(row)).state, "the next page may come").toBe("settling");
  await desk.advance(1);
  expect((await desk.row(row)).state).toBe("pending");
  expect(desk.warnings, "once").toHaveLength(1);
});

test.for([
  ["d0", 2, "its beginning is another: it was edited"],
  ["d1", 1, "it has no more pages: a note was put onto one"],
] as const)("begins with %s, %i pages: nothing is learned, as %3$s", async ([begins, pages]) => {
  const { desk, before, row } = await aFeeder(begins, pages);
  expect((await desk.row(before)).remark).toBeNull();
  expect((await desk.row(row)).state).toBe("pending");
  expect(desk.mirror().settings.settleMs).toBe(3 * SECOND);
});

test.for([
  [3 * SECOND, 10 * SECOND, "as it was when it was learned"],
  [8 * SECOND, 10 * SECOND, "longer, and not long enough"],
  [20 * SECOND, 20 * SECOND, "longer than what was learned"],
  [2 * SECOND, 2 * SECOND, "shorter than it was: a person wants that"],
] as const)("a `settle` of %i ms means %i ms after a restart, being %s", async ([set, waited]) => {
  const { desk } = await aFeeder("d1");
  const mirror = { ...desk.mirror().settings, settleMs: set };
  expect((await asLearned(desk.journal, 1, mirror)).settleMs).toBe(waited);
  expect((await asLearned(desk.journal, 2, mirror)).settleMs, "another mirror").toBe(set);
});

test("what is learned twice counts from the first", async () => {
  const { desk } = await aFeeder("d1");
  const now = desk.clock.now();
  const seen = { sizeBytes: 10, modifiedAt: now, stamp: "e1" };
  const before = sent(desk, "b.txt", "e1", { changedAt: now, current: false, goneAt: null, seen });
  await desk.advance(60 * SECOND);
  settling(desk, "b.txt", "e2", {
    supersedes: before.id,
    firstSeenAt: now + 30 * SECOND,
    changedAt: now + 30 * SECOND,
    file: {
      seen: { sizeBytes: 20, modifiedAt: now + 30 * SECOND, stamp: "e2" },
      beginning: "e1",
    },
  });
  desk.mirror().settling.small.notify();
  await desk.advance(SECOND);
  const learned = { settleMs: 60 * SECOND, insteadOfMs: 3 * SECOND };
  expect(await learnedSettle(desk.journal, 1, 3 * SECOND)).toMatchObject(learned);
});
