import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import type { Document } from "../../../src/domain/document.ts";
import { rawOfText, shown } from "../../../src/std/raw-path.ts";
import { AfterLoop } from "../../../src/sync/after-loop.ts";
import { Poller } from "../../../src/sync/poller.ts";
import type { FakeReader } from "../../fakes/fake-reader.ts";
import { refused, unauthorized, unreachable } from "../../fakes/scripted-archive.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { onDisk } from "./a-settler.ts";
import { CHANGING_ARCHIVE, HOUR, MINUTE, SECOND, SyncDesk } from "./desk.ts";
import type { After } from "../../../src/config/place-kinds.ts";

/** A desk with one converted document whose file is to be moved or deleted, and its id in the archive. */
async function aFinished(set: Partial<Document> = {}) {
  const desk = await SyncDesk.open({ mirrors: [{ after: { kind: "move", to: "/srv/done" } }] });
  const folderId = desk.archive.addFolder("Scans");
  const { row, documentId } = finished(desk, folderId, "2026/scan.pdf", set);
  return { desk, row, documentId, folderId, afterLoop: new AfterLoop(desk.context) };
}

/** A converted document of this folder whose file is to be moved or deleted. */
function finished(desk: SyncDesk, folderId: number, path: string, set: Partial<Document> = {}) {
  const filename = basename(path);
  const documentId = desk.archive.addDocument({ folderId, filename, status: "CONVERTED" });
  const columns = { state: "converted", documentId, folderId, sentName: filename } as const;
  const row = desk.put({ path, ...columns, after: "due", dueAt: null, ...set });
  return { row, documentId };
}

describe("the first key: the archive says it again", () => {
  test("both keys fit: the file is moved or deleted, and where to is remembered", async () => {
    const { desk, row, afterLoop } = await aFinished();
    desk.reader.onAct = () => ({ kind: "done", to: "/srv/done/2026/scan.pdf" });
    await desk.run(afterLoop);
    expect(desk.reader.acted).toEqual(["2026/scan.pdf"]);
    expect(await desk.row(row)).toMatchObject({
      state: "converted",
      after: "done",
      afterMessage: "/srv/done/2026/scan.pdf",
      goneAt: desk.clock.now(),
    });
  });

  test("what it left is listed again: a file that comes back there just as it was is noticed", async () => {
    const { desk, afterLoop } = await aFinished();
    const dir = rawOfText("2026");
    await desk.journal.apply([{ type: "directory", mirrorId: 1, dir, fingerprint: "print" }]);
    desk.reader.onAct = () => ({ kind: "done", to: "/srv/done/2026/scan.pdf" });
    await desk.run(afterLoop);
    expect(await desk.journal.directories(1)).toEqual([]);
    expect(desk.reader.unlearned).toEqual([dir]);
  });

  test.for([
    [{ status: "UPLOADED" }, /is UPLOADED/, "it may never be converted after all"],
    [{ filename: "other.pdf" }, /now named other\.pdf/, "it may be another document"],
    [{ folderId: 1 }, /now in folder 1/, "someone moved it; a person is to look"],
    [{ filesize: 17 }, /reports 17 bytes, 1000 were sent/, "it has not all of it"],
    [{ filesize: 0 }, /reports 0 bytes, 1000 were sent/, "it has nothing of it"],
  ] as const)("the archive has %o: refused, because %s", async ([set, message]) => {
    const { desk, row, documentId, afterLoop } = await aFinished();
    desk.archive.change(documentId, set);
    await desk.run(afterLoop);
    const { after, afterMessage } = await desk.row(row);
    expect(after).toBe("refused");
    expect(afterMessage).toMatch(message);
    expect(desk.reader.acted).toEqual([]);
  });

  test("of an archive that changes documents the size proves nothing", async () => {
    const { desk, row, documentId, folderId } = await aFinished();
    desk.archive.change(documentId, { filesize: 17 });
    const config = { ...desk.context.config, archive: CHANGING_ARCHIVE };
    await desk.run(new AfterLoop({ ...desk.context, config }));
    expect(await desk.row(row)).toMatchObject({ after: "done", folderId });
  });

  test("what was claimed by name and size stays, and the archive is not even asked", async () => {
    const { desk, row, afterLoop } = await aFinished({ sentBytes: null });
    await desk.run(afterLoop);
    expect(await desk.row(row)).toMatchObject({ after: null, goneAt: null });
    expect(desk.reader.acted).toEqual([]);
    expect(desk.archive.count()).toBe(0);
  });

  test("a name that the archive lists decomposed is the same name", async () => {
    const { desk, folderId, afterLoop } = await aFinished();
    const { row, documentId } = finished(desk, folderId, "\u00e9.pdf");
    desk.archive.change(documentId, { filename: "e\u0301.pdf" });
    await desk.run(afterLoop);
    expect((await desk.row(row)).after).toBe("done");
  });

  test("the archive does not know it any more: refused", async () => {
    const { desk, row, documentId, afterLoop } = await aFinished();
    desk.archive.vanish(documentId);
    await desk.run(afterLoop);
    expect(await desk.row(row)).toMatchObject({ after: "refused" });
    expect(desk.reader.acted).toEqual([]);
  });

  test("a digest that is not known: refused, and the archive is not even asked", async () => {
    const { desk, row, afterLoop } = await aFinished({ digest: null });
    await desk.run(afterLoop);
    expect((await desk.row(row)).after).toBe("refused");
    expect(desk.archive.count()).toBe(0);
    expect(desk.reader.acted).toEqual([]);
  });

  test("a refusal is final: nobody asks again", async () => {
    const { desk, documentId, afterLoop } = await aFinished();
    desk.archive.vanish(documentId);
    await desk.run(afterLoop);
    await desk.advance(HOUR);
    expect(desk.archive.count()).toBe(1);
  });

  test.for([
    [unreachable(), "nobody answered"],
    [unauthorized(), "no question is answered"],
    [refused("INVALID_DOC_ID"), "that says nothing about the document"],
  ] as const)("the archive answers %s: again later, because %s", async ([error]) => {
    const { desk, row, afterLoop } = await aFinished();
    desk.archive.fail("document", error, error);
    await desk.run(afterLoop);
    expect(await desk.row(row)).toMatchObject({ after: "due" });
    expect(desk.reader.acted).toEqual([]);
    await desk.advance(30 * SECOND);
    expect((await desk.row(row)).after).toBe("done");
  });
});

