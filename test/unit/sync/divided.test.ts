/** Two daemons that divide one mirror. */
import { expect, test } from "vitest";
import { partOf } from "../../../src/domain/division.ts";
import type { Duty } from "../../../src/journal/crew.ts";
import type { MirrorStatus } from "../../../src/reader/protocol.ts";
import { type RawPath, rawOfText } from "../../../src/std/raw-path.ts";
import { Aftercare, GONE_ALREADY } from "../../../src/sync/aftercare.ts";
import { noteScanned, othersScanned } from "../../../src/sync/parts-scanned.ts";
import { Settler } from "../../../src/sync/settler.ts";
import { Sync } from "../../../src/sync/sync.ts";
import { emptyScan } from "../../fakes/fake-reader.ts";
import { onDisk, sent, settling } from "./a-settler.ts";
import { SECOND, SyncDesk } from "./desk.ts";

const ONLINE: MirrorStatus = {
  mirrorId: 1,
  online: true,
  why: "",
  device: "8:1/ef53/2",
  mode: "native",
};

const topOf = (part: number) =>
  ["a", "b", "c", "d", "e"].find((top) => partOf(rawOfText(top), 2) === part) ?? "";
/** Top directories of either part. */
const [ONE, TWO] = [topOf(1), topOf(2)];

const seeks = (...parts: number[]): Duty[] => [
  "account:1",
  ...parts.map((part): Duty => `mirror:1/${part}of2`),
];

/** A has the first part, and b the second one. */
async function twoDesks(
  mirror: NonNullable<Parameters<typeof SyncDesk.open>[0]>["mirrors"] = [{}],
) {
  const mirrors = mirror.map((set) => ({ parts: 2, ...set }));
  const a = await SyncDesk.open({ member: "a", seeks: seeks(1), mirrors });
  const b = await SyncDesk.open({ member: "b", seeks: seeks(2), mirrors, beside: a });
  return { a, b };
}

const open = (desk: SyncDesk) =>
  Sync.open(
    desk.context,
    () => null,
    () => {},
  );

test("what a reader reports of another's part is not taken in", async () => {
  const { a, b } = await twoDesks();
  const [syncA, syncB] = [await open(a), await open(b)];
  const seen = { sizeBytes: 5, modifiedAt: 0, stamp: "x" };
  const files = ["x.pdf", `${ONE}/y.pdf`, `${TWO}/z.pdf`].map((path) => {
    return { path: path as RawPath, seen };
  });
  await syncB.readerCalls.hint(1, files);
  const names = () => [...a.journal.store.documents.values()].map(({ name }) => name).toSorted();
  expect(names()).toEqual(["z.pdf"]);
  await syncA.readerCalls.hint(1, files);
  expect(names()).toEqual(["x.pdf", "y.pdf", "z.pdf"]);
  const empty = (dir: string) => ({ dir: rawOfText(dir), fingerprint: "f", files: [] });
  expect(await syncB.readerCalls.listing(1, empty(""))).toBe(false);
  expect(await syncB.readerCalls.listing(1, empty(ONE))).toBe(false);
  expect(names(), "nothing has vanished").toHaveLength(3);
  expect(await syncB.readerCalls.listing(1, empty(TWO))).toBe(true);
  expect(names()).toEqual(["x.pdf", "y.pdf"]);
});

test("what a scan takes for vanished of another's part is not believed", async () => {
  const { a, b } = await twoDesks();
  a.pending({ path: `${ONE}/y.pdf` });
  b.pending({ path: `${TWO}/z.pdf` });
  const sync = await open(b);
  b.reader.onScan = () => ({ ...emptyScan(), vanished: ["", ONE, TWO].map(rawOfText) });
  await b.run(sync);
  await sync.told(ONLINE);
  await b.advance(SECOND);
  expect([...a.journal.store.documents.values()].map(({ name }) => name)).toEqual(["y.pdf"]);
});

test("each settles and puts away what is in its part", async () => {
  const { a, b } = await twoDesks([{ after: { kind: "delete" } }]);
  const rows = ["x.pdf", `${ONE}/y.pdf`, `${TWO}/z.pdf`].map((path, n) => {
    onDisk(b, path, `d${n}`);
    return settling(a, path, `d${n}`);
  });
  const folderId = a.archive.addFolder("Scans");
  for (const [n, path] of [`${ONE}/1.pdf`, `${TWO}/2.pdf`].entries()) {
    const filename = `${n + 1}.pdf`;
    const documentId = a.archive.addDocument({ folderId, filename, status: "CONVERTED" });
    sent(a, path, `s${n}`, { after: "due", documentId, folderId, sentName: filename });
  }
  await b.run(new Settler(b.context), new Aftercare(b.context));
  await b.advance(3 * SECOND);
  const states = async () => Promise.all(rows.map(async ({ id }) => (await a.row(id)).state));
  expect(await states()).toEqual(["settling", "settling", "pending"]);
  expect(b.reader.acted).toEqual([`${TWO}/2.pdf`]);
  await a.run(new Settler(a.context), new Aftercare(a.context));
  await a.advance(3 * SECOND);
  expect(await states()).toEqual(["pending", "pending", "pending"]);
  expect(a.reader.acted).toEqual([`${ONE}/1.pdf`]);
  const batches = await Promise.all(rows.map(async ({ id }) => (await a.row(id)).batch));
  expect(new Set(batches.slice(0, 2)).size, "one batch each").toBe(1);
});

