import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide, type AlertSight, noteDown, policyOf } from "../../../src/notify/decide.ts";
import {
  type Memory,
  NOTHING_TOLD,
  type Notice,
  type Notification,
  type Alert,
} from "../../../src/notify/alert.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = 1_800_000_000_000;

const alert = (fields: Partial<Alert> = {}): Alert => ({
  kind: "gate",
  cause: "gate:QUOTA_LIMIT",
  title: "closed",
  detail: "",
  hint: "",
  over: "open",
  size: 1,
  mark: "",
  afterMs: 0,
  ...fields,
});

const reader: Notice = { kind: "reader", cause: "reader:a", title: "again", detail: "", hint: "" };

/** What is found at a minute, and whether someone may be told. */
type Look = { readonly at: number; readonly now?: readonly Alert[]; readonly quiet?: boolean };

/** Quiet at all hours, or never. */
const policy = (isQuiet = false, repeatMs = 24 * HOUR) =>
  policyOf({ repeatMs, quiet: isQuiet ? [{ from: 0, to: 24 * 60 }] : undefined }, START);

/** Looks one after another, each with a memory that went through the journal's text. */
function tell(looks: readonly Look[], absent: "over" | "unknown" | "foreign" = "over") {
  let memory: Memory = NOTHING_TOLD;
  const told: string[] = [];
  for (const { at, now = [], quiet } of looks) {
    const found = { alerts: now, absent: () => absent };
    const decision = decide(memory, found, policy(quiet), START + at * MINUTE);
    memory = JSON.parse(JSON.stringify(decision.memory)) as Memory;
    told.push(
      ...decision.notifications.map(({ what, cause }) => `${at} ${what} ${cause.split(":")[0]}`),
    );
  }
  return { told, memory };
}

const gate = [alert()];
const more = [alert({ size: 2 })];
const patient = [alert({ kind: "held", cause: "held:X", afterMs: HOUR, mark: "1" })];
const another = [alert({ kind: "held", cause: "held:X", afterMs: HOUR, mark: "2" })];
const urgent = [alert({ kind: "credentials", cause: "credentials:" })];

test.for<[string, Look[], string[], string]>([
  [
    "found twice",
    [
      { at: 0, now: gate },
      { at: 1, now: gate },
    ],
    ["0 began gate"],
    "once is enough",
  ],
  [
    "gone for a minute",
    [{ at: 0, now: gate }, { at: 5 }, { at: 6 }],
    ["0 began gate", "6 over gate"],
    "who was told about its beginning waits for its end",
  ],
  [
    "gone and back within a minute",
    [{ at: 0, now: gate }, { at: 5 }, { at: 5.5, now: gate }, { at: 9, now: gate }],
    ["0 began gate"],
    "it was not over",
  ],
  [
    "back within the hour",
    [{ at: 0, now: gate }, { at: 5 }, { at: 6 }, { at: 20, now: gate }, { at: 25 }, { at: 30 }],
    ["0 began gate", "6 over gate"],
    "what comes and goes is told once an hour",
  ],
  [
    "back, and still there after the hour",
    [{ at: 0, now: gate }, { at: 5 }, { at: 6 }, { at: 20, now: gate }, { at: 60, now: gate }],
    ["0 began gate", "6 over gate", "60 began gate"],
    "it is news by then",
  ],
  [
    "more of it",
    [
      { at: 0, now: gate },
      { at: 10, now: more },
      { at: 61, now: more },
      { at: 70, now: more },
    ],
    ["0 began gate", "61 grew gate"],
    "more is news, an hour later",
  ],
  [
    "still there a day later",
    [
      { at: 0, now: gate },
      { at: 1439, now: gate },
      { at: 1440, now: gate },
    ],
    ["0 began gate", "1440 goesOn gate"],
    "someone may have forgotten",
  ],
  [
    "over before it lasted",
    [{ at: 0, now: patient }, { at: 59, now: patient }, { at: 60 }, { at: 99 }],
    [],
    "a document that is held for less than an hour is nobody's business",
  ],
  [
    "it lasts",
    [
      { at: 0, now: patient },
      { at: 59, now: patient },
      { at: 60, now: patient },
    ],
    ["60 began held"],
    "an hour it was",
  ],
  [
    "another document at the head",
    [
      { at: 0, now: patient },
      { at: 40, now: another },
      { at: 70, now: another },
    ],
    [],
    "the queue moves: none is held for long",
  ],
  [
    "within quiet hours",
    [
      { at: 0, now: gate, quiet: true },
      { at: 60, now: gate, quiet: true },
      { at: 61, now: gate },
    ],
    ["61 began gate"],
    "told when the day begins",
  ],
  [
    "over before the quiet hours are",
    [{ at: 0, now: gate, quiet: true }, { at: 60, quiet: true }, { at: 70 }],
    [],
    "nobody needs to know by then",
  ],
  [
    "ends within quiet hours",
    [{ at: 0, now: gate }, { at: 60, quiet: true }, { at: 80, quiet: true }, { at: 90 }],
    ["0 began gate", "90 over gate"],
    "good news wakes nobody either",
  ],
  [
    "urgent, within quiet hours",
    [{ at: 0, now: urgent, quiet: true }],
    ["0 began credentials"],
    "that is what urgent means",
  ],
  [
    "the clock was set back by a day",
    [{ at: 1440, now: gate }, { at: 0 }, { at: 2 }, { at: 3, now: gate }, { at: 62, now: gate }],
    ["1440 began gate", "0 over gate", "62 began gate"],
    "no wait gets longer by it",
  ],
])("%s", ([, looks, expected]) => {
  expect(tell(looks).told).toEqual(expected);
});

