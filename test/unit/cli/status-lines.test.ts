import { expect, test } from "vitest";
import { statusLines } from "../../../src/cli/status-lines.ts";
import type { Terminal } from "../../../src/cli/terminal.ts";
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
const terminal = {
  paint: (_: string, text: string) => text,
  isInteractive: false,
  width: 80,
} as unknown as Terminal;

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

test("what cannot be put away is told by its cause, with one of the files", () => {
  const file = (path: string, why: string) =>
    ({ mirror: "scans", path, why, nextAttemptAt: 60_001 }) as const;
  const notPutAway = [
    file("a.pdf", "AFTER_REFUSED: no space left"),
    file("b.pdf", "AFTER_REFUSED: no space left"),
    file("c.pdf", "FILE_UNREADABLE: no right"),
  ];
  const around = { owner: undefined, troubles: [], now: 1 };
  const told = statusLines(reportOf({ notPutAway }), around, terminal, 24);
  expect(told).toContain("archived, and not put away yet; tried again without being asked:");
  expect(told).toContain("  scans: AFTER_REFUSED: no space left: a.pdf, one of 2 (in 1 minute)");
  expect(told).toContain("  scans: FILE_UNREADABLE: no right: c.pdf (in 1 minute)");
});
