/** What stands beside a document goes where that goes, and nothing of the next one does. */
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { actWithBeside } from "../../../src/source/act-beside.ts";
import { never, put, raw, scratch, settingsOf } from "./scratch.ts";

const CONTENT = "content";
const digest = createHash("sha256").update(CONTENT).digest("hex");

const LATER = Date.now() + 3_600_000;

function acted(source: string, sentAt: number | null, network = false) {
  const settings = settingsOf(source, { sidecar: "optional", ready: "marker", network });
  const action = { kind: "delete" } as const;
  return actWithBeside(settings, raw("scan.pdf"), { digest, sentAt }, action, never);
}

test("a document takes its sidecar and its marker along, whenever they were written", async () => {
  const source = scratch();
  put(source, "scan.pdf", CONTENT);
  for (const name of ["scan.pdf.yaml", "scan.pdf.done", "other.pdf.yaml"]) put(source, name);
  expect(await acted(source, 1)).toEqual({ kind: "done" });
  expect(readdirSync(source)).toEqual(["other.pdf.yaml"]);
});

test.for([
  [LATER, false, [], "it stood there when the document was sent: an earlier try was cut short"],
  [1, false, ["scan.pdf.done", "scan.pdf.yaml"], "it came later: it is of the next document"],
  [
    null,
    false,
    ["scan.pdf.done", "scan.pdf.yaml"],
    "nothing was sent, so nothing was read with it",
  ],
  [LATER, true, ["scan.pdf.done", "scan.pdf.yaml"], "no time of a network file system proves it"],
] as const)(
  "beside a document that is gone, sent at %s, network %s: %j stay, because %s",
  async ([sentAt, network, left]) => {
    const source = scratch();
    for (const name of ["scan.pdf.yaml", "scan.pdf.done"]) put(source, name);
    expect(await acted(source, sentAt, network)).toEqual({ kind: "gone" });
    expect(readdirSync(source).sort()).toEqual(left);
  },
);
