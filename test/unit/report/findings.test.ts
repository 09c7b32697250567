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

test("what each says", () => {
  const said = FINDING_KINDS.flatMap((kind) => findingsOf(SITUATIONS[kind])).map(
    ({ id, severity, title, detail, fix }) => [id, severity, title, detail, fix].join(" | "),
  );
  expect(said).toMatchInlineSnapshot(`
    [
      "stalled | error | Nothing is sent | nothing has moved for 16 minutes. | Check the journal's disk or database, and the log. If this lasts, restart the daemon: nothing is lost, and nothing is sent twice.",
      "gate:main:QUOTA_LIMIT | error | Sending has stopped: the page allowance is used up | it said so (QUOTA_LIMIT). 7 documents wait. | Buy pages.",
      "paused | warning | Sending is paused | 1 document waits. New files are found, and wait until sending is resumed. | Run \`scanferry resume\`, or use Resume on the page.",
      "notRunning | warning | scanferry is not running | 1,200 documents wait. | Start it with \`scanferry run\`, or run \`scanferry sync\` once.",
      "archive:main | error | Cannot reach the archive | no connection (ARCHIVE_UNREACHABLE). 2 documents wait. | Check the network.",
      "failed:FILE_SIZE_TOO_BIG | error | 3 documents failed: the archive rejected them (FILE_SIZE_TOO_BIG) | a/b.pdf: said so. The same code for 2 other documents. | Split the document, or scan it at a lower resolution: the archive does not accept files of this type and size. See \`scanferry list --state failed\`.",
      "source:scans | error | The source of scans is offline | /srv/scans: not mounted. No file is treated as deleted; other sources continue. | Mount the source again, or fix \`source\` in the configuration. scanferry continues automatically.",
      "unread:scans | error | Cannot read 2 folders of scans | /srv/scans/closed (and 1 other folder): no permission. Files in there are not sent; everything else continues. | Give the daemon's user read permission, or fix the disk. scanferry tries again automatically.",
      "held:SIDECAR_MISSING | warning | 1 document is held: SIDECAR_MISSING | a/b.pdf: said so. | Put the sidecar next to the file. The document continues automatically.",
      "stuck | warning | The archive has not converted 1 document | a/b.pdf: said so. | The archive has not converted the document: contact its support and give the document id.",
      "after:scans | warning | 2 archived files of scans could not be moved or deleted yet | One of 2: a.pdf: AFTER_REFUSED: no space. | The document is archived, but the local file was not moved or deleted. Check permissions, free space and mounts for \`after\`.",
      "waits:main:hours | info | Sending waits | outside of \`upload.hours\`. 2 documents wait. | ",
      "allowance:main | warning | 80 % of this month's page allowance is used | 800 of 1000 pages. | Buy pages.",
      "disk | warning | The journal's disk is almost full | 499 MB are free for /j.db. When it is full, nothing is sent. | Free space, or move the journal.",
      "page | warning | The page is not available | the port is in use. Everything else continues. | Set another \`web.listen\`.",
      "formerMirror:old | warning | The mirror old is no longer configured | Its documents wait: 2 held. | See \`scanferry list --mirror old\`. Configure the mirror again to send them.",
      "unfinished:FILE_UNFINISHED | info | 1 file is not finished yet | a/b.pdf: said so. | The file looks unfinished. It is sent once it is complete. A file whose format shows that it is unfinished is held if it does not change for \`incomplete\`.",
      "sentEarly:scans | info | Files of scans wait longer: one was sent before it was finished | All files of scans now wait 28s. | Set \`settle: 28s\` for the mirror.",
      "kept:scans | info | 1 archived file of scans will not be moved or deleted | a.pdf: FILE_CHANGED. | See \`scanferry list --after-pending\`.",
    ]
  `);
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
  expect(found).toMatchObject([{ nextAttempt: null, actions: ["adopt", "retry"] }]);
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
