/** When a marker counts for its document. */
import { utimesSync, writeFileSync } from "node:fs";
import { setTimeout as passed } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { NotesReader } from "../../../src/source/read-notes.ts";
import { put, raw, scratch, settingsOf } from "./scratch.ts";

const PATH = raw("scan.pdf");
const OLD_S = 1_000_000_000;

/** Longer than a tick of the kernel's clock. */
const tick = () => passed(30);

function marked(source: string, network = false) {
  const settings = settingsOf(source, { ready: "marker", network });
  return new NotesReader(settings, Date.now()).of(PATH);
}

const older = {
  kind: "waits",
  trouble: { code: "MARKER_MISSING", message: "scan.pdf.done is older than the document" },
};

test("a document without its marker waits, one with it does not", async () => {
  const source = scratch();
  put(source, "scan.pdf");
  expect(await marked(source)).toMatchObject({
    kind: "waits",
    trouble: { code: "MARKER_MISSING" },
  });
  put(source, "scan.pdf.done");
  expect(await marked(source)).toMatchObject({ kind: "notes" });
});

test.for([[false], [true]])(
  "written anew, it waits for its marker to be; on a network file system: %s",
  async ([network]) => {
    const source = scratch();
    const document = put(source, "scan.pdf");
    await tick();
    const marker = put(source, "scan.pdf.done");
    expect(await marked(source, network)).toMatchObject({ kind: "notes" });
    await tick();
    writeFileSync(document, "half of the next one");
    expect(await marked(source, network)).toEqual(older);
    await tick();
    const now = new Date();
    utimesSync(marker, now, now);
    expect(await marked(source, network)).toMatchObject({ kind: "notes" });
  },
);

describe.for([
  ["both copied with their times", OLD_S, OLD_S - 60, "its ctime says when it was copied"],
  ["a document whose time was set to come", 4_000_000_000, OLD_S, "nothing was written then"],
] as const)("%s", ([, documentS, markerS, because]) => {
  test.for([
    [false, "notes", because],
    [true, "waits", "ctimes of a network file system change by themselves"],
  ] as const)("on a network file system %s: %s, because %s", async ([network, kind]) => {
    const source = scratch();
    utimesSync(put(source, "scan.pdf"), documentS, documentS);
    await tick();
    utimesSync(put(source, "scan.pdf.done"), markerS, markerS);
    expect(await marked(source, network)).toMatchObject({ kind });
  });
});

test("of the same moment it counts: times may be coarse", async () => {
  const source = scratch();
  for (const name of ["scan.pdf", "scan.pdf.done"]) utimesSync(put(source, name), OLD_S, OLD_S);
  expect(await marked(source, true)).toMatchObject({ kind: "notes" });
});
