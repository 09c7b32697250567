import { expect, test } from "vitest";
import type { Level } from "../../../src/domain/allowance.ts";
import type { AllowanceReport } from "../../../src/sync/page-report.ts";
import type { Group, Situation } from "../../../src/notify/situation.ts";
import { absentIn, GROUPS_MAX, alertsOf } from "../../../src/notify/situation.ts";
import { aSituation, closedFor } from "./a-situation.ts";

const HOUR = 3_600_000;
const patience = { heldAfterMs: HOUR, diskBytesMin: 500_000_000 };
const group = (state: Group["state"], code: string, documents = 1): Group => ({
  state,
  code,
  documents,
  first: { id: 7, path: "a/b.pdf", message: "said so" },
});
const away = {
  name: "scans",
  source: "/srv/scans",
  online: false,
  why: "not mounted",
  unread: null,
};
const closed = { directories: 2, path: "2026/closed", why: "no right" };
/** An archive whose allowance of 1,000 pages is used as far as that. */
const spent = (level: Level) => {
  const used = { ok: 799, low: 800, usedUp: 1_000 }[level];
  const problem = { code: "ALLOWANCE_LOW", message: `${used} of 1000 pages`, hint: "Buy pages." };
  const allowance: AllowanceReport = {
    pages: 1_000,
    used,
    left: 1_000 - used,
    level,
    runsOutAt: null,
    whenUsedUp: "warn",
    reserve: null,
    keeps: { documents: 0, mirrors: [] },
    problem: level === "ok" ? null : problem,
  };
  return { name: "main", gate: null, waiting: 0, outage: undefined, allowance };
};

const unreachable = {
  name: "main",
  gate: null,
  waiting: 0,
  outage: { code: "ARCHIVE_UNREACHABLE", message: "refused" },
  allowance: null,
};

test("of several archives each is named", () => {
  const { archives } = closedFor("QUOTA_LIMIT", "legal");
  const told = alertsOf(aSituation({ archives: [unreachable, ...archives] }), patience);
  expect(told.map(({ cause, title }) => [cause, title])).toEqual([
    ["gate:legal:QUOTA_LIMIT", "Sending has stopped: the page allowance is used up (legal)"],
    ["archive:main", "The archive cannot be reached (main)"],
  ]);
});

test("what waits for a person since it is unfinished is told at once, and again when there is more", () => {
  const told = alertsOf(aSituation({ groups: [group("held", "FILE_INCOMPLETE", 3)] }), patience);
  expect(told).toMatchObject([
    { kind: "held", cause: "held:FILE_INCOMPLETE", afterMs: 0, size: 3 },
  ]);
});

test("nothing is wrong when all is well", () => {
  expect(alertsOf(aSituation(), patience)).toEqual([]);
});