describe("the second key: the file", () => {
  const problem = (code: string) =>
    ({ kind: "refused", problem: { code, message: "so" } }) as const;

  test.for([
    [problem("FILE_CHANGED"), "refused", /FILE_CHANGED: so/, "the bytes were never sent"],
    [problem("AFTER_REFUSED"), "due", /AFTER_REFUSED: so/, "no right or no room: may be fixed"],
    [problem("FILE_UNREADABLE"), "due", /FILE_UNREADABLE: so/, "the same for the file itself"],
    [{ kind: "gone" }, null, /gone already/, "someone removed it, or moved it elsewhere"],
    [problem("SOURCE_OFFLINE"), "due", null, "a share that is away comes back"],
  ] as const)("the reader answers %o: %s", async ([acted, after, message]) => {
    const { desk, row, afterLoop } = await aFinished();
    desk.reader.onAct = () => acted;
    await desk.run(afterLoop);
    const found = await desk.row(row);
    expect(found.after).toBe(after);
    if (message === null) expect(found.afterMessage).toBeNull();
    else expect(found.afterMessage).toMatch(message);
  });

  test("a source that is away is asked again until it is back", async () => {
    const { desk, row, afterLoop } = await aFinished();
    desk.reader.onAct = () => problem("SOURCE_OFFLINE");
    await desk.run(afterLoop);
    await desk.advance(5 * MINUTE);
    expect((await desk.row(row)).after).toBe("due");
    desk.reader.onAct = () => ({ kind: "done" });
    await desk.advance(MINUTE);
    expect((await desk.row(row)).after).toBe("done");
  });

  test("a disk that is full for a night: it is tried less and less often, and moved or deleted then", async () => {
    const { desk, row, afterLoop } = await aFinished();
    desk.reader.onAct = () => problem("AFTER_REFUSED");
    await desk.run(afterLoop);
    await desk.advance(10 * HOUR);
    expect(await desk.row(row)).toMatchObject({ after: "due", afterMessage: "AFTER_REFUSED: so" });
    expect(desk.reader.acted.length).toBeLessThan(40);
    expect(desk.warnings, "said once").toEqual(["not moved or deleted: AFTER_REFUSED: so"]);
    desk.reader.onAct = () => ({ kind: "done", to: "/srv/done/scan.pdf" });
    await desk.advance(3 * HOUR);
    expect(await desk.row(row)).toMatchObject({ after: "done", dueAt: null });
  });

  test("a full disk is not tried with each of many files, nor is the archive asked about each", async () => {
    const { desk, folderId, afterLoop } = await aFinished();
    const rows = Array.from(
      { length: 200 },
      (_, n) => finished(desk, folderId, `scan-${n}.pdf`).row,
    );
    desk.reader.onAct = () => problem("AFTER_REFUSED");
    await desk.run(afterLoop);
    expect(desk.reader.acted).toHaveLength(3);
    expect(desk.archive.count()).toBe(3);
    expect(await desk.journal.afterPending(500), "each knows why").toHaveLength(201);
    await desk.advance(24 * HOUR);
    expect(desk.reader.acted.length).toBeLessThan(100);
    desk.reader.onAct = () => ({ kind: "done" });
    // The first is due within six hours; the others go with it.
    await desk.advance(6 * HOUR);
    for (const row of rows) expect((await desk.row(row)).after).toBe("done");
  });

  test("room is made after a while: the first that is moved or deleted brings the others along", async () => {
    const { desk, row, folderId, afterLoop } = await aFinished();
    const putOff = Array.from({ length: 120 }, (_, n) => {
      const set = { dueAt: desk.clock.now() + 5 * HOUR + n, afterMessage: "no room" };
      return finished(desk, folderId, `scan-${n}.pdf`, set).row;
    });
    desk.reader.onAct = () => ({ kind: "done" });
    await desk.run(afterLoop);
    await desk.advance(SECOND);
    for (const each of [row, ...putOff]) expect((await desk.row(each)).after).toBe("done");
  });

  test("room for small ones only: not all the large ones are tried with each", async () => {
    const { desk, folderId, afterLoop } = await aFinished();
    for (let n = 0; n < 400; n++)
      finished(desk, folderId, `${n % 20 === 0 ? "small" : "large"}-${n}.pdf`);
    desk.reader.onAct = (path) =>
      shown(path).startsWith("large") ? problem("AFTER_REFUSED") : { kind: "done" };
    await desk.run(afterLoop);
    await desk.advance(24 * HOUR);
    expect(desk.reader.acted.length).toBeLessThan(200);
    expect((await desk.journal.afterPending(500)).length).toBeLessThan(400);
  });

  test("files that cannot be moved or deleted for their own sake keep nobody waiting for long", async () => {
    const { desk, row, folderId, afterLoop } = await aFinished({ dueAt: 50 });
    for (let n = 0; n < 20; n++) finished(desk, folderId, `bad-${n}.pdf`, { dueAt: n });
    desk.reader.onAct = (path) =>
      shown(path).startsWith("bad") ? problem("AFTER_REFUSED") : { kind: "done" };
    await desk.run(afterLoop);
    await desk.advance(MINUTE);
    expect((await desk.row(row)).after).toBe("done");
  });

  test("nor do more of them than are looked at in one go", async () => {
    const { desk, folderId, afterLoop } = await aFinished();
    for (let n = 0; n < 60; n++) finished(desk, folderId, `bad-${n}.pdf`, { dueAt: 1 });
    const good = finished(desk, folderId, "good.pdf", { dueAt: 1 }).row;
    desk.reader.onAct = (path) =>
      shown(path).startsWith("bad") ? problem("AFTER_REFUSED") : { kind: "done" };
    await desk.run(afterLoop);
    await desk.advance(72 * HOUR);
    expect((await desk.row(good)).after).toBe("done");
  });

  test("nor do those that are due whenever a rest is over", async () => {
    const { desk, row, folderId, afterLoop } = await aFinished();
    for (let n = 0; n < 8; n++) finished(desk, folderId, `bad-${n}.pdf`);
    desk.reader.onAct = () => problem("AFTER_REFUSED");
    await desk.run(afterLoop);
    await desk.advance(48 * HOUR);
    const later = finished(desk, folderId, "good.pdf", {
      dueAt: desk.clock.now() + 400 * HOUR,
    }).row;
    desk.reader.onAct = (path) =>
      shown(path).startsWith("good") ? { kind: "done" } : problem("AFTER_REFUSED");
    await desk.advance(7 * HOUR);
    expect((await desk.row(later)).after).toBe("done");
    expect((await desk.row(row)).after).toBe("due");
  });

  /** A desk whose mirror has rested for two days over four files that are due in hours, and one more of it. */
  async function afterRests(name: string) {
    const { desk, folderId, afterLoop } = await aFinished();
    for (let n = 0; n < 3; n++) finished(desk, folderId, `bad-${n}.pdf`);
    desk.reader.onAct = () => problem("AFTER_REFUSED");
    await desk.run(afterLoop);
    await desk.advance(48 * HOUR);
    const { row } = finished(desk, folderId, name, { dueAt: 1 });
    return { desk, row };
  }

  test("after its rest an archive that is away is asked no more often than else", async () => {
    const { desk, row } = await afterRests("good.pdf");
    desk.reader.onAct = () => ({ kind: "done" });
    const away = Array.from({ length: 10_000 }, () => unreachable());
    desk.archive.forgetAsked();
    desk.archive.fail("document", ...away);
    await desk.advance(HOUR);
    // About each of the five files that may be due every ten seconds.
    expect(desk.archive.count("document")).toBeLessThan(5 * 6 * 60);
    expect((await desk.row(row)).after).toBe("due");
  });

  test("after its rest a file that cannot be read is read no more often than else", async () => {
    const { desk, row } = await afterRests("unread.pdf");
    let reads = 0;
    desk.reader.onAct = (path) => {
      if (shown(path) !== "unread.pdf") return problem("AFTER_REFUSED");
      reads += 1;
      if (reads > 100) throw new Error("read without end");
      return problem("FILE_UNREADABLE");
    };
    await desk.advance(48 * HOUR);
    expect(reads).toBeGreaterThan(1);
    expect((await desk.row(row)).after).toBe("due");
  });

  test("one that is refused again and again keeps nobody waiting", async () => {
    const { desk, row, folderId, afterLoop } = await aFinished();
    finished(desk, folderId, "bad.pdf");
    const other = finished(desk, folderId, "later.pdf", { dueAt: desk.clock.now() + HOUR }).row;
    desk.reader.onAct = (path) =>
      shown(path) === "bad.pdf" ? problem("AFTER_REFUSED") : { kind: "done" };
    await desk.run(afterLoop);
    expect((await desk.row(row)).after).toBe("done");
    desk.reader.onAct = () => problem("AFTER_REFUSED");
    await desk.advance(HOUR - SECOND);
    expect(desk.reader.acted.length).toBeGreaterThan(5);
    await desk.advance(SECOND);
    expect(desk.reader.acted.filter((path) => path === "later.pdf")).toHaveLength(1);
    expect((await desk.row(other)).after).toBe("due");
  });

  test("a reader that dies under it is asked again", async () => {
    const { desk, row, afterLoop } = await aFinished();
    desk.reader.cutNext("act");
    await desk.run(afterLoop);
    expect((await desk.row(row)).after).toBe("due");
    await desk.advance(MINUTE);
    expect((await desk.row(row)).after).toBe("done");
  });

  test("`keep` in the meantime: nothing is done, and nothing is asked", async () => {
    const desk = await SyncDesk.open();
    const row = desk.put({ state: "converted", documentId: 5, after: "due", dueAt: null });
    await desk.run(new AfterLoop(desk.context));
    expect((await desk.row(row)).after).toBeNull();
    expect(desk.archive.count()).toBe(0);
    expect(desk.reader.acted).toEqual([]);
  });
});

