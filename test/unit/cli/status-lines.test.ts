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
