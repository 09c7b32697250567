import { expect, test } from "vitest";
import { followOutside } from "../../../src/sync/follow-outside.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { HOUR, SyncDesk } from "./desk.ts";

/** A desk that learns about others' writes; when it was, ms from the start. */
async function following(instance?: string) {
  const desk = await SyncDesk.open(instance === undefined ? {} : { instance });
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

test("what someone else writes is taken up within a second, once", async () => {
  const { desk, other, reread } = await following();
  await desk.advance(5_300);
  await other.setKeyValue("asked", "now");
  await desk.advance(HOUR);
  expect(reread).toEqual([6_000]);
});

test("what a daemon writes itself is nothing new to it", async () => {
  const { desk, reread } = await following();
  await desk.journal.setKeyValue("asked", "now");
  await desk.advance(HOUR);
  expect(reread).toEqual([]);
});

test("daemons that share a journal look twice a second", async () => {
  const { desk, other, reread } = await following("a");
  await desk.advance(5_300);
  await other.setKeyValue("asked", "now");
  await desk.advance(1_000);
  expect(reread).toEqual([5_500]);
});

test("a clock that was set back makes it look at everything again", async () => {
  const { desk, reread } = await following();
  await desk.advance(5_300);
  desk.clock.jump(-HOUR);
  await desk.advance(5_000);
  expect(reread).toEqual([6_000]);
});
