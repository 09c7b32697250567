/** What was read next to a document goes where that goes, and nothing of the next one does. */
import { createHash } from "node:crypto";
import { readdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { actWithCompanions } from "../../../src/source/act-with-companions.ts";
import { NotesReader } from "../../../src/source/read-notes.ts";
import { never, put, raw, scratch, settingsOf } from "./scratch.ts";

const CONTENT = "content";
const digest = createHash("sha256").update(CONTENT).digest("hex");
const PATH = raw("scan.pdf");
const SIDECAR = "scan.pdf.yaml";
const MARKER = "scan.pdf.done";
const TITLE = "title: Rent\n";

const LATER = Date.now() + 3_600_000;

/** A document that is to go after its sidecar was read and `then` happened. */
async function acted(
  source: string,
  then: () => void = () => {},
  { sentAt = LATER, network = false }: { sentAt?: number | null; network?: boolean } = {},
) {
  const settings = settingsOf(source, { sidecar: "optional", ready: "quiet", network });
  const notes = await new NotesReader(settings, Date.now()).of(PATH);
  const sidecar = ("sidecarRead" in notes ? notes.sidecarRead : null) ?? null;
  then();
  const marked = { ...settings, ready: "marker" } as const;
  return actWithCompanions(marked, PATH, { digest, sentAt, sidecar }, { kind: "delete" }, never);
}

function aSource({ document = true, sidecar = true } = {}): string {
  const source = scratch();
  if (document) put(source, "scan.pdf", CONTENT);
  if (sidecar) put(source, SIDECAR, TITLE);
  put(source, MARKER);
  put(source, "other.pdf.yaml");
  return source;
}

const left = (source: string) => readdirSync(source).filter((name) => name !== "other.pdf.yaml");

test("a document takes along the sidecar that was read, and its marker", async () => {
  const source = aSource();
  expect(await acted(source)).toEqual({ kind: "done" });
  expect(readdirSync(source)).toEqual(["other.pdf.yaml"]);
});

test("a sidecar whose ending is in capitals goes along, too", async () => {
  const source = aSource({ sidecar: false });
  put(source, "scan.pdf.YAML", TITLE);
  expect(await acted(source)).toEqual({ kind: "done" });
  expect(left(source)).toEqual([]);
});

const again = (source: string, text: string, name = SIDECAR) => {
  rmSync(join(source, name), { force: true });
  put(source, name, text);
  utimesSync(join(source, name), 1, 1);
};

test.for([
  [SIDECAR, "it is corrected, or the next one's", true, "title: Next\n"],
  [SIDECAR, "the next one may say the same", true, TITLE],
  ["scan.pdf.json", "nobody read that kind", true, "{}"],
  [SIDECAR, "it came after the document was read", false, TITLE],
] as const)(
  "%s that is written after the reading stays and learns about: %s",
  async ([stays, , sidecar, text]) => {
    const source = aSource({ sidecar });
    const done = await acted(source, () => again(source, text, stays));
    const stayed = `${stays} stayed: what it says was not sent`;
    expect(done).toEqual({ kind: "done", stayed });
    expect(left(source)).toEqual([stays]);
  },
);

test("other bytes under the same date are another sidecar", async () => {
  const source = aSource();
  utimesSync(join(source, SIDECAR), 1, 1);
  expect(await acted(source, () => again(source, "title: Nest\n"))).toMatchObject({
    stayed: `${SIDECAR} stayed: what it says was not sent`,
  });
  expect(left(source)).toEqual([SIDECAR]);
});

test.for([
  [LATER, false, [], "it stood there when the document was sent: an earlier try was cut short"],
  [1, false, [MARKER, SIDECAR], "it came later: it is of the next document"],
  [null, false, [MARKER, SIDECAR], "nothing was sent, so nothing was read with it"],
  [LATER, true, [MARKER, SIDECAR], "no time of a network file system proves it"],
] as const)(
  "next to a document that is gone, sent at %s, network %s: %j stay, because %s",
  async ([sentAt, network, stay]) => {
    const source = aSource({ document: false });
    expect(await acted(source, undefined, { sentAt, network })).toEqual({ kind: "gone" });
    expect(left(source).sort()).toEqual(stay);
  },
);

test("next to one that is gone, a sidecar that was not read stays, however old", async () => {
  const source = aSource({ document: false });
  expect(await acted(source, () => again(source, "title: Next\n"))).toEqual({ kind: "gone" });
  expect(left(source)).toEqual([SIDECAR]);
});
