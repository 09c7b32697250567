import { expect, test } from "vitest";
import { statusLines } from "../../../src/cli/status-lines.ts";
import type { Terminal } from "../../../src/cli/terminal.ts";
import type { StatusReport } from "../../../src/sync/status.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";

const gate = {
  closedAt: 0,
  code: "QUOTA_LIMIT",
  message: "spent",
  hint: "Wait.",
  nextProbeAt: null,
};
const waits = { why: "asked", message: "it asked", until: null } as const;
const [main] = reportOf().archives;
if (!main) throw new Error("there is one");
const plain = { paint: (_: string, text: string) => text, isInteractive: false };
const terminal = { ...plain, width: 80 } as unknown as Terminal;
const wide = { ...plain, width: 200 } as unknown as Terminal;

test.for([
  [[main], [], "nothing keeps it"],
  [[{ ...main, gate }], [], "the headline tells of the only one"],
  [
    [{ ...main, sending: { waits, concurrency: 1 } }],
    [/^nothing new is sent: it asked/],
    "the only one needs no name",
  ],
  [
    [
      { ...main, gate },
      { ...main, name: "legal", sending: { waits, concurrency: 1 } },
    ],
    [/^nothing is sent to main since .*: spent/, /^nothing new is sent to legal: it asked/],
    "of several it is said which",
  ],
] as const)("%#: what stops archives: %s", ([archives, lines]) => {
  const report = reportOf({ archives });
  const told = statusLines(report, { owner: undefined, troubles: [], now: 1 }, terminal, 24);
  const about = told.filter((line) => /^nothing (new )?is sent/.test(line));
  expect(about).toEqual(lines.map((line) => expect.stringMatching(line)));
});

test.for([
  [60_001, true, "; asked again in 1 minute", "its time has not come"],
  [1, false, "; asked again by the next scanferry run or scanferry sync", "nobody is there to ask"],
  [1, true, "; asked again now", "it is being asked, or is next"],
  [null, true, "", "nobody knows"],
] as const)("a probe at %s, running: %s, is told as %j: %s", ([nextProbeAt, running, next]) => {
  const archives = [
    { ...main, gate: { ...gate, nextProbeAt } },
    { ...main, name: "legal" },
  ];
  const report = reportOf({ archives, gate: { ...gate, nextProbeAt } });
  const around = { owner: running ? owner : undefined, troubles: [], now: 1 };
  const told = statusLines(report, around, wide, 24);
  expect(told[1]).toBe(`0 documents wait; wait${next}`);
  expect(told.find((line) => line.startsWith("nothing is sent to main"))).toMatch(
    new RegExp(`: spent; wait${next}$`),
  );
});

const around = { owner: undefined, troubles: [], now: 1 };
const outage = {
  since: 0,
  code: "ARCHIVE_UNREACHABLE",
  message: "no connection",
  hint: "Look at the line.",
  nextAttemptAt: 60_001,
};

const owner = { pid: 7, startedAt: 0, version: "1.2.3" };
const some = (counts: Partial<StatusReport["documents"]>) => ({
  documents: { ...reportOf().documents, ...counts },
});
const probed = { ...gate, nextProbeAt: 60_001 };
const afar = { mirror: "scans", path: "a.pdf", why: "AFTER_REFUSED: full", nextAttemptAt: 60_001 };

test.for([
  [{ gate: probed }, /asked again in 1 minute$/, /asked again by the next scanferry run or/],
  [
    { archives: [{ ...main, outage }] },
    /tried again in 1 minute$/,
    /tried again by the next scanferry run or/,
  ],
  [some({ held: 2 }), /^they go on by themselves/, /^they go on with scanferry run or/],
  [{ notPutAway: [afar] }, /^they are tried again without being asked$/, /by the next scanferry/],
  [
    some({ converted: 2 }),
    /^2 converted$/,
    /^2 converted; it is not running, and sees nothing new$/,
  ],
] as const)(
  "%#: what only a daemon does is not promised without one",
  ([report, with_, without]) => {
    const told = (who: typeof owner | undefined) =>
      statusLines(reportOf(report), { ...around, owner: who }, terminal, 24)[1];
    expect(told(owner)).toMatch(with_);
    expect(told(undefined)).toMatch(without);
  },
);

test("without a daemon nothing is said of what it has not seen", () => {
  const report = reportOf(some({ converted: 2 }));
  const title = (who: typeof owner | undefined) =>
    statusLines(report, { ...around, owner: who }, terminal, 24)[0];
  expect(title(owner)).toBe("All documents are in the archive");
  expect(title(undefined)).toBe("All documents that scanferry has seen are in the archive");
});

