import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type StatusContext, pageLines, statusLines } from "../../../src/cli/status-lines.ts";
import type { Situation } from "../../../src/report/finding.ts";
import { findingsOf } from "../../../src/report/findings.ts";
import {
  archiveWith,
  aSituation,
  OUTAGE,
  problem,
  SITUATIONS,
  some,
} from "../report/situations.ts";
import { Terminal } from "../../../src/cli/terminal.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";
import { explanationLines } from "../../../src/cli/commands/explain.ts";
import { recordOf } from "../../../src/sync/record.ts";
import { aDocument } from "../../fixtures/a-document.ts";
import { aMirror } from "../../fixtures/a-config.ts";
import { Writable } from "node:stream";
import { PlanJson, PlanText } from "../../../src/cli/plan/plan-output.ts";
import { raw } from "../source/scratch.ts";
import {
  cut,
  cutMiddle,
  fit,
  hanging,
  padded,
  table,
  widthOf,
  wrapped,
} from "../../../src/cli/text-table.ts";
import { listenAddress, moment, size } from "../../../src/cli/option-values.ts";
import { printable } from "../../../src/std/printable.ts";
import { numberText, relativeText, sizeText, timeText } from "../../../src/std/wording.ts";
import { Sink } from "./in-process.ts";
import { type AllowanceReport, noPages, type PageReport } from "../../../src/report/page-report.ts";
import type { PlanLine } from "../../../src/report/plan/plan-line.ts";
import { remainingMs, Tempo } from "../../../src/cli/progress-bar.ts";

describe("status lines", () => {
  const plain = { paint: (_: string, text: string) => text, isInteractive: true };
  const terminal = { ...plain, width: 60 } as unknown as Terminal;
  const owner = { pid: 7, startedAt: 0, version: "1.2.3" };
  const NOW = 60_000;

  function linesOf(situation: Situation, more: Partial<StatusContext> = {}, rows = 24): string[] {
    const around = { owner, findings: findingsOf(situation), now: NOW, ...more };
    return statusLines(situation.report, around, terminal, rows);
  }

  test("the worst comes first, in full, with its advice; then who runs, what else is wrong, and the numbers", () => {
    const situation = aSituation(
      { ...some({ held: 1 }), archives: [archiveWith({ outage: OUTAGE })] },
      { problems: [problem("held", "FIRST_RUN", 1)] },
    );
    expect(linesOf(situation)).toEqual([
      `Cannot reach the archive since ${timeText(1_000)}`,
      "  no connection (ARCHIVE_UNREACHABLE). No document waits.",
      "  Check the network.",
      `  Next attempt: in 1 second (${timeText(61_000)}).`,
      "scanferry is running (pid 7, started 1 minute ago)",
      "",
      `1 document is held: FIRST_RUN (since ${timeText(1_000)})`,
      "  a/b.pdf: said so.",
      "  The archive has a document with this name in the same",
      "  folder, or with this name and size in another folder, and",
      "  the journal does not know it (first run, or a restored",
      "  journal). Run `scanferry adopt` to link the file to the",
      "  existing document, or set `firstRun: upload` for the",
      "  mirror to send it anyway.",
      "",
      "mirror  converted  held  watch",
      "scans           0     0  native",
    ]);
  });

  test("where nothing is wrong the summary comes first, and what is worth to know after it", () => {
    const { report } = SITUATIONS.sentEarly;
    const lines = linesOf(aSituation({ ...report, ...some({ converted: 2 }) }));
    expect(lines.slice(0, 3)).toEqual([
      "All documents are in the archive",
      "2 converted and confirmed by the archive.",
      "scanferry is running (pid 7, started 1 minute ago)",
    ]);
    expect(lines[4]).toMatch(/^Files of scans wait longer/);
  });

  test("that it does not run is said once", () => {
    const told = (situation: Situation) =>
      linesOf(situation, { owner: undefined }).filter((line) => line.includes("not running"));
    expect(told(SITUATIONS.notRunning)).toEqual(["scanferry is not running"]);
    expect(told(aSituation())).toEqual(["scanferry is not running"]);
  });

  test("a screen is filled, and scrolls only where advice would be cut", () => {
    const problems = ["FIRST_RUN", "VETOED", "FILE_EMPTY"].map((code) => problem("held", code));
    const situation = aSituation(some({ held: 9 }), { problems });
    expect(linesOf(situation, {}, 12)).toHaveLength(12);
    const scrolled = linesOf(situation, { scrolls: true }, 12).join("\n");
    for (const { fix } of findingsOf(situation))
      expect(scrolled.replaceAll(/\s+/g, " ")).toContain(fix);
  });

  test.for([
    [1, "1 document renamed or moved here; the archive still has it under the old path:"],
    [
      12_345,
      "12,345 documents renamed or moved here; the archive still has them under the old path (the latest 1):",
    ],
  ] as const)("of %s moved documents it is told how many there are", ([movedDocuments, line]) => {
    const one = { mirror: "scans", path: "b.pdf", from: "a.pdf", archivedIn: "/S", documentId: 7 };
    const report = reportOf({ movedDocuments, moved: [one] });
    const around = { owner, findings: [], now: NOW };
    const wide = { ...plain, width: 200 } as unknown as Terminal;
    const told = statusLines(report, around, wide, 24);
    expect(told).toContain(line);
    expect(told).toContain("  b.pdf  was a.pdf, in /S as document 7");
  });
});

