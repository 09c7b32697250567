import { expect, test } from "vitest";
import { rawOf, rawOfText } from "../../../src/std/raw-path.ts";
import { newsOf, questionOf } from "../../../src/sync/hook-input.ts";
import { aDocument } from "../../fixtures/a-document.ts";
import { SyncDesk } from "./desk.ts";

const ODD = rawOf(Buffer.from([0x61, 0xff, 0x0a, 0x2e, 0x70, 0x64, 0x66]));
const BYTES = Buffer.concat([Buffer.from("/srv/scans/d/"), Buffer.from("61ff0a2e706466", "hex")]);

test.for([
  [rawOfText("ä b.pdf"), "d/ä b.pdf", "/srv/scans/d/ä b.pdf", "text is told as text"],
  [ODD, "d/a\\xff\\x0a.pdf", null, "what is no text is in its bytes alone"],
] as const)("of %j the path %s and the file %s: %s", async ([name, path, file]) => {
  const desk = await SyncDesk.open();
  const document = aDocument({ dir: rawOfText("d"), name });
  const seen = { sizeBytes: 7, modifiedAt: 1, stamp: "s" };
  const found = { kind: "whole", digest: "d1", seen, completeness: "complete" } as const;
  const sentName = { name: "n.pdf", mended: false };
  const decided = { rule: "r", folder: "/Scans", name: sentName, slip: null };
  const question = questionOf(desk.mirror(), document, found, decided);
  expect(question.endsWith("}\n")).toBe(true);
  const told = JSON.parse(question) as Record<string, unknown>;
  expect(told).toMatchObject({ path, file, sha256: "d1", decided: { rule: "r", name: "n.pdf" } });
  const bytes = Buffer.from(String(told["fileBase64"]), "base64");
  expect(bytes).toEqual(name === ODD ? BYTES : Buffer.from(String(file)));
});

test.for([
  [{ after: "done", afterMessage: "/done/d/a.pdf" }, "/done/d/a.pdf", "moved"],
  [
    { after: "done", afterMessage: "/done/d/a.pdf; d/a.pdf.yaml stayed: EACCES" },
    "/done/d/a.pdf",
    "moved, and something stayed",
  ],
  [
    { after: "done", afterMessage: "/done; all/d/a.pdf" },
    "/done; all/d/a.pdf",
    "moved to a place with a semicolon in its name",
  ],
  [{ after: "done", afterMessage: null }, null, "deleted"],
  [{ after: "done", afterMessage: "it was gone already" }, null, "somebody took it"],
  [{ after: "refused", afterMessage: "AFTER_REFUSED: so" }, "/srv/scans/d/a.pdf", "it stayed"],
  [{ after: null, goneAt: 5 }, null, "gone"],
  [undefined, null, "its row is forgotten"],
] as const)("a row that is %o now has its file at %s: %s", async ([set, file]) => {
  const desk = await SyncDesk.open();
  const then = aDocument({ dir: rawOfText("d"), name: rawOfText("a.pdf") });
  const now = set && { ...then, ...set };
  const telling = { number: 3, mirrorId: 1, at: 20, tries: 0, dueAt: 20 } as const;
  const news = newsOf(desk.mirror(), { ...telling, outcome: "converted", document: then }, now);
  expect(JSON.parse(news)).toMatchObject({ id: "20-3", path: "d/a.pdf", file });
});