test.for<[string, Partial<Situation>, object, string]>([
  [
    "a full disk for finished files",
    {
      afterPending: ["a.pdf", "b.pdf"].map((path) => ({
        mirror: "scans",
        path,
        why: "AFTER_REFUSED: no space",
        nextAttemptAt: 5,
      })),
    },
    {
      kind: "after",
      cause: "after:scans",
      detail: "a.pdf: AFTER_REFUSED: no space\nand others.",
      afterMs: HOUR,
    },
    "the documents are archived: there is time",
  ],
  [
    "a spent quota",
    closedFor("QUOTA_LIMIT"),
    { kind: "gate", cause: "gate:main:QUOTA_LIMIT", afterMs: 0 },
    "nothing is sent any more",
  ],
  [
    "refused credentials",
    closedFor("CREDENTIALS_REFUSED"),
    { kind: "credentials" },
    "a kind of its own, as it may pass quiet hours",
  ],
  [
    "failed documents",
    { groups: [group("failed", "FILE_SIZE_TOO_BIG", 3)] },
    { kind: "failed", size: 3, afterMs: 0, title: "3 documents failed: FILE_SIZE_TOO_BIG" },
    "each needs a person",
  ],
  [
    "held documents",
    { groups: [group("held", "FOLDER_MISSING", 2)] },
    { kind: "held", size: 1, mark: "7", afterMs: HOUR },
    "most continue automatically soon",
  ],
  [
    "documents that do not get converted",
    { groups: [group("uploaded", "CONVERSION_STUCK")] },
    { kind: "stuck", afterMs: 0 },
    "`conversion.stuckAfter` was patience enough",
  ],
  ["a source that is away", { sources: [away] }, { kind: "source", afterMs: 60_000 }, "it blinks"],
  [
    "folders that cannot be read",
    { sources: [{ ...away, online: true, why: "", unread: closed }] },
    {
      kind: "source",
      cause: "unread:scans",
      size: 2,
      detail: "/srv/scans/2026/closed: no right\nand 1 more. What is in there is not sent.",
    },
    "what is in there is on no list",
  ],
  [
    "an archive that is away",
    { archives: [unreachable] },
    { kind: "archive", cause: "archive:main", afterMs: HOUR },
    "it comes back by itself, mostly",
  ],
  [
    "work that does not move",
    { health: { healthy: false, why: "nothing has moved for 16 minutes" } },
    { kind: "stalled", afterMs: 0 },
    "/healthz was patient enough",
  ],
  [
    "little room",
    { disk: { freeBytes: 499_999_999, path: "/j" } },
    { kind: "disk", detail: expect.stringContaining("499 MB") as string },
    "a full disk ends the daemon",
  ],
  [
    "80 % of the allowance",
    { archives: [spent("low")] },
    { kind: "allowance", cause: "allowance:main", size: 1 },
    "a warning",
  ],
  ["all of it", { archives: [spent("usedUp")] }, { kind: "allowance", size: 2 }, "told once more"],
])("%s is told about: %s", ([, fields, expected]) => {
  expect(alertsOf(aSituation(fields), patience)).toMatchObject([expected]);
});

test.for<[string, Partial<Situation>, string]>([
  ["79 % of the allowance", { archives: [spent("ok")] }, "there is enough"],
  ["held by the gate", { groups: [group("held", "QUOTA_LIMIT")] }, "the gate is told about"],
  ["held until old enough", { groups: [group("held", "FILE_YOUNG")] }, "`minAge` asks for it"],
  ["ready, after a failure", { groups: [group("pending", "REPLY_LOST")] }, "it is on its way"],
  ["a source that is not known yet", { sources: [{ ...away, online: undefined }] }, "wait"],
  ["a disk that tells nothing", { disk: undefined }, "no guess is told"],
])("%s is not told about: %s", ([, fields]) => {
  expect(alertsOf(aSituation(fields), patience)).toEqual([]);
});

test.for<[string, Partial<Situation>, string, string]>([
  ["gate:main:QUOTA_LIMIT", {}, "over", "the gate is always known"],
  [
    "gate:main:QUOTA_LIMIT",
    closedFor("CREDENTIALS_REFUSED"),
    "foreign",
    "closed for another reason",
  ],
  ["gate:legal:QUOTA_LIMIT", {}, "foreign", "the archive left the configuration"],
  ["source:scans", {}, "over", "it is there"],
  ["source:scans", { sources: [{ ...away, online: undefined }] }, "unknown", "a restart"],
  ["unread:scans", {}, "over", "all can be read"],
  ["unread:scans", { sources: [away] }, "unknown", "nobody could look again"],
  ["source:gone", {}, "foreign", "the mirror left the configuration"],
  ["after:scans", {}, "over", "its files are moved or deleted"],
  ["after:gone", {}, "foreign", "the mirror left the configuration"],
  [
    "held:X",
    { groups: Array.from({ length: GROUPS_MAX }, () => group("held", "Y")) },
    "unknown",
    "it may be one of those that were not asked for",
  ],
])("%s, absent, is %s", ([cause, fields, expected]) => {
  expect(absentIn(aSituation(fields))(cause)).toBe(expected);
});
