/** When the sources of a pass count as scanned; the scenarios of `sync` show the rest. */
import { expect, test } from "vitest";
import { idle, withUnread } from "../../../src/daemon/idle.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { Listeners } from "../../../src/std/wakeup.ts";
import type { ScanScheduler } from "../../../src/sync/scan-scheduler.ts";
import { MemoryCluster } from "../../fakes/memory-cluster.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { MemoryStore } from "../../fakes/memory-store.ts";
import { aConfig } from "../../fixtures/a-config.ts";
import { aDocument } from "../../fixtures/a-document.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";
import { type Counts, noDocuments, statusOf } from "../../../src/report/status.ts";
import { ofMirror } from "../../fixtures/assignments.ts";

const CONFIG = { ...aConfig(), mirrors: [] };

const MIRROR = 1;

type Scanned = Pick<ScanScheduler, "isLed" | "mirror" | "state">;

/** A pass over one mirror; `look` is called whenever the status is read, and tells what is not over: settling, or more. */
async function pass(
  journal: MemoryJournal,
  scanScheduler: { isLed: boolean; scans: number },
  look: () => number | Partial<Counts>,
  askConverted?: () => void,
): Promise<void> {
  const scanSchedulers: Scanned[] = [
    {
      isLed: scanScheduler.isLed,
      mirror: {
        row: { id: MIRROR },
        settings: { settleMs: 3_000, hooks: { after: { command: ["/hooks/tell"] } } },
      } as unknown as ScanScheduler["mirror"],
      get state() {
        return { status: undefined, scans: scanScheduler.scans, unread: null, links: null };
      },
    },
  ];
  const changed = new Listeners();
  await idle(
    {
      journal,
      scanSchedulers,
      sending: true,
      identity: () => "same" as const,
      outage: () => undefined,
      askConverted: () => askConverted?.(),
      changed,
      clock: systemClock,
      async status() {
        const report = await statusOf(journal, CONFIG, true, 0);
        const seen = look();
        const some = typeof seen === "number" ? { settling: seen } : seen;
        const documents = { ...noDocuments(), ...some };
        setImmediate(() => changed.tell());
        return { ...report, documents };
      },
    },
    { waitConverted: askConverted !== undefined },
    AbortSignal.timeout(20_000),
  );
}

test("what a scan finds while the status is read is waited for", async () => {
  const scanScheduler = { isLed: true, scans: 0 };
  const seen: number[] = [];
  await pass(new MemoryJournal(), scanScheduler, () => {
    // The first status was read before the scan ended, and knows nothing of what it found.
    const settling = [0, 3, 1, 0][seen.length] ?? 0;
    scanScheduler.scans = 1;
    seen.push(settling);
    return settling;
  });
  expect(seen).toEqual([0, 3, 1, 0]);
});

test.for([
  ["FILE_UNFINISHED", 20_000, 1, "it was looked at, and may become whole whenever it likes"],
  ["FILE_UNFINISHED", -1, 2, "it is due, and is looked at once more"],
  ["FILE_UNFINISHED", 3_000, 2, "it has to be quiet once more, and is looked at then"],
  ["FILE_YOUNG", 20_000, 1, "it may be days until it is old enough"],
  ["FILE_YOUNG", 3_000, 2, "it is old enough as soon as it was quiet"],
] as const)("a file of %s that is due in %i ms: looks %d, as %s", async ([code, inMs, looks]) => {
  const journal = new MemoryJournal();
  const problem = { code, message: "looks unfinished" };
  const dueAt = Date.now() + inMs;
  for (const id of [MIRROR, MIRROR + 1]) {
    const { id: mirrorId } = await journal.mirror(`mirror ${id}`, "/srv");
    journal.store.put(aDocument({ id, mirrorId, state: "settling", problem, dueAt }));
  }
  let seen = 0;
  await pass(journal, { isLed: true, scans: 1 }, () => {
    seen += 1;
    if (seen === 2) journal.store.put(aDocument({ id: 1, mirrorId: MIRROR, state: "held" }));
    return seen === 1 ? 1 : 0;
  });
  expect(seen).toBe(looks);
});