describe("explanation lines", () => {
  const terminal = { paint: (_: string, text: string) => text } as unknown as Terminal;

  test.for([
    [{ kind: "hold" }, 7, "/Scans/2026 (id 7)", "it is sent to no other"],
    [
      { kind: "nearest" },
      7,
      "/Scans/2026, or the nearest folder above it (id 7)",
      "7 may be /Scans",
    ],
    [{ kind: "fallback", path: "/In" }, 7, "/Scans/2026, or /In (id 7)", "7 may be /In"],
    [{ kind: "fallback", path: "/In" }, null, "/Scans/2026, or /In", "it was not looked up yet"],
  ] as const)(
    "missingFolder %o and folder %s are told as %s: %s",
    ([missingFolder, folderId, text]) => {
      const document = recordOf(aDocument({ targetPath: "/Scans/2026", folderId }), "scans");
      const explanation = {
        mirror: "scans",
        source: "/srv/scans",
        path: "2026/scan.pdf",
        target: "/Scans/2026",
        leftOut: null,
        learnedSettle: null,
        note: null,
        waits: null,
        revisions: [{ document, history: [], attempts: [], contents: [] }],
        forgotten: [],
      };
      const lines = explanationLines(explanation, aMirror({ missingFolder }), 0, terminal);
      expect(lines.find((line) => line.startsWith("  folder "))).toBe(`  folder        ${text}`);
    },
  );

  test("what was learned of `settle` stands next to it", () => {
    const learnedSettle = { settleMs: 28_000, insteadOfMs: 3_000, learnedAt: 0 };
    const none = { revisions: [], forgotten: [], leftOut: null, note: null, waits: null };
    const explanation = {
      mirror: "scans",
      source: "/srv/scans",
      path: "a.pdf",
      target: "/",
      ...none,
    };
    const lines = explanationLines(
      { ...explanation, learnedSettle },
      aMirror({ settleMs: 3_000 }),
      0,
      terminal,
    );
    expect(lines.join("\n")).toContain(
      "settle 3s (28s since a file was sent too early), incomplete",
    );
  });
});

describe("page lines", () => {
  const DAY = 86_400_000;
  const NOW = new Date(2026, 10, 21, 12).getTime();

  function reportOf(set: Partial<PageReport>, allowance?: Partial<AllowanceReport>): PageReport {
    const pages = { monthlyPages: 100, monthBegins: 1 };
    const report = noPages({ ...pages, whenUsedUp: "hold" }, NOW);
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
        "allowance: 30 of 100 pages used (30 %), enough until it is renewed 2026-12-01 00:00:00",
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
          problem: { code: "ALLOWANCE_LOW", message: "", hint: "Buy pages." },
        },
      ),
      [
        "",
        "allowance: 85 of 100 pages used (85 %), used up in 4 days at this rate, renewed 2026-12-01 00:00:00",
        "  waiting documents need more pages than are left",
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
});

describe("plan output", () => {
  /** A stream that takes what is written a turn later, and all of it so far. */
  function slowly() {
    let text = "";
    const stream = new Writable({
      write(chunk, _, taken) {
        text += String(chunk);
        setImmediate(taken);
      },
    });
    return { out: new Terminal(stream, {}), text: () => text };
  }

  const lineOf = (name: string): PlanLine => ({
    mirror: "scans",
    path: raw(name),
    action: "send",
    target: "/Scans",
    folderId: 2,
    folder: null,
    sentName: name,
    pages: 1,
    sizeBytes: 3,
    digest: null,
    problem: null,
    remark: null,
    rule: null,
    metadata: { title: { value: `of ${name}`, from: "path" } },
    expires: null,
  });

  const names = ["a.pdf", "b.pdf", "c.pdf"];
  const totals = { send: 3, pages: 3, pagesUnknown: 0, bytes: 9, hold: 0, wait: 0, skip: 0 };

  test("lines that come at the same time are one JSON object", async () => {
    const { out, text } = slowly();
    const plan = new PlanJson(out);
    await plan.begin();
    await Promise.all(names.map((name) => plan.line(lineOf(name))));
    await plan.end([], new Map(), { totals, stopped: null, pagesLeft: null });
    const { documents } = JSON.parse(text()) as { documents: { path: string }[] };
    expect(documents.map(({ path }) => path)).toEqual(names);
  });

  test("what goes with a document stands below it", async () => {
    const { out, text } = slowly();
    const plan = new PlanText(out);
    await Promise.all(names.map((name) => plan.line(lineOf(name))));
    const told = [...text().matchAll(/ (?:of )?([abc]\.pdf)/g)].map(([, name]) => name);
    expect(told).toEqual(["a.pdf", "a.pdf", "b.pdf", "b.pdf", "c.pdf", "c.pdf"]);
  });
});

