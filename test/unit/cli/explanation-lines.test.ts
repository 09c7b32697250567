import { expect, test } from "vitest";
import { explanationLines } from "../../../src/cli/explanation-lines.ts";
import type { Terminal } from "../../../src/cli/terminal.ts";
import { recordOf } from "../../../src/sync/record.ts";
import { aDocument } from "../../fixtures/a-document.ts";
import { aMirror } from "./mirrors.ts";

const terminal = { paint: (_: string, text: string) => text } as unknown as Terminal;

test.for([
  [{ kind: "hold" }, 7, "/Scans/2026 (id 7)", "it is sent to no other"],
  [{ kind: "nearest" }, 7, "/Scans/2026, or the nearest above it (id 7)", "7 may be /Scans"],
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
      note: null,
      waits: null,
      revisions: [{ document, history: [], attempts: [], contents: [] }],
      forgotten: [],
    };
    const lines = explanationLines(explanation, aMirror({ missingFolder }), 0, terminal);
    expect(lines.find((line) => line.startsWith("  folder "))).toBe(`  folder        ${text}`);
  },
);
