import { expect, test } from "vitest";
import { failureOf } from "../../../src/domain/failure.ts";
import { FINDING_KINDS } from "../../../src/report/finding.ts";
import { findingsOf } from "../../../src/report/findings.ts";
import {
  archiveWith,
  aSituation,
  gateFor,
  mirrorWith,
  OUTAGE,
  problem,
  SITUATIONS,
  some,
} from "./situations.ts";

test("all is well: nothing is found", () => {
  expect(findingsOf(aSituation(some({ converted: 3 })))).toEqual([]);
});

test.for(FINDING_KINDS)("%s is found, alone, once", (kind) => {
  const found = findingsOf(SITUATIONS[kind]);
  expect(found.map((finding) => finding.kind)).toEqual([kind]);
});

test("they come in the order of their kinds, however they were found", () => {
  const all = aSituation(
    {
      paused: true,
      archives: [archiveWith({ gate: gateFor("QUOTA_LIMIT"), outage: OUTAGE })],
      mirrors: [mirrorWith({ offline: { since: 1, why: "away" } })],
      ...some({ held: 1, failed: 1 }),
    },
    { problems: [problem("held", "SIDECAR_MISSING"), problem("failed", "INVALID_FILENAME")] },
  );
  const kinds = findingsOf(all).map(({ kind }) => kind);
  expect(kinds).toEqual(["gate", "paused", "outage", "failed", "source", "held"]);
});

test.for([
  ["gate", 1_000, 61_000, "it is probed"],
  ["outage", 1_000, 61_000, "it is tried again"],
  ["held", 1_000, 61_000, "the first of its documents is"],
  ["failed", 1_000, null, "nothing is tried"],
  ["after", null, 61_000, "the soonest of the files"],
  ["waits", null, 61_000, "the hours begin"],
] as const)("%s: since %j, next attempt at %j: %s", ([kind, since, nextAttempt]) => {
  expect(findingsOf(SITUATIONS[kind])).toMatchObject([{ since, nextAttempt }]);
});

test("what a user has to decide names no time, though the row has one", () => {
  expect(failureOf("FIRST_RUN").person).toBeDefined();
  const found = findingsOf(aSituation({}, { problems: [problem("held", "FIRST_RUN")] }));
  expect(found).toMatchObject([{ nextAttempt: null, actions: ["adopt", "sendAsNew"] }]);
});

test("without a daemon nothing has a next attempt", () => {
  const { report } = SITUATIONS.gate;
  const found = findingsOf({ report: { ...report, running: false }, problems: [] });
  expect(found.map(({ kind, nextAttempt }) => [kind, nextAttempt])).toEqual([
    ["gate", null],
    ["notRunning", null],
  ]);
});

test("of several archives each is named, and counts its own documents", () => {
  const archives = [
    archiveWith({ gate: gateFor("CREDENTIALS_REFUSED") }),
    archiveWith({ outage: OUTAGE }, "legal"),
  ];
  const mirrors = [
    mirrorWith(some({ pending: 2 })),
    mirrorWith({ name: "l", archive: "legal", ...some({ pending: 5 }) }),
  ];
  const found = findingsOf(aSituation({ archives, mirrors }));
  expect(found.map(({ title, count }) => [title, count])).toEqual([
    ["Sending to main has stopped: the archive rejects the credentials", 2],
    ["Cannot reach the archive legal", 5],
  ]);
});

test.for([
  ["QUOTA_LIMIT", { archives: [archiveWith({ gate: gateFor("QUOTA_LIMIT") })] }, ["gate"]],
  ["QUOTA_LIMIT", {}, ["held"]],
  ["SOURCE_OFFLINE", { mirrors: [mirrorWith({ offline: { since: 1, why: "x" } })] }, ["source"]],
  ["SOURCE_OFFLINE", {}, ["held"]],
] as const)("%s with %o is reported once, as %j", ([code, report, kinds]) => {
  const found = findingsOf(aSituation(report, { problems: [problem("held", code)] }));
  expect(found.map(({ kind }) => kind)).toEqual(kinds);
});

test("folders to create are named, ten of them", () => {
  const foldersToCreate = Array.from({ length: 12 }, (_, n) => {
    return { mirror: "scans", path: `/Scans/${n}`, code: "FOLDER_MISSING", documents: 1 };
  });
  const problems = [problem("held", "FOLDER_MISSING", 12), problem("held", "SIDECAR_MISSING")];
  const [folders, sidecar] = findingsOf(aSituation({ foldersToCreate }, { problems }));
  expect(folders?.detail).toMatch(
    /^\/Scans\/0 \(1 document\), .*\/Scans\/9 .* and 2 other folders\.$/,
  );
  expect(sidecar?.detail).not.toContain("/Scans");
});

test("a name or a reply steers no terminal", () => {
  const evil = "a\u001b[2J\nb\u202e";
  const found = findingsOf(
    aSituation(
      { mirrors: [mirrorWith({ name: evil, offline: { since: 1, why: evil } })] },
      { problems: [problem("failed", "INVALID_FILENAME", 1, { message: evil })] },
    ),
  );
  expect(found).toHaveLength(2);
  for (const { title, detail, fix } of found)
    expect(title + detail + fix).not.toMatch(/[\p{Cc}\u202e]/u);
});