describe("many", () => {
  test("all are moved or deleted, one question each", async () => {
    const { desk, folderId, afterLoop } = await aFinished();
    for (let n = 0; n < 120; n++) finished(desk, folderId, `scan-${n}.pdf`);
    await desk.run(afterLoop);
    expect(desk.reader.acted).toHaveLength(121);
    expect(desk.archive.count()).toBe(121);
  });

  test("those of a mirror that is not configured any more keep nobody waiting", async () => {
    const { desk, row, afterLoop } = await aFinished({ dueAt: 5 });
    await desk.journal.mirror("removed", "/srv/removed");
    for (let n = 0; n < 60; n++) {
      const documentId = 900_000 + n;
      desk.put({ state: "converted", mirrorId: 2, documentId, after: "due", dueAt: null });
    }
    await desk.run(afterLoop);
    await desk.advance(MINUTE);
    expect((await desk.row(row)).after).toBe("done");
    expect((await desk.row(2)).after).toBe("due");
  });

  test("those of a mirror that comes back are moved or deleted at the start", async () => {
    const done = { after: { kind: "delete" } } as const;
    const desk = await SyncDesk.open({ mirrors: [done, { ...done, source: "/srv/b" }] });
    const folderId = desk.archive.addFolder("Scans");
    const put = (mirrorId: number) => {
      const filename = `${mirrorId}.pdf`;
      const documentId = desk.archive.addDocument({ folderId, filename });
      const state = "uploaded";
      const uploadedAt = desk.clock.now();
      return desk.put({ state, path: filename, documentId, folderId, mirrorId, uploadedAt });
    };
    const row = put(2);
    // Taken out of the configuration while it is converted.
    const mirrors = new Map([...desk.context.mirrors].slice(0, 1));
    const without = { ...desk.context, mirrors };
    const before = new AbortController();
    const { signal } = before;
    const afterLoop = { run: () => new AfterLoop(without).run(signal).catch(() => undefined) };
    await desk.run(new Poller(without, await desk.keeper()), afterLoop);
    desk.archive.change(row.documentId ?? 0, { status: "CONVERTED" });
    await desk.advance(HOUR);
    expect(await desk.row(row)).toMatchObject({ state: "converted", after: "due" });
    expect(desk.readerOf(2).acted).toEqual([]);
    expect((await desk.journal.afterPending(9)).map(({ id }) => id)).toEqual([row.id]);
    before.abort();
    // Back.
    await desk.run(new AfterLoop(desk.context));
    expect(desk.readerOf(2).acted).toEqual(["2.pdf"]);
    expect((await desk.row(row)).after).toBe("done");
  });

  test("an archive that is away is not asked about each of them again and again", async () => {
    const { desk, folderId, afterLoop } = await aFinished();
    for (let n = 0; n < 30; n++) {
      const documentId = desk.archive.addDocument({ folderId, filename: `${n}.pdf` });
      desk.put({ state: "converted", documentId, folderId, after: "due", dueAt: null });
    }
    desk.archive.fail("document", ...Array.from({ length: 10_000 }, () => unreachable()));
    await desk.run(afterLoop);
    await desk.advance(MINUTE);
    expect(desk.archive.count()).toBeLessThan(31 * 8);
  });

  const away: readonly [string, (reader: FakeReader, isAway: boolean) => void, string][] = [
    [
      "is not up",
      (reader, isAway) => {
        reader.pid = isAway ? undefined : 4711;
      },
      "it may never be, while its share is dead",
    ],
    [
      "is silent",
      (reader, isAway) => {
        reader.silent = isAway;
      },
      "what it was asked would be waited for until it is killed",
    ],
  ];

  test.for(away)("those of a mirror whose reader %s keep nobody waiting", async ([, set]) => {
    const move = { kind: "move", to: "/srv/done" } as const;
    const desk = await SyncDesk.open({
      mirrors: [{ after: move }, { source: "/srv/other", after: move }],
    });
    const folderId = desk.archive.addFolder("Scans");
    const dead = Array.from(
      { length: 120 },
      (_, n) => finished(desk, folderId, `dead-${n}.pdf`).row,
    );
    const { row } = finished(desk, folderId, "well.pdf", { mirrorId: 2 });
    set(desk.reader, true);
    desk.reader.onAct = () => new Promise(() => {});
    await desk.run(new AfterLoop(desk.context));
    await desk.advance(HOUR);
    expect((await desk.row(row)).after).toBe("done");
    expect(desk.archive.count(), "nothing is asked about what cannot be moved or deleted").toBe(1);
    expect(await desk.story(dead[0]!), "nor journaled").toEqual([]);
    set(desk.reader, false);
    desk.reader.onAct = () => ({ kind: "done" });
    await desk.advance(MINUTE);
    for (const each of dead) expect((await desk.row(each)).after).toBe("done");
  });

  test("a reader that goes down in the middle: what is left is not even asked about", async () => {
    const { desk, folderId, afterLoop } = await aFinished();
    for (let n = 0; n < 200; n++) finished(desk, folderId, `scan-${n}.pdf`);
    desk.reader.onAct = () => {
      desk.reader.pid = undefined;
      return { kind: "done" };
    };
    await desk.run(afterLoop);
    await desk.advance(HOUR);
    expect(desk.archive.count()).toBe(1);
    desk.reader.pid = 4711;
    desk.reader.onAct = () => ({ kind: "done" });
    await desk.advance(MINUTE);
    expect(desk.archive.count()).toBe(201);
  });
});