test("what is not CONVERTED is asked about at once, one time, when nothing else is left", async () => {
  const asked: number[] = [];
  const left = [{ settling: 1 }, { uploaded: 1 }, { uploaded: 1 }, { uploaded: 1 }];
  let looks = 0;
  const look = () => left[looks++] ?? 0;
  await pass(new MemoryJournal(), { isLed: true, scans: 1 }, look, () => asked.push(looks));
  expect(asked).toEqual([2]);
  expect(looks).toBe(5);
});

test.for([
  [{ dueAt: 3_600_000 }, 1, "it waits for an after-action that is due in an hour"],
  [{ dueAt: 3_600_000, afterMessage: "AFTER_REFUSED: so" }, 2, "it waits for nothing any more"],
  [{ dueAt: 3_600_000, after: null }, 2, "it waits for nothing"],
] as const)("a hook that was not told yet, with %j: looks %d, as %s", async ([set, looks]) => {
  const journal = new MemoryJournal();
  const { id: mirrorId } = await journal.mirror("scans", "/srv");
  await journal.keepOutboxEntries([mirrorId]);
  journal.store.put(aDocument({ id: 1, mirrorId, state: "uploaded", documentId: 7 }));
  const counted = { pages: 1, archiveBytes: 9, digidoc: false };
  const at = Date.now();
  const event = { type: "converted", at, ...counted, after: "due" } as const;
  const later = { ...set, dueAt: at + set.dueAt };
  await journal.apply([
    { type: "event", id: 1, event },
    { type: "note", id: 1, at, why: "after-action put off", set: later },
  ]);
  let seen = 0;
  const look = () => {
    seen += 1;
    if (seen === 2)
      void journal
        .outboxEntries(mirrorId, Infinity, 1)
        .then(([one]) => journal.endOutboxEntry(one?.number ?? 0));
    return 0;
  };
  await pass(journal, { isLed: true, scans: 1 }, look, () => {});
  expect(Math.min(seen, 2)).toBe(looks);
});

test("a file that became whole after the unfinished ones were counted is waited for while it is sent", async () => {
  const journal = new MemoryJournal();
  const { id: mirrorId } = await journal.mirror("scans", "/srv");
  const problem = { code: "FILE_UNFINISHED", message: "looks unfinished" };
  const dueAt = Date.now() + 10_000;
  journal.store.put(aDocument({ id: 1, mirrorId, state: "settling", problem, dueAt }));
  const left = [{ uploading: 1 }, { inDoubt: 1 }];
  let looks = 0;
  await pass(journal, { isLed: true, scans: 1 }, () => left[looks++] ?? 0);
  expect(looks).toBe(3);
});

/** One look is enough where the sources count as scanned; else there is a second, at which an instance comes that leads what is free. */
test.for([
  [[ofMirror(1)], 1, "another leads it"],
  [[ofMirror(10)], 2, "another leads another"],
  [[], 2, "it is nobody's"],
] as const)("others lead %j: looks %d: %s", async ([led, looks]) => {
  const store = new MemoryStore();
  const join = (name: string) => MemoryCluster.join(store, { name, clock: systemClock });
  await join("other").seek(led);
  const cluster = join("this");
  let seen = 0;
  await pass(new MemoryJournal({ store, cluster }), { isLed: false, scans: 0 }, () => {
    seen += 1;
    if (seen === 2) void join("late").seek([ofMirror(1)]);
    return 0;
  });
  expect(Math.min(seen, 2)).toBe(looks);
});

const noted = { directories: 2, path: "noted", why: "no right" };
const met = { directories: 1, path: "met", why: "no right" };

test.for([
  [true, 1, met, met, "this pass met it, and it may not be noted yet"],
  [true, 1, null, null, "this pass could read all, and what was noted before is over"],
  [true, 0, null, noted, "this pass has not looked"],
  [false, 0, null, noted, "another daemon looks at it"],
] as const)(
  "led: %s, scanned: %d, unread: %o is reported as %o, because %s",
  ([isLed, scans, unread, told]) => {
    const [scanned] = reportOf().mirrors;
    if (!scanned) throw new Error("there is one");
    const report = reportOf({ mirrors: [{ ...scanned, unread: noted }] });
    const mirror = { row: { id: MIRROR, name: scanned.name } } as ScanScheduler["mirror"];
    const state = { status: undefined, scans, unread, links: null };
    expect(withUnread(report, [{ isLed, mirror, state }]).mirrors[0]?.unread).toEqual(told);
  },
);
