import { expect, test } from "vitest";
import { pageLines } from "../../../src/cli/page-lines.ts";
import { type AllowanceReport, noPages, type PageReport } from "../../../src/sync/page-report.ts";

const DAY = 86_400_000;
const NOW = new Date(2026, 10, 21, 12).getTime();

function reportOf(set: Partial<PageReport>, allowance?: Partial<AllowanceReport>): PageReport {
  const pages = { monthlyPages: 100, monthBegins: 1, unknownPages: 1, smallFirstBelow: 0 };
  const policy = allowance && ({ ...pages, whenUsedUp: "hold" } as const);
  const report = noPages(policy, NOW);
  const told = report.allowance && allowance ? { ...report.allowance, ...allowance } : null;
  return { ...report, ...set, allowance: told };
}

test.for([
  // report, lines, because
  [reportOf({}), [], "there is nothing to tell"],
  [
    reportOf({ today: 2, month: 30, perDay: 3, waiting: { documents: 2, pages: 9, unknown: 1 } }),
    [
      "",
      "pages: 2 today, 30 this month, lately 3 a day; 9 pages and 1 document not counted waiting",
    ],
    "without an allowance",
  ],
  [
    reportOf({ month: 30 }, { used: 30, left: 70 }),
    [
      "",
      "allowance: 30 of 100 pages used (30 %), lasts until it is renewed 2026-12-01 00:00:00",
      "pages: 0 today, 30 this month",
    ],
    "it lasts",
  ],
  [
    reportOf(
      { month: 85, waiting: { documents: 1, pages: 20, unknown: 0 } },
      {
        used: 85,
        left: 15,
        level: "low",
        runsOutAt: NOW + 4 * DAY,
        reserve: { pages: 10, left: 10, mirrors: ["contracts", "post"] },
        keeps: { documents: 1, mirrors: ["scans"] },
        trouble: { code: "ALLOWANCE_LOW", message: "", hint: "Buy pages." },
      },
    ),
    [
      "",
      "allowance: 85 of 100 pages used (85 %), used up in 4 days at this rate, renewed 2026-12-01 00:00:00",
      "  what waits needs more pages than are left",
      "  10 of 10 reserved for contracts, post",
      "  1 document of scans waits for that",
      "  buy pages",
      "pages: 0 today, 85 this month; 20 pages waiting",
    ],
    "everything at once",
  ],
  [
    reportOf({ month: 130 }, { used: 130, left: -30, level: "usedUp", runsOutAt: NOW }),
    [
      "",
      "allowance: 130 of 100 pages used (130 %), renewed 2026-12-01 00:00:00",
      "pages: 0 today, 130 this month",
    ],
    "overdrawn",
  ],
] as [PageReport, string[], string][])("%#: %s", ([report, lines]) => {
  expect(pageLines(report, NOW)).toEqual(lines);
});
