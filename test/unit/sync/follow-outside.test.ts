import { expect, test } from "vitest";
import { followOutside } from "../../../src/sync/follow-outside.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { HOUR, SyncDesk } from "./desk.ts";

/** A desk that is told of others' writes; when it was, ms from the start. */
async function following(member?: string) {
  const desk = await SyncDesk.open(member === undefined ? {} : { member });
  const reread: number[] = [];
  const known = await desk.journal.outsideWrites();
  await desk.run({
    run: (signal) =>
      followOutside(
        desk.context,
        known,
        {
          reread: async () => void reread.push(desk.clock.monotonic()),
          look: async () => undefined,
        },
        signal,
      ),
  });
  const { store } = desk.journal;
  const other = new MemoryJournal({ store });
  return { desk, other, reread };
}

test("what somebody else writes is taken up within a second, once", async () => {
  const { desk, other, reread } = await following();
  await desk.advance(5_300);
  await other.setMemo("asked", "now");
  await desk.advance(HOUR);
  expect(reread).toEqual([6_000]);
});

test("what a daemon writes itself is nothing new to it", async () => {
  const { desk, reread } = await following();
  await desk.journal.setMemo("asked", "now");
  await desk.advance(HOUR);
  expect(reread).toEqual([]);
});

test("daemons that share a journal look twice a second", async () => {
  const { desk, other, reread } = await following("a");
  await desk.advance(5_300);
  await other.setMemo("asked", "now");
  await desk.advance(1_000);
  expect(reread).toEqual([5_500]);
});

test("a clock that was set back makes it look at everything anew", async () => {
  const { desk, reread } = await following();
  await desk.advance(5_300);
  desk.clock.jump(-HOUR);
  await desk.advance(5_000);
  expect(reread).toEqual([6_000]);
});