test("nothing is said of what nobody knows, nor of what nobody looks for any more", () => {
  const looks = [{ at: 0, now: gate }, { at: 5 }, { at: 60 }];
  const unknown = tell(looks, "unknown");
  expect(unknown.told).toEqual(["0 began gate"]);
  expect(Object.keys(unknown.memory.standing)).toEqual(["gate:QUOTA_LIMIT"]);
  const foreign = tell(looks, "foreign");
  expect(foreign.told).toEqual(["0 began gate"]);
  expect(foreign.memory).toEqual(NOTHING_TOLD);
});

test("what happened is told once, with how often; again no sooner than in an hour", () => {
  const nothing: AlertSight = { alerts: [], absent: () => "over" };
  const at = (minutes: number) => START + minutes * MINUTE;
  let memory = noteDown(noteDown(NOTHING_TOLD, reader, at(0)), reader, at(1));
  const first = decide(memory, nothing, policy(), at(2));
  expect(first.notifications).toMatchObject([{ what: "happened", times: 2, since: at(0) }]);
  memory = noteDown(first.memory, reader, at(3));
  const soon = decide(memory, nothing, policy(), at(4));
  expect(soon.notifications).toEqual([]);
  const later = decide(soon.memory, nothing, policy(), at(62));
  expect(later.notifications).toMatchObject([{ times: 1, since: at(3) }]);
  expect(decide(later.memory, nothing, policy(), at(200)).memory).toEqual(NOTHING_TOLD);
});

test.for([
  [0, [], "never"],
  [24 * HOUR, [1440, 2880], "each day"],
  [10 * MINUTE, [10, 20, 60, 1439, 2879], "each ten minutes"],
] as const)(
  "what lasts is told again, repeat being %i: at %j minutes, %s",
  ([repeatMs, expected]) => {
    let { memory } = decide(NOTHING_TOLD, { alerts: gate, absent: () => "over" }, policy(), START);
    const told = [9, 10, 20, 21, 60, 1439, 1440, 2879, 2880].filter((at) => {
      const found: AlertSight = { alerts: gate, absent: () => "over" };
      const decision = decide(memory, found, policy(false, repeatMs), START + at * MINUTE);
      memory = decision.memory;
      return decision.notifications.some(({ what }) => what === "goesOn");
    });
    expect(told).toEqual(expected);
  },
);

describe("laws", () => {
  const causes = ["a", "b", "c"];
  const looks = fc.array(
    fc.record({
      waitMs: fc.integer({ min: 0, max: 3 * HOUR }),
      wrong: fc.subarray(causes),
      sizes: fc.record({ a: fc.nat(3), b: fc.nat(3), c: fc.nat(3) }),
      quiet: fc.boolean(),
    }),
    { maxLength: 40 },
  );
  type Heard = Notification & { readonly at: number; readonly quiet: boolean };

  /** `a` is urgent, `c` is patient. */
  function hear(steps: typeof looks extends fc.Arbitrary<infer T> ? T : never) {
    let memory: Memory = NOTHING_TOLD;
    let at = START;
    const heard: Heard[] = [];
    for (const { waitMs, wrong, sizes, quiet } of steps) {
      at += waitMs;
      const alerts = wrong.map((cause) =>
        alert({
          cause,
          kind: cause === "a" ? "credentials" : "gate",
          afterMs: cause === "c" ? HOUR : 0,
          size: sizes[cause as "a" | "b" | "c"],
        }),
      );
      const decision = decide(memory, { alerts, absent: () => "over" }, policy(quiet), at);
      memory = decision.memory;
      for (const notification of decision.notifications) heard.push({ ...notification, at, quiet });
    }
    return heard;
  }

  const each = (check: (heard: readonly Heard[]) => void) =>
    fc.assert(
      fc.property(looks, (steps) => {
        const heard = hear(steps);
        for (const cause of causes)
          check(heard.filter((notification) => notification.cause === cause));
      }),
      { numRuns: 500 },
    );

  test("beginnings and ends come in turns, a beginning first", () => {
    each((heard) => {
      const edges = heard.filter(({ what }) => what === "began" || what === "over");
      const expected = edges.map((_, index) => (index % 2 === 0 ? "began" : "over"));
      expect(edges.map(({ what }) => what)).toEqual(expected);
    });
  });

  test("but for its end, a cause is not told twice within an hour", () => {
    each((heard) => {
      const times = heard.filter(({ what }) => what !== "over").map(({ at }) => at);
      for (const [index, at] of times.entries())
        expect(at - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(HOUR);
    });
  });

  test("within quiet hours only the urgent is told", () => {
    each((heard) => {
      expect(heard.filter(({ quiet, kind }) => quiet && kind !== "credentials")).toEqual([]);
    });
  });
});
