import { expect, test } from "vitest";
import {
  type Away,
  AwayNote,
  awayOf,
  type ArchiveView,
  NO_NOTE,
  observersOf,
} from "../../../src/sync/away.ts";
import type { ScanSchedulerState } from "../../../src/sync/scan-scheduler.ts";
import { online, HOUR, MINUTE, SECOND, SyncDesk } from "./desk.ts";

const problem = { code: "ARCHIVE_UNREACHABLE", message: "no connection" };
const NOTHING: Away = { archive: null, sources: {} };

/** Its first mirror's source, as it learns about; `undefined`: nobody has looked yet. */
function seen(desk: SyncDesk, why: string | null | undefined, isLed = true): ArchiveView {
  const status: ScanSchedulerState["status"] =
    why === undefined
      ? undefined
      : why === null
        ? online({ why: "local" })
        : online({ online: false, why, device: null, mode: "off" });
  const state = { status, scans: 0, unread: null, links: null };
  return { outage: undefined, scanSchedulers: [{ mirror: desk.mirror(), isLed, state }] };
}

/** As `status` reads it next to a daemon that runs. */
async function known({ journal }: SyncDesk): Promise<Away> {
  return awayOf(journal, observersOf(await journal.cluster.instances(), true));
}

function silent(desk: SyncDesk, waitMs: number): ArchiveView {
  const outage = { tries: 1, until: desk.clock.monotonic() + waitMs, problem };
  return { ...seen(desk, null), outage };
}

test("a source that is offline is kept with the moment when that began, and forgotten once it is there", async () => {
  const desk = await SyncDesk.open();
  const note = await AwayNote.open(desk.context);
  const since = desk.clock.now();
  expect(await note.look(seen(desk, "not mounted"))).toBe(true);
  await desk.advance(MINUTE);
  expect(await note.look(seen(desk, "does not answer"))).toBe(true);
  expect(await known(desk)).toMatchObject({
    sources: { scans: { offline: { since, why: "does not answer" } } },
  });
  expect(await note.look(seen(desk, null))).toBe(true);
  expect(await known(desk)).toEqual(NOTHING);
});

test("what cannot be read is kept until it was looked at again, over a restart, too", async () => {
  const desk = await SyncDesk.open();
  const unread = { directories: 1, path: "closed", why: "no right" };
  const scanned = (state: Partial<ScanSchedulerState>): ArchiveView => {
    const { scanSchedulers } = seen(desk, null);
    const all = [...scanSchedulers].map((each) => ({
      ...each,
      state: { ...each.state, ...state },
    }));
    return { outage: undefined, scanSchedulers: all };
  };
  await (await AwayNote.open(desk.context)).look(scanned({ scans: 1, unread }));
  expect(await known(desk)).toMatchObject({ sources: { scans: { unread } } });
  const again = await AwayNote.open(desk.context);
  expect(await again.look(scanned({ scans: 0 }))).toBe(false);
  expect(await known(desk)).toMatchObject({ sources: { scans: { unread } } });
  await again.look(scanned({ scans: 1 }));
  expect(await known(desk)).toEqual(NOTHING);
});

test("a mirror may be called as what every object has", async () => {
  const desk = await SyncDesk.open();
  const called = (why: string | undefined): ArchiveView => {
    const [scanScheduler] = seen(desk, why).scanSchedulers;
    if (!scanScheduler) throw new Error("there is one");
    const mirror = {
      ...scanScheduler.mirror,
      row: { ...scanScheduler.mirror.row, name: "constructor" },
    };
    return { outage: undefined, scanSchedulers: [{ ...scanScheduler, mirror }] };
  };
  const note = await AwayNote.open(desk.context);
  expect(await note.look(called(undefined))).toBe(false);
  expect(await known(desk)).toEqual(NOTHING);
  await note.look(called("not mounted"));
  await desk.advance(MINUTE);
  expect(await note.look(called("not mounted")), "it is away as before").toBe(false);
});

test("what does not differ is not written", async () => {
  const desk = await SyncDesk.open();
  const note = await AwayNote.open(desk.context);
  const other = seen(desk, "not mounted");
  expect(await note.look(seen(desk, null))).toBe(false);
  await note.look(other);
  const writes = desk.journal.store.writes;
  await desk.advance(HOUR);
  expect(await note.look(other)).toBe(false);
  expect(desk.journal.store.writes).toBe(writes);
});

test("the next try is told in whole milliseconds, whatever the monotonic clock counts in", async () => {
  const desk = await SyncDesk.open();
  const note = await AwayNote.open(desk.context);
  await note.look(silent(desk, 5 * SECOND - 0.25));
  expect((await known(desk)).archive).toMatchObject({
    nextAttemptAt: desk.clock.now() + 5 * SECOND,
  });
});

test("an archive that does not answer is kept since when, and with the next try", async () => {
  const desk = await SyncDesk.open();
  const note = await AwayNote.open(desk.context);
  const since = desk.clock.now();
  const first = silent(desk, 5 * SECOND);
  await note.look(first);
  await desk.advance(SECOND);
  expect(await note.look(first)).toBe(false);
  expect((await known(desk)).archive).toEqual({
    ...problem,
    since,
    nextAttemptAt: since + 5 * SECOND,
  });
  await desk.advance(4 * SECOND);
  expect(await note.look(silent(desk, MINUTE))).toBe(true);
  expect((await known(desk)).archive).toMatchObject({
    since,
    nextAttemptAt: since + 5 * SECOND + MINUTE,
  });
  await note.look(seen(desk, null));
  expect(await known(desk)).toEqual(NOTHING);
});

test("a daemon that starts again knows since when a source is away before it has looked", async () => {
  const desk = await SyncDesk.open();
  const since = desk.clock.now();
  await (await AwayNote.open(desk.context)).look(seen(desk, "not mounted"));
  await desk.advance(HOUR);
  const note = await AwayNote.open(desk.context);
  await note.look(seen(desk, undefined));
  const awaySince = (why: string) => ({ scans: { ...NO_NOTE, offline: { since, why } } });
  expect((await known(desk)).sources).toEqual(awaySince("not mounted"));
  await note.look(seen(desk, "gone"));
  expect((await known(desk)).sources).toEqual(awaySince("gone"));
});

test("where no daemon runs nothing is known", async () => {
  const desk = await SyncDesk.open();
  await (await AwayNote.open(desk.context)).look(silent(desk, SECOND));
  expect(await awayOf(desk.journal, observersOf([], false))).toEqual(NOTHING);
});

test("a mirror that another daemon leads is that one's to tell of", async () => {
  const desk = await SyncDesk.open();
  await (await AwayNote.open(desk.context)).look(seen(desk, "no such share on this host", false));
  expect(await known(desk)).toEqual(NOTHING);
});

test("of several daemons each tells for itself, and one that is gone no more", async () => {
  const a = await SyncDesk.open({ instance: "a" });
  const b = await SyncDesk.open({ instance: "b", beside: a });
  await (await AwayNote.open(a.context)).look(seen(a, "not mounted"));
  await (await AwayNote.open(b.context)).look(silent(b, SECOND));
  expect(await known(b)).toMatchObject({
    archive: problem,
    sources: { scans: { offline: { why: "not mounted" } } },
  });
  const { instanceId } = a.journal.cluster;
  a.cluster?.leave();
  const left = await b.journal.cluster.instances();
  expect(left.map(({ id }) => id)).not.toContain(instanceId);
  expect((await known(b)).sources).toEqual({});
});