test("that all is archived says how many files are never put away", () => {
  const stays = { mirror: "scans", path: "a.pdf", why: "FILE_CHANGED" };
  const detail = (...files: number[]) => {
    const neverPutAway = files.map((each) => ({ ...stays, files: each }));
    const report = reportOf({ ...some({ converted: 2_000 }), neverPutAway });
    return statusLines(report, { ...around, owner }, terminal, 24)[1];
  };
  expect(detail(1)).toBe("2,000 converted; 1 file is never put away");
  expect(detail(1, 1_200)).toBe("2,000 converted; 1,201 files are never put away");
});

test("an archive that does not answer is what matters first, with what to do", () => {
  const report = reportOf({ archives: [{ ...main, outage }] });
  const [title, detail] = statusLines(report, { ...around, owner }, terminal, 24);
  expect(title).toMatch(/^The archive is not reached since .*: no connection$/);
  expect(detail).toBe("0 documents wait; look at the line; tried again in 1 minute");
});

test("of several archives that do not answer each is told, by its name", () => {
  const archives = [
    { ...main, outage: { ...outage, since: 2 } },
    { ...main, name: "legal", outage },
  ];
  const told = statusLines(reportOf({ archives }), around, terminal, 24);
  expect(told[0]).toMatch(/^The archive legal is not reached/);
  expect(told.filter((line) => /^archive (main|legal) is not reached/.test(line))).toHaveLength(2);
});

test("a source that is offline is told of, though all that is known is archived", () => {
  const [scans] = reportOf().mirrors;
  if (!scans) throw new Error("there is one");
  const mirrors = [{ ...scans, offline: { since: 0, why: "not mounted" } }];
  const documents = { ...reportOf().documents, converted: 3 };
  const told = statusLines(reportOf({ documents, mirrors }), around, terminal, 24);
  expect(told[0]).toBe("The source of scans is offline");
  expect(told).toContainEqual(expect.stringMatching(/^scans: offline since .*: not mounted$/));
  expect(told).toContainEqual(expect.stringMatching(/^ {2}mount the source again/));
  expect(told).toContainEqual(expect.stringMatching(/^scans .* offline$/));
});

test("a folder that cannot be read is told of, though all that is known is archived", () => {
  const [scans] = reportOf().mirrors;
  if (!scans) throw new Error("there is one");
  const unread = { directories: 2, path: "2026/closed", why: "no right" };
  const mirrors = [{ ...scans, unread }];
  const told = statusLines(
    reportOf({ ...some({ converted: 3 }), mirrors }),
    { ...around, owner },
    terminal,
    24,
  );
  expect(told[0]).toBe("2 local folders cannot be read");
  expect(told).toContain("scans: folder 2026/closed (and 1 other) cannot be read: no right");
});

test("what is never put away is told by its mirror, with one of the files and how to list all", () => {
  const why = "document 7 is now in folder 9";
  const neverPutAway = [
    { mirror: "bills", files: 1, path: "a.pdf", why },
    { mirror: "scans", files: 1_200, path: "b.pdf", why: "FILE_CHANGED: b.pdf has other content" },
  ];
  const told = statusLines(reportOf({ neverPutAway }), around, wide, 24);
  expect(told.slice(told.indexOf("never put away, see scanferry list --not-put-away:"))).toEqual([
    "never put away, see scanferry list --not-put-away:",
    "  bills: document 7 is now in folder 9: a.pdf",
    "  scans: FILE_CHANGED: b.pdf has other content: b.pdf, one of 1,200",
  ]);
});

test("what cannot be put away is told by its cause, with one of the files", () => {
  const file = (path: string, why: string) =>
    ({ mirror: "scans", path, why, nextAttemptAt: 60_001 }) as const;
  const notPutAway = [
    file("a.pdf", "AFTER_REFUSED: no space left"),
    file("b.pdf", "AFTER_REFUSED: no space left"),
    file("c.pdf", "FILE_UNREADABLE: no right"),
  ];
  const told = statusLines(reportOf({ notPutAway }), around, terminal, 24);
  expect(told).toContain("archived, and not put away yet; tried again without being asked:");
  expect(told).toContain("  scans: AFTER_REFUSED: no space left: a.pdf, one of 2 (in 1 minute)");
  expect(told).toContain("  scans: FILE_UNREADABLE: no right: c.pdf (in 1 minute)");
});