describe("the sidecar that was read for a document", () => {
  const sidecar = { ending: "yaml", digest: "s1", modifiedAt: 1 };

  test.for([
    [{ sentAt: 1 }, "delete", sidecar, "it was sent with it"],
    [
      { sentAt: null },
      "delete",
      null,
      "the archive had the document before, with what nobody knows",
    ],
    [{ sentAt: 1, duplicateOf: 9 }, "delete", null, "another file's was sent with the content"],
    [{ sentAt: null }, "move", sidecar, "nothing of it is lost"],
  ] as const)("%j, %s: %j goes with it, because %s", async ([set, kind, goes]) => {
    const after: After = kind === "delete" ? { kind } : { kind, to: "/srv/done" };
    const desk = await SyncDesk.open({ mirrors: [{ after }] });
    const folderId = desk.archive.addFolder("Scans");
    finished(desk, folderId, "scan.pdf", { ...set, attributes: { sidecar } });
    await desk.run(new AfterLoop(desk.context));
    await desk.advance(2 * HOUR);
    expect(desk.reader.actedOn).toMatchObject([{ sidecar: goes }]);
  });
});

describe("a skipped duplicate", () => {
  /** A copy of what was sent, due since it was found. */
  async function aCopy(after: After = { kind: "delete" }) {
    const rules = { ...NO_RULES, duplicates: "skip" } as const;
    const desk = await SyncDesk.open({ mirrors: [{ rules, after }] });
    const folderId = desk.archive.addFolder("Scans");
    const original = finished(desk, folderId, "scan.pdf", { after: null, digest: "d1" });
    const seen = onDisk(desk, "scan.pdf", "d1");
    desk.journal.store.put({ ...original.row, seen });
    const copy = desk.put({
      path: "Legal/scan.pdf",
      state: "converted",
      digest: "d1",
      after: "due",
      dueAt: null,
      documentId: original.documentId,
      folderId,
      sentName: "scan.pdf",
      seen,
      duplicateOf: original.row.id,
      convertedAt: desk.clock.now(),
    });
    onDisk(desk, "Legal/scan.pdf", "d1");
    return { desk, copy, afterLoop: new AfterLoop(desk.context) };
  }

  test.for([
    ["there", "it is a file like any other by then"],
    ["removed", "a file manager that moves by copying is done"],
  ] as const)("is moved or deleted an hour later, its original being %s: %s", async ([what]) => {
    const { desk, copy, afterLoop } = await aCopy();
    if (what === "removed") desk.reader.files.delete(rawOfText("scan.pdf"));
    await desk.run(afterLoop);
    await desk.advance(HOUR - MINUTE);
    expect(desk.reader.acted).toEqual([]);
    expect(await desk.row(copy)).toMatchObject({ after: "due", afterMessage: null });
    await desk.advance(2 * MINUTE);
    expect(desk.reader.acted).toEqual(["Legal/scan.pdf"]);
    expect(await desk.row(copy)).toMatchObject({ after: "done" });
  });

  test("stays for good under `after: keep`, whatever becomes of its original", async () => {
    const { desk, copy, afterLoop } = await aCopy({ kind: "keep" });
    desk.reader.files.delete(rawOfText("scan.pdf"));
    await desk.run(afterLoop);
    await desk.advance(2 * HOUR);
    expect(desk.reader.acted).toEqual([]);
    expect(await desk.row(copy)).toMatchObject({ after: null, goneAt: null });
  });
});