test("a file that is moved from part to part follows, unless it may be in the other one's hand", async () => {
  const { a, b } = await twoDesks([{ after: { kind: "delete" } }]);
  const before = sent(a, `${ONE}/was.pdf`, "d1", { after: "due" });
  const { id } = settling(b, `${TWO}/is.pdf`, "d1");
  const settler = new Settler(b.context);
  await b.run(settler);
  await b.advance(3 * SECOND);
  expect((await a.row(id)).state, "it waits").toBe("settling");
  expect((await a.row(before)).dir).toBe(ONE);
  // The other one had not begun.
  const set = { after: null, afterMessage: GONE_ALREADY } as const;
  await a.journal.apply([{ type: "note", id: before.id, at: 1, why: "x", set }]);
  await b.advance(2 * SECOND);
  expect(await a.journal.document(id)).toBeUndefined();
  expect(await a.row(before)).toMatchObject({ dir: TWO, after: "due", goneAt: null });
  // What the other one finds gone meanwhile is at another place by now.
  const sync = await open(a);
  await sync.readerCalls.hint(1, [{ path: `${ONE}/was.pdf` as RawPath, seen: null }]);
  expect((await a.row(before)).goneAt).toBeNull();
});

test("so does one whose name in the other part is used anew", async () => {
  const { a, b } = await twoDesks([{ after: { kind: "delete" } }]);
  const before = sent(a, `${ONE}/was.pdf`, "d1", { after: "due", current: false });
  const anew = settling(a, `${ONE}/was.pdf`, "d2", { supersedes: before.id });
  onDisk(b, `${ONE}/was.pdf`, "d2");
  const { id } = settling(b, `${TWO}/is.pdf`, "d1");
  await b.run(new Settler(b.context));
  await b.advance(3 * SECOND);
  expect((await a.row(id)).state, "it waits").toBe("settling");
  const set = { after: "refused", afterMessage: "FILE_CHANGED: so" } as const;
  await a.journal.apply([{ type: "note", id: before.id, at: 1, why: "x", set }]);
  await b.advance(2 * SECOND);
  expect(await a.row(before)).toMatchObject({ dir: TWO, current: true, after: "due" });
  expect((await a.row(anew)).supersedes).toBeNull();
});

test("a mirror was scanned when all who lead it have scanned their parts", async () => {
  const { a, b } = await twoDesks();
  expect(await othersScanned(a.context, 1)).toBe(false);
  await noteScanned(a.context, 1);
  expect(await othersScanned(a.context, 1)).toBe(false);
  await noteScanned(b.context, 1);
  expect([await othersScanned(a.context, 1), await othersScanned(b.context, 1)]).toEqual([
    true,
    true,
  ]);
  b.crew?.leave();
  expect(await othersScanned(a.context, 1), "nobody has the other part").toBe(false);
  const mirrors = [{ parts: 2 }];
  const c = await SyncDesk.open({ member: "c", seeks: seeks(2), mirrors, beside: a });
  expect(await othersScanned(a.context, 1), "c has not scanned it").toBe(false);
  await noteScanned(c.context, 1);
  expect(await othersScanned(a.context, 1)).toBe(true);
});

test("the first run is over once every part was scanned", async () => {
  const { a, b } = await twoDesks([{ firstRun: "hold" }]);
  sent(a, `${ONE}/1.pdf`, "d1");
  const syncs = [await open(a), await open(b)] as const;
  const firstRuns = () => a.journal.firstRuns();
  await a.run(syncs[0]);
  await syncs[0].told(ONLINE);
  await a.advance(10 * SECOND);
  expect(a.reader.scans).toBe(1);
  expect(await firstRuns()).toEqual([1]);
  await b.run(syncs[1]);
  await syncs[1].told(ONLINE);
  await a.advance(10 * SECOND);
  expect(await firstRuns()).toEqual([]);
});

test("an empty source is not remembered as the mirror's by one of several that lead it", async () => {
  const { a } = await twoDesks();
  const sync = await open(a);
  const device = async () => (await a.journal.mirrors())[0]?.device;
  await sync.told({ ...ONLINE, isEmpty: true });
  expect(await device()).toBeNull();
  await sync.told({ ...ONLINE, isEmpty: false });
  expect(await device()).toBe(ONLINE.device);
});

test("who has all parts does as one that is alone; who heads it has the first", async () => {
  const desk = await SyncDesk.open({ member: "a", mirrors: [{ parts: 3 }] });
  const { duties } = desk.context;
  expect([duties?.division(1), duties?.heads(1), duties?.leads(1)]).toEqual([
    undefined,
    true,
    true,
  ]);
  const { a, b } = await twoDesks();
  expect(a.context.duties?.heads(1)).toBe(true);
  expect(b.context.duties?.heads(1)).toBe(false);
  expect(b.context.duties?.division(1)).toEqual({ of: 2, own: [2] });
});