describe("words", () => {
  describe("columns", () => {
    test.for([
      ["scan", 4, "a letter is a column"],
      ["für", 3, "composed"],
      ["fu\u0308r", 3, "a combining mark takes none"],
      ["请求", 4, "East Asian characters take two"],
      ["\u001b[31mred\u001b[39m", 3, "colours take none"],
    ] as const)("%j is %i wide: %s", ([text, width]) => {
      expect(widthOf(text)).toBe(width);
    });

    test("padding reaches the width, and never cuts", () => {
      fc.assert(
        fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, width) => {
          const clean = printable(text);
          expect(widthOf(padded(clean, width))).toBe(Math.max(width, widthOf(clean)));
          expect(widthOf(cut(clean, width + 1))).toBeLessThanOrEqual(width + 1);
        }),
      );
    });

    test("a table lines up, numbers to the right", () => {
      expect(
        table(
          [
            ["A", "N"],
            ["long", "5"],
            ["x", "123"],
          ],
          [1],
        ),
      ).toEqual(["A       N", "long    5", "x     123"]);
    });
  });

  test("printable text is one line that steers nothing, and stays what it was otherwise", () => {
    expect(printable("a\nb\u0007\u202e请")).toBe("a b\\x07\\u202e请");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
      }),
    );
  });

  test.for([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1.00 kB"],
    [24_601, "24.6 kB"],
    [999_700, "1.00 MB"],
    [123_456_789, "123 MB"],
  ] as const)("%i bytes are told as %s", ([bytes, text]) => {
    expect(sizeText(bytes)).toBe(text);
  });

  test.for([
    [180_000, "in 3 minutes"],
    [-3_600_000, "1 hour ago"],
    [10, "now"],
  ] as const)("%i ms from now is %s", ([offset, text]) => {
    expect(relativeText(1_000_000_000 + offset, 1_000_000_000)).toBe(text);
  });

  describe("option values", () => {
    test.for([
      ["1048576", 1_048_576],
      ["10MB", 10_000_000],
      ["10MiB", 10_485_760],
      ["1.5 kB", 1_500],
      ["5k", 5_000],
    ] as const)("the size %s is %i bytes", ([text, bytes]) => {
      expect(size(text)).toBe(bytes);
    });

    test.for([
      ["127.0.0.1:0", "127.0.0.1", 0],
      ["[::1]:8471", "::1", 8471],
      ["localhost:65535", "localhost", 65_535],
    ] as const)("%s is host %s, port %i", ([text, host, port]) => {
      expect(listenAddress(text)).toEqual({ host, port });
    });

    test.for([
      ["1700000000000", 1_700_000_000_000, "epoch milliseconds"],
      ["2026-11-20", "2026-11-20", "any other form goes to the archive as it is"],
    ] as const)("the date %s is sent as %j: %s", ([text, value]) => {
      expect(moment(text)).toBe(value);
    });
  });

  test("numbers have their thousands apart, as English has them", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.integer(),
          fc.maxSafeNat(),
          fc.integer().map((n) => n / 8),
        ),
        (number) => {
          expect(numberText(number)).toBe(number.toLocaleString("en-GB"));
        },
      ),
      { numRuns: 2_000, examples: [[Number.MAX_SAFE_INTEGER], [-1_234.5], [0]] },
    );
  });
});

describe("terminal", () => {
  test.for([
    [true, {}, true, "a person at a terminal"],
    [true, { NO_COLOR: "1" }, false, "who does not want colours"],
    [true, { NO_COLOR: "" }, true, "an empty NO_COLOR says nothing"],
    [true, { TERM: "dumb" }, false, "a terminal that cannot"],
    [false, {}, false, "a pipe or a file"],
    [false, { FORCE_COLOR: "1" }, true, "a pipe to something that shows them"],
    [false, { FORCE_COLOR: "1", NO_COLOR: "1" }, true, "as Node has it"],
    [true, { FORCE_COLOR: "0" }, false, "it says which way"],
  ] as const)("tty %s with %j: colour %s (%s)", ([tty, env, colour]) => {
    const terminal = new Terminal(new Sink(tty), env);
    expect(terminal.paint("red", "x")).toBe(colour ? "\u001b[31mx\u001b[39m" : "x");
  });

  test("a reader that went away is no failure, and shows", async () => {
    const sink = new Sink();
    const terminal = new Terminal(sink, {});
    sink.destroy(Object.assign(new Error("gone"), { code: "EPIPE" }));
    await terminal.line("dropped");
    expect(terminal.gone.aborted).toBe(true);
    await expect(terminal.line("as well")).resolves.toBeUndefined();
  });

  test("a full disk is a fault", async () => {
    const sink = new Sink();
    const terminal = new Terminal(sink, {});
    sink.destroy(Object.assign(new Error("no space"), { code: "ENOSPC" }));
    await new Promise(setImmediate);
    await expect(terminal.line("lost")).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
  });
});

