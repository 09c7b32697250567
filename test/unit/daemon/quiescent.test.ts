/** When the sources of a pass count as scanned; the scenarios of `sync` show the rest. */
import { expect, test } from "vitest";
import { quiescent, withUnread } from "../../../src/daemon/quiescent.ts";
import type { Duty } from "../../../src/journal/crew.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { Listeners } from "../../../src/std/listeners.ts";
import { noDocuments, statusOf } from "../../../src/sync/status.ts";
import type { Survey } from "../../../src/sync/survey.ts";
import { MemoryCrew } from "../../fakes/memory-crew.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { MemoryStore } from "../../fakes/memory-store.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";

const interval = { initialMs: 1, maxMs: 1 };
const CONFIG = {
  archive: { name: "main", url: "https://a" },
  mirrors: [],
  upload: { concurrency: 4, retry: interval, doubt: { windowMs: 1, toleranceMs: 1 } },
  quota: { retry: interval, retryAt: undefined },
  conversion: { poll: interval, stuckAfterMs: 1 },
};

const MIRROR = 7;

type Survey7 = Pick<Survey, "isLed" | "mirror" | "state">;

/** A pass over one mirror; `look` is called whenever the status is read, and tells how many are settling. */
async function pass(
  journal: MemoryJournal,
  survey: { isLed: boolean; scans: number; parts?: number },
  look: () => number,
): Promise<void> {
  const surveys: Survey7[] = [
    {
      isLed: survey.isLed,
      mirror: { row: { id: MIRROR }, settings: { parts: survey.parts } } as Survey["mirror"],
      get state() {
        return { status: undefined, scans: survey.scans, unread: null };
      },
    },
  ];
  const changed = new Listeners();
  await quiescent(
    {
      journal,
      surveys,
      sending: true,
      outage: () => undefined,
      changed,
      clock: systemClock,
      async status() {
        const report = await statusOf(journal, CONFIG, true, 0);
        const documents = { ...noDocuments(), settling: look() };
        setImmediate(() => changed.tell());
        return { ...report, documents };
      },
    },
    { waitConverted: false },
    AbortSignal.timeout(20_000),
  );
}

test("what a scan finds while the status is read is waited for", async () => {
  const survey = { isLed: true, scans: 0 };
  const seen: number[] = [];
  await pass(new MemoryJournal(), survey, () => {
    // The first status was read before the scan ended, and knows nothing of what it found.
    const settling = [0, 3, 1, 0][seen.length] ?? 0;
    survey.scans = 1;
    seen.push(settling);
    return settling;
  });
  expect(seen).toEqual([0, 3, 1, 0]);
});

/** One look is enough where the sources count as scanned; else there is a second, at which a member comes that leads what is free. */
test.for([
  [false, 1, [["mirror:7"]], 1, "another leads it"],
  [false, 3, [["mirror:7/1of3"], ["mirror:7/2of3", "mirror:7/3of3"]], 1, "others lead its parts"],
  [false, 3, [["mirror:7/2of3"]], 2, "of its parts two are nobody's"],
  [true, 3, [["mirror:7/2of3"]], 2, "of its parts one is nobody's, and one its own"],
  [true, 3, [["mirror:7/2of3", "mirror:7/3of3"]], 1, "others lead the other parts"],
  [false, 3, [["mirror:7/2of4"]], 1, "it is led as divided in another way"],
  [false, 1, [["mirror:70"], ["mirror:71/1of2"]], 2, "others lead others"],
  [false, 1, [], 2, "it is nobody's"],
] as const)("led here %s, %d parts, others lead %j: looks %d: %s", async (row) => {
  const [isLed, parts, led, looks] = row;
  const store = new MemoryStore();
  const join = (name: string) => MemoryCrew.join(store, { name, clock: systemClock });
  for (const [at, duties] of led.entries()) await join(`other ${at}`).seek(duties);
  const crew = join("this");
  if (isLed) await crew.seek(["mirror:7/1of3"]);
  let seen = 0;
  await pass(new MemoryJournal({ store, crew }), { isLed, scans: isLed ? 1 : 0, parts }, () => {
    seen += 1;
    const all: Duty[] =
      parts === 1 ? ["mirror:7"] : ["mirror:7/1of3", "mirror:7/2of3", "mirror:7/3of3"];
    if (seen === 2) void join("late").seek(all);
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
    const [scans7] = reportOf().mirrors;
    if (!scans7) throw new Error("there is one");
    const report = reportOf({ mirrors: [{ ...scans7, unread: noted }] });
    const mirror = { row: { id: MIRROR, name: scans7.name } } as Survey["mirror"];
    const state = { status: undefined, scans, unread };
    expect(withUnread(report, [{ isLed, mirror, state }]).mirrors[0]?.unread).toEqual(told);
  },
);
