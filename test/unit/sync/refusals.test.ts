import { expect, test } from "vitest";
import { lastingMs } from "../../../src/domain/backoff.ts";
import { Refusals } from "../../../src/sync/refusals.ts";
import { REFUSED_FILE } from "../../../src/sync/waits.ts";
import { HOUR, MINUTE, SECOND } from "./desk.ts";

/** After so many refusals in a row, a minute apart, each of another file. */
function refusedTimes(times: number): { refusals: Refusals; now: number } {
  const refusals = new Refusals();
  let now = 0;
  for (let n = 1; n <= times; n++)
    refusals.refused({ id: n, mirrorId: 1 }, `no room ${n}`, (now += MINUTE));
  return { refusals, now };
}

test("one or two may be for the file's sake: the others are tried", () => {
  const { refusals, now } = refusedTimes(2);
  expect(refusals.restOf(1, now)).toBeUndefined();
});

test("the same one, however often, is one: it may be for its own sake", () => {
  const refusals = new Refusals();
  for (let n = 1; n <= 9; n++) refusals.refused({ id: 1, mirrorId: 1 }, "no right", n * MINUTE);
  expect(refusals.restOf(1, 9 * MINUTE)).toBeUndefined();
});

test("after a rest another one is tried than those that were refused", () => {
  const { refusals } = refusedTimes(3);
  const files = [2, 5, 1, 4].map((id) => ({ id, mirrorId: 1 }));
  const other = { id: 3, mirrorId: 2 };
  const ids = refusals.othersFirst([...files, other]).map(({ id }) => id);
  expect(ids, "one of another mirror has nothing to do with it").toEqual([5, 4, 3, 2, 1]);
});

test("three in a row: the mirror rests, for what the last one met", () => {
  const { refusals, now } = refusedTimes(3);
  expect(refusals.restOf(1, now)).toEqual({ leftMs: 30 * SECOND, message: "no room 3" });
  expect(refusals.restOf(1, now + 30 * SECOND)).toBeUndefined();
});

test("another mirror is not its concern", () => {
  const { refusals, now } = refusedTimes(3);
  expect(refusals.restOf(2, now)).toBeUndefined();
});

test("after a rest one refusal is enough for the next", () => {
  const { refusals, now } = refusedTimes(4);
  expect(refusals.restOf(1, now)?.leftMs).toBe(45 * SECOND);
});

test("nobody rests for longer than an hour", () => {
  const { refusals, now } = refusedTimes(60 * 24 * 7);
  expect(refusals.restOf(1, now)?.leftMs).toBe(HOUR);
});

test("one that is moved or deleted ends it", () => {
  const { refusals, now } = refusedTimes(9);
  refusals.accepted(1);
  expect(refusals.restOf(1, now)).toBeUndefined();
});

test("a mirror that rests is tried once more when it may be fixed", () => {
  const { refusals, now } = refusedTimes(9);
  refusals.recheck();
  expect(refusals.restOf(1, now)).toBeUndefined();
  refusals.refused({ id: 1, mirrorId: 1 }, "still no room", now);
  expect(refusals.restOf(1, now)).toEqual({ leftMs: 2 * MINUTE, message: "still no room" });
});

test.each([
  [0, 10 * SECOND],
  [MINUTE, 15 * SECOND],
  [HOUR, HOUR / 4],
  [HOUR * 24 * 7, 6 * HOUR],
  [-HOUR, 10 * SECOND],
])("what was to be moved or deleted %i ms ago is tried again in %i ms", (lastedMs, waitMs) => {
  expect(lastingMs(REFUSED_FILE, lastedMs)).toBe(waitMs);
});
