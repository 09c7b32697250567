import { expect, test } from "vitest";
import { absentIn, alertsOf, type Sight } from "../../../src/notify/alerts.ts";
import { EVENT_KINDS } from "../../../src/domain/event.ts";
import type { FindingKind, Situation } from "../../../src/report/finding.ts";
import { PROBLEMS_MAX } from "../../../src/report/problems.ts";
import {
  archiveWith,
  aSituation,
  mirrorWith,
  OUTAGE,
  problem,
  SITUATIONS,
} from "../report/situations.ts";
import { aSight, closedFor } from "./a-sight.ts";

const HOUR = 3_600_000;
const NOW = 60_000;
const told = (situation: Situation) => alertsOf(aSight(situation), HOUR, NOW);

const OFFLINE = mirrorWith({ offline: { since: 1, why: "away" } });

/** What of each kind is notified at once: its event, and after what time; null: the digest alone has it. */
const ALERTS = {
  stalled: ["stalled", 0],
  gate: ["gate", 0],
  paused: null,
  notRunning: null,
  outage: ["archive", HOUR],
  failed: ["failed", 0],
  source: ["source", 60_000],
  unread: ["source", 60_000],
  unwatched: null,
  held: ["held", HOUR],
  stuck: ["stuck", 0],
  after: ["after", HOUR],
  waits: null,
  allowance: ["allowance", 0],
  disk: ["disk", 0],
  page: ["stalled", 60_000],
  config: ["stalled", 60_000],
  formerMirror: null,
  unfinished: null,
  sentEarly: null,
  kept: null,
} as const satisfies Record<FindingKind, readonly [string, number] | null>;

test.for(Object.entries(ALERTS))("%s is notified as %j", ([kind, alert]) => {
  const found = told(SITUATIONS[kind as FindingKind]);
  expect(found.map((each) => [each.kind, each.afterMs])).toEqual(alert ? [alert] : []);
  for (const each of found) expect(EVENT_KINDS).toContain(each.kind);
});

test("rejected credentials are a kind of their own, which may pass quiet hours", () => {
  expect(told(closedFor("CREDENTIALS_REFUSED"))).toMatchObject([{ kind: "credentials" }]);
});

test("of several archives each is named, at the beginning and at the end", () => {
  const { archives } = closedFor("QUOTA_LIMIT", "legal").report;
  const alerts = told(aSituation({ archives: [archiveWith({ outage: OUTAGE }), ...archives] }));
  expect(alerts.map(({ cause, title, over }) => [cause, title, over])).toEqual([
    [
      "gate:legal:QUOTA_LIMIT",
      "Sending to legal has stopped: the page allowance is used up",
      "Sending to legal continues: the archive accepts documents again",
    ],
    ["archive:main", "Cannot reach the archive main", "The archive main answers again"],
  ]);
});

test.for<[string, Situation, object, string]>([
  [
    "held documents",
    aSituation({}, { problems: [problem("held", "FOLDER_MISSING", 2)] }),
    { size: 1, mark: "7", afterMs: HOUR },
    "most continue automatically soon; the queue moves where another is the first",
  ],
  [
    "unfinished documents",
    aSituation({}, { problems: [problem("held", "FILE_INCOMPLETE", 3)] }),
    { size: 3, mark: "", afterMs: 0 },
    "`incomplete` was waited for, and each needs a user",
  ],
  ["failed documents", SITUATIONS.failed, { size: 3 }, "each needs a user"],
  ["little allowance", SITUATIONS.allowance, { size: 1 }, "a warning"],
  [
    "an allowance that is used up",
    aSituation({
      archives: SITUATIONS.allowance.report.archives.map((archive) => ({
        ...archive,
        allowance: archive.allowance && { ...archive.allowance, used: 1_000, level: "usedUp" },
      })),
    }),
    { size: 2 },
    "notified once more",
  ],
])("%s: %s", ([, situation, expected]) => {
  expect(told(situation)).toMatchObject([expected]);
});

test("what is asked for by `minAge` is no news", () => {
  expect(told(aSituation({}, { problems: [problem("held", "FILE_YOUNG")] }))).toEqual([]);
});

const many = Array.from({ length: PROBLEMS_MAX }, () => problem("held", "Y"));

test.for<[string, Sight, string, string]>([
  ["gate:main:QUOTA_LIMIT", aSight(), "over", "the gate is always known"],
  [
    "gate:main:QUOTA_LIMIT",
    aSight(closedFor("CREDENTIALS_REFUSED")),
    "foreign",
    "closed for another reason",
  ],
  ["gate:legal:QUOTA_LIMIT", aSight(), "foreign", "the archive left the configuration"],
  ["source:scans", aSight(), "over", "it is there"],
  ["source:scans", aSight(aSituation(), ["scans"]), "unknown", "a restart"],
  ["unread:scans", aSight(), "over", "all can be read"],
  ["unread:scans", aSight(aSituation({ mirrors: [OFFLINE] })), "unknown", "nobody could look"],
  ["source:gone", aSight(), "foreign", "the mirror left the configuration"],
  ["after:scans", aSight(aSituation(), ["scans"]), "over", "its files are moved"],
  ["after:gone", aSight(), "foreign", "the mirror left the configuration"],
  ["held:X", aSight(aSituation({}, { problems: many })), "unknown", "it may be one of the rest"],
])("%s, absent, is %s", ([cause, sight, expected]) => {
  expect(absentIn(sight)(cause)).toBe(expected);
});