describe("fit", () => {
  const lines = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${name}${index}`);

  describe("fitting a screen", () => {
    test.for([
      [[3, 2], 10, ["a0", "a1", "a2", "", "b0", "b1"], "there is room"],
      [[0, 2], 10, ["b0", "b1"], "what is empty takes no line"],
      [[6, 2], 7, ["a0", "a1", "a2", "  … 3 more; scanferry status --all", "", "b0", "b1"], "cut"],
    ] as const)("%j in %i lines: %j: %s", ([[a, b], rows, expected]) => {
      const sections = [
        { lines: lines("a", a), keeps: Math.min(a, 1) },
        { lines: lines("b", b), keeps: Math.min(b, 1) },
      ];
      expect(fit(sections, rows)).toEqual(expected);
    });

    test.for([
      [4, ["a0", "a1", "b0", "  … 2 more; scanferry status --all"], "blank lines go first"],
      [3, ["a0", "a1", "  … 3 more; scanferry status --all"], "then what stands lowest"],
      [1, ["a0"], "what matters most is left"],
      [-1, ["a0"], "a screen may be no screen at all"],
    ] as const)("what should all be kept, in %i lines: %j: %s", ([rows, expected]) => {
      const sections = [
        { lines: lines("a", 2), keeps: 2 },
        { lines: lines("b", 3), keeps: 3 },
      ];
      expect(fit(sections, rows)).toEqual(expected);
    });

    test("never takes more lines than there are, and never loses what must be kept", () => {
      const section = fc
        .record({ count: fc.integer({ min: 0, max: 60 }), keeps: fc.integer({ min: 1, max: 3 }) })
        .map(({ count, keeps }) => ({ lines: lines("x", count), keeps: Math.min(keeps, count) }));
      fc.assert(
        fc.property(
          fc.array(section, { maxLength: 6 }),
          fc.integer({ min: 1, max: 60 }),
          (all, rows) => {
            const shown = fit(all, rows);
            expect(shown.length).toBeLessThanOrEqual(rows);
            // On the smallest screens something has to go.
            if (rows < 30) return;
            for (const { lines: own, keeps } of all) {
              for (const line of own.slice(0, keeps)) expect(shown).toContain(line);
            }
          },
        ),
      );
    });
  });

  test("what is cut in its middle, wrapped or hung is never wider than it may be, and loses no word", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "é", "日", " ", "/", "👍"),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 40 }), (given, width) => {
        expect(widthOf(cutMiddle(given, width))).toBeLessThanOrEqual(width);
        if (widthOf(given) <= width) expect(hanging(given, width)).toEqual([given]);
        const short = given
          .split(" ")
          .map((word) => word.slice(0, 3))
          .join(" ");
        const folded = wrapped(short, width);
        expect(folded.every((line) => widthOf(line) <= width)).toBe(true);
        expect(folded.join(" ")).toBe(short);
      }),
    );
  });

  describe("tempo", () => {
    test.for([
      [[0, 0], [500, 10], undefined, "nobody can tell from so little"],
      [[0, 0], [2_000, 10], 5, "ten in two seconds"],
      [[0, 10], [4_000, 10], 0, "nothing went on"],
    ] as const)("from %j to %j: %s a second: %s", ([[from, before], [to, after], rate]) => {
      const tempo = new Tempo();
      tempo.note(from, before, 0);
      expect(tempo.rate(to, after, 0)?.documents).toBe(rate);
    });

    test("follows what goes on now, not what was long ago", () => {
      const tempo = new Tempo();
      for (let second = 0; second <= 60; second++)
        tempo.note(second * 1_000, Math.min(second, 30) * 100, 0);
      expect(tempo.rate(60_000, 3_000, 0)?.documents).toBe(0);
    });

    test("no rate, no time", () => {
      expect(remainingMs(10, undefined)).toBeUndefined();
      expect(remainingMs(10, { documents: 0, bytes: 9 })).toBeUndefined();
      expect(remainingMs(10, { documents: 2, bytes: 0 })).toBe(5_000);
    });
  });
});
