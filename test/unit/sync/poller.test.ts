import { describe, expect, test } from "vitest";
import { Poller } from "../../../src/sync/poller.ts";
import type { Document } from "../../../src/domain/document.ts";
import { failed, refused, unauthorized, unreachable } from "../../fakes/scripted-archive.ts";
import { aConfig } from "../../fixtures/a-config.ts";
import { HOUR, MINUTE, SECOND, SyncDesk } from "./desk.ts";

/** A desk with a poller and `count` documents that the archive holds in one folder. */
async function aPoller(count: number, options: Parameters<typeof SyncDesk.open>[0] = {}) {
  const desk = await SyncDesk.open(options);
  const folderId = desk.archive.addFolder("Scans");
  const rows = Array.from({ length: count }, () => uploaded(desk, folderId));
  const keeper = await desk.keeper();
  return { desk, folderId, rows, keeper, poller: new Poller(desk.context, keeper) };
}

/** An uploaded document that both sides know, not CONVERTED yet. */
function uploaded(desk: SyncDesk, folderId: number, set: Partial<Document> = {}): Document {
  const uploadedAt = desk.clock.now();
  const filename = `scan-${desk.journal.store.nextId}.pdf`;
  const documentId = desk.archive.addDocument({ folderId, filename, uploadedDate: uploadedAt });
  return desk.put({ state: "uploaded", folderId, documentId, uploadedAt, ...set });
}

const idOf = (row: Document | undefined) => row?.documentId ?? 0;

describe("requests", () => {
  test.for([
    // due, lists, look-ups, because
    [1, 0, 1, "one document is one question"],
    [2, 0, 2, "two questions about two are cheaper than a list of a large folder"],
    [3, 1, 0, "from three on one list serves all"],
    [100, 1, 0, "a page is as large as what is outstanding"],
    [450, 1, 0, "still one page"],
  ] as const)(
    "%i due in one folder: %i lists, %i look-ups, because %s",
    async ([due, lists, looks]) => {
      const { desk, poller } = await aPoller(due);
      await desk.run(poller);
      expect(desk.archive.count("documents")).toBe(lists);
      expect(desk.archive.count("document")).toBe(looks);
    },
  );

  test("a round is one list a folder, whether or not anything was converted", async () => {
    const { desk, rows, poller } = await aPoller(100);
    await desk.run(poller);
    expect(desk.archive.forgetAsked()).toBe(1);
    for (const row of rows.slice(0, 60)) desk.archive.change(idOf(row), { status: "CONVERTED" });
    await desk.advance(4 * SECOND);
    expect(desk.archive.forgetAsked()).toBe(1);
    expect(desk.states().filter((state) => state === "converted")).toHaveLength(60);
  });

  test("what is outstanding is counted a twentieth of the time, however many are sent meanwhile", async () => {
    const { desk, poller } = await aPoller(100);
    const { clock, journal } = desk;
    const { wakeups } = desk.context;
    const outstanding = journal.outstanding.bind(journal);
    const counted: number[] = [];
    journal.outstanding = async (now) => {
      counted.push(clock.monotonic());
      await clock.pass(5);
      return outstanding(now);
    };
    await desk.run(poller);
    for (let sent = 0; sent < 100; sent++) {
      wakeups.polling.notify();
      await desk.advance(3);
    }
    expect(counted).toEqual([0, 105, 210]);
  });

  test("thousands on their way that fall due one by one share lists, and none waits long", async () => {
    const { desk, folderId, poller } = await aPoller(0);
    const { clock, archive } = desk;
    const dues = Array.from({ length: 2_000 }, (_, index) => clock.now() + index * 10);
    const rows = dues.map((dueAt) => uploaded(desk, folderId, { dueAt }));
    await desk.run(poller);
    for (const row of rows) archive.change(idOf(row), { status: "CONVERTED" });
    archive.forgetAsked();
    await desk.advance(15 * SECOND);
    expect(archive.forgetAsked()).toBe(1);
    expect(new Set(desk.states())).toEqual(new Set(["converted"]));
  });

  test("few are asked about the moment they are due", async () => {
    const { desk, folderId, poller } = await aPoller(0);
    const dues = Array.from({ length: 10 }, (_, index) => desk.clock.now() + index * 500);
    for (const dueAt of dues) uploaded(desk, folderId, { dueAt });
    await desk.run(poller);
    await desk.advance(1_500);
    expect(desk.archive.forgetAsked()).toBe(4);
  });

  test.for([
    [1, "singly"],
    [5, "by a list"],
  ] as const)(
    "%i that are due in an hour are asked about %s where the user waits, once",
    async ([count]) => {
      const { desk, folderId, poller } = await aPoller(0);
      const dueAt = desk.clock.now() + HOUR;
      const rows = Array.from({ length: count }, () => uploaded(desk, folderId, { dueAt }));
      await desk.run(poller);
      desk.archive.change(idOf(rows[0]), { status: "CONVERTED" });
      poller.askAll();
      await desk.advance(MINUTE);
      expect((await desk.row(rows[0] as Document)).state).toBe("converted");
      for (const row of rows.slice(1))
        expect(await desk.row(row)).toMatchObject({ state: "uploaded", dueAt, polls: 0 });
      expect(desk.archive.forgetAsked()).toBe(1);
    },
  );

  test("documents met in a list that was read for others are taken up too", async () => {
    const { desk, folderId, poller } = await aPoller(3);
    const later = uploaded(desk, folderId, { dueAt: desk.clock.now() + HOUR });
    desk.archive.change(idOf(later), { status: "CONVERTED" });
    await desk.run(poller);
    expect((await desk.row(later)).state).toBe("converted");
  });

  test("a list is read no further than the oldest document that is waited for", async () => {
    const { desk, folderId, rows, poller } = await aPoller(3);
    const uploadedDate = desk.clock.now() - 24 * HOUR;
    for (let n = 0; n < 1_000; n++) {
      desk.archive.addDocument({ folderId, filename: `old-${n}.pdf`, uploadedDate });
    }
    desk.archive.unlist(idOf(rows[0]));
    await desk.run(poller);
    expect(desk.archive.count("documents")).toBe(1);
    expect(desk.archive.count("document")).toBe(1);
  });

  test("of documents that are never CONVERTED, with ever more newer ones, no more are asked than there are", async () => {
    const { desk, folderId, rows, poller } = await aPoller(3);
    const uploadedDate = desk.clock.now() + HOUR;
    for (let n = 0; n < 2_000; n++) {
      desk.archive.addDocument({ folderId, filename: `new-${n}.pdf`, uploadedDate });
    }
    await desk.run(poller);
    expect(desk.archive.count("documents")).toBe(3);
    expect(desk.archive.forgetAsked()).toBe(6);
    desk.archive.change(idOf(rows[1]), { status: "CONVERTED" });
    await desk.advance(MINUTE);
    expect(desk.states()).toEqual(["uploaded", "converted", "uploaded"]);
  });

  test("a container that the archive cannot list keeps nobody from being asked about", async () => {
    const { desk, folderId, rows, poller } = await aPoller(3);
    const { archive } = desk;
    const failing = archive.digidoc.bind(archive);
    const broken = uploaded(desk, folderId);
    archive.change(idOf(broken), { status: "CONVERTED", digidoc: true });
    archive.digidoc = async (query, signal) => {
      await failing(query, signal);
      throw failed();
    };
    archive.change(idOf(rows[0]), { status: "CONVERTED" });
    archive.unlist(idOf(rows[0]));
    await desk.run(poller);
    expect(desk.states()).toEqual(["converted", "uploaded", "uploaded", "uploaded"]);
    expect(poller.outage?.tries).toBe(1);
  });

  test("a list that never ends keeps nobody from being asked about", async () => {
    const { desk, folderId, rows, poller } = await aPoller(3);
    const { archive, clock } = desk;
    let id = 1_000_000;
    archive.documents = async (query) => {
      archive.asked.push({ operation: "documents", about: query });
      const filename = "another.pdf";
      const item = { folderId, filename, documentName: filename, createdDate: 0, pages: 1 };
      const rest = { uploadedDate: clock.now() + HOUR, digidoc: false, filesize: 1 };
      const documents = Array.from({ length: 100 }, () => ({ ...item, ...rest, id: id++ }));
      return { paginationSize: 100, paginationPages: 1e7, documents };
    };
    for (const row of rows) archive.change(idOf(row), { status: "CONVERTED" });
    await desk.run(poller);
    expect(archive.count("documents")).toBeLessThan(10);
    expect(desk.states()).toEqual(["converted", "converted", "converted"]);
    expect(poller.outage).toBeUndefined();
  });
});

describe("consecutiveFailures", () => {
  test("lists that fail while documents are sent are asked for no sooner for it", async () => {
    const { desk, poller } = await aPoller(3);
    desk.archive.fail("documents", ...Array.from({ length: 1_000 }, unreachable));
    await desk.run(poller);
    for (let sent = 0; sent < 600; sent++) {
      desk.context.wakeups.polling.notify();
      await desk.advance(100);
    }
    expect(desk.archive.count("documents")).toBeLessThan(8);
  });

  test("each document is asked for ever more rarely, up to the maximum", async () => {
    const { desk, rows, poller } = await aPoller(1);
    await desk.run(poller);
    const waits = [];
    for (let round = 0; round < 9; round++) {
      const { dueAt } = await desk.row(rows[0]?.id ?? 0);
      const waitMs = (dueAt ?? 0) - desk.clock.now();
      waits.push(waitMs / SECOND);
      await desk.advance(waitMs);
    }
    expect(waits).toEqual([4, 8, 16, 32, 64, 128, 256, 300, 300]);
    expect(desk.archive.count()).toBe(10);
  });

  test("one that is met before its time loses no patience", async () => {
    const { desk, folderId, poller } = await aPoller(3);
    const later = uploaded(desk, folderId, { dueAt: desk.clock.now() + MINUTE, polls: 4 });
    await desk.run(poller);
    expect(await desk.row(later)).toMatchObject({ polls: 4, dueAt: later.dueAt });
  });

  test("what is stuck is said once a spell, and followed all the same", async () => {
    const { desk, rows, poller } = await aPoller(1, {
      config: aConfig("conversion: { poll: { initial: 1s, max: 1h } }"),
    });
    const id = rows[0]?.id ?? 0;
    await desk.run(poller);
    await desk.advance(22 * HOUR);
    expect((await desk.row(id)).problem).toBeNull();
    await desk.advance(4 * HOUR);
    expect(await desk.row(id)).toMatchObject({
      state: "uploaded",
      problem: { code: "CONVERSION_STUCK" },
    });
    await desk.advance(72 * HOUR);
    const told = (await desk.story(id)).filter((line) => line.includes("CONVERSION_STUCK"));
    expect(told).toHaveLength(1);
    desk.archive.change(idOf(rows[0]), { status: "CONVERTED" });
    await desk.advance(HOUR);
    expect(await desk.row(id)).toMatchObject({ state: "converted", problem: null });
  });
});

describe("documents that vanish", () => {
  test("a list alone never says so: the document itself is asked for", async () => {
    const { desk, rows, poller } = await aPoller(5);
    desk.archive.unlist(idOf(rows[2]));
    await desk.run(poller);
    await desk.advance(HOUR);
    expect(desk.states()).toEqual(Array(5).fill("uploaded"));
    expect((await desk.row(rows[2]?.id ?? 0)).problem).toBeNull();
  });

  test("one the archive does not know for longer than the grace has failed", async () => {
    const { desk, rows, poller } = await aPoller(1);
    const id = rows[0]?.id ?? 0;
    desk.archive.vanish(idOf(rows[0]));
    await desk.run(poller);
    await desk.advance(59 * SECOND);
    expect(await desk.row(id)).toMatchObject({
      state: "uploaded",
      problem: { code: "DOC_NOT_EXIST" },
    });
    await desk.advance(2 * MINUTE);
    expect(await desk.row(id)).toMatchObject({
      state: "failed",
      problem: { code: "DOC_NOT_EXIST" },
    });
  });

  test("the grace begins when it is first missed, not when it was uploaded", async () => {
    const { desk, folderId, poller } = await aPoller(0, {
      config: aConfig("conversion: { poll: { initial: 500ms, max: 1s } }"),
    });
    const { id, documentId } = uploaded(desk, folderId, {
      uploadedAt: desk.clock.now() - 10 * HOUR,
    });
    desk.archive.fail("document", refused("DOC_NOT_EXIST"), refused("DOC_NOT_EXIST"));
    await desk.run(poller);
    await desk.advance(10 * SECOND);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", problem: null });
    desk.archive.vanish(documentId ?? 0);
    await desk.advance(58 * SECOND);
    expect((await desk.row(id)).state).toBe("uploaded");
    await desk.advance(5 * SECOND);
    expect((await desk.row(id)).state).toBe("failed");
  });

  test("a folder that is gone costs the documents of other folders nothing", async () => {
    const { desk, folderId, poller } = await aPoller(3);
    const other = desk.archive.addFolder("Other");
    const elsewhere = Array.from({ length: 3 }, () => uploaded(desk, other));
    for (const row of elsewhere) desk.archive.change(idOf(row), { status: "CONVERTED" });
    desk.archive.removeFolder(folderId);
    await desk.run(poller);
    await desk.advance(MINUTE);
    expect(desk.states()).toEqual([...Array(3).fill("uploaded"), ...Array(3).fill("converted")]);
  });
});

describe("CONVERTED", () => {
  test("is final, with what the archive counted", async () => {
    const { desk, rows, poller } = await aPoller(1);
    const set = { status: "CONVERTED", pages: 3, filesize: 777 };
    desk.archive.change(idOf(rows[0]), set);
    await desk.run(poller);
    expect(await desk.row(rows[0]?.id ?? 0)).toMatchObject({
      state: "converted",
      archiveStatus: "CONVERTED",
      pages: 3,
      archiveBytes: 777,
      dueAt: null,
      convertedAt: desk.clock.now(),
      after: null,
    });
    await desk.advance(HOUR);
    expect(desk.archive.count()).toBe(1);
  });

  test.for([
    [1_000, null, null, "as many as were sent"],
    [17, null, "the archive reports 17 bytes, 1000 were sent", "it is not all of it"],
    [0, "sent old", "sent old; the archive reports 0 bytes, 1000 were sent", "both are worth it"],
  ] as const)("with %i bytes, and remarked %j: %j, because %s", async ([filesize, was, remark]) => {
    const { desk, poller } = await aPoller(0);
    const row = uploaded(desk, desk.archive.addFolder("Other"), { remark: was });
    desk.archive.change(idOf(row), { status: "CONVERTED", filesize });
    await desk.run(poller);
    expect(await desk.row(row)).toMatchObject({ state: "converted", remark });
  });

  test.for([
    [{ kind: "keep" }, null, "nothing is to be done"],
    [{ kind: "delete" }, "due", "the file is to go"],
    [{ kind: "move", to: "/srv/done" }, "due", "the file is to be moved or deleted"],
  ] as const)("after %o it is %s, because %s", async ([after, due]) => {
    const { desk, rows, poller } = await aPoller(1, { mirrors: [{ after }] });
    desk.archive.change(idOf(rows[0]), { status: "CONVERTED" });
    await desk.run(poller);
    expect((await desk.row(rows[0]?.id ?? 0)).after).toBe(due);
  });

  test("a digidoc's contents are read a hundred at a time, and journaled", async () => {
    const { desk, rows, poller } = await aPoller(1);
    const names = Array.from({ length: 250 }, (_, n) => `part-${n}.pdf`);
    desk.archive.change(idOf(rows[0]), { status: "CONVERTED", digidoc: true });
    desk.archive.setContents(idOf(rows[0]), names);
    await desk.run(poller);
    expect(desk.archive.count("digidoc")).toBe(3);
    const contents = await desk.journal.contents(rows[0]?.id ?? 0);
    expect(contents.map(({ filename }) => filename)).toEqual(names);
    expect(await desk.row(rows[0]?.id ?? 0)).toMatchObject({ state: "converted", digidoc: true });
  });

  test("before CONVERTED nothing is asked about a digidoc's contents", async () => {
    const { desk, rows, poller } = await aPoller(1);
    desk.archive.change(idOf(rows[0]), { digidoc: true });
    await desk.run(poller);
    expect(desk.archive.count("digidoc")).toBe(0);
  });

  test("contents that cannot be read are asked for again; the document is not called missing", async () => {
    const { desk, rows, poller } = await aPoller(1);
    const id = rows[0]?.id ?? 0;
    desk.archive.change(idOf(rows[0]), { status: "CONVERTED", digidoc: true });
    desk.archive.setContents(idOf(rows[0]), ["a.pdf"]);
    desk.archive.fail("digidoc", refused("DOC_NOT_EXIST"), unreachable());
    await desk.run(poller);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", problem: null });
    await desk.advance(MINUTE);
    expect((await desk.row(id)).state).toBe("converted");
    expect(await desk.journal.contents(id)).toHaveLength(1);
  });
});

describe("an archive that cannot be asked", () => {
  test.for([
    [4, { digidoc: true }, "the containers of a folder"],
    [2, {}, "a few documents"],
  ] as const)(
    "of %i one that it fails to tell of holds up none of the others: %o, %s",
    async ([count, set]) => {
      const { desk, rows, poller } = await aPoller(count);
      for (const row of rows) desk.archive.change(idOf(row), { status: "CONVERTED", ...set });
      const broken = rows["digidoc" in set ? count - 1 : 0];
      desk.archive.break(idOf(broken));
      await desk.run(poller);
      expect(desk.states().filter((state) => state === "converted")).toHaveLength(count - 1);
      expect((await desk.row(broken?.id ?? 0)).state).toBe("uploaded");
      expect(poller.outage?.problem.code).toBe("INTERNAL_ERROR");
      desk.archive.break(idOf(broken), false);
      await desk.advance(MINUTE);
      expect(desk.states()).toEqual(Array(count).fill("converted"));
    },
  );

  test("one that fails at every question is not asked them all", async () => {
    const { desk, rows, poller } = await aPoller(50);
    for (const row of rows) desk.archive.change(idOf(row), { status: "CONVERTED", digidoc: true });
    desk.archive.fail("digidoc", ...Array.from({ length: 50 }, failed));
    await desk.run(poller);
    expect(desk.archive.count("digidoc")).toBe(10);
  });

  test("is asked ever more rarely; nothing is lost and no document loses patience", async () => {
    const { desk, rows, poller } = await aPoller(2);
    const errors = Array.from({ length: 4 }, () => unreachable());
    for (const row of rows) desk.archive.change(idOf(row), { status: "CONVERTED" });
    desk.archive.fail("document", ...errors);
    await desk.run(poller);
    const asked = [];
    for (let second = 0; second < 16; second++) {
      asked.push(desk.archive.forgetAsked());
      await desk.advance(SECOND);
    }
    // At 0, 1, 3, 7 s in vain, and at 15 s at last.
    expect(asked).toEqual([1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
    expect(desk.states()).toEqual(["converted", "converted"]);
  });

  test("refused credentials close the gate; polling goes on and finds out when they are good", async () => {
    const { desk, rows, keeper, poller } = await aPoller(1);
    desk.archive.fail("document", unauthorized());
    await desk.run(poller);
    expect(keeper.gate).toMatchObject({
      closedAt: desk.clock.now(),
      problem: { code: "CREDENTIALS_REFUSED" },
    });
    expect((await desk.journal.gate()).closedAt).toBe(desk.clock.now());
    desk.archive.change(idOf(rows[0]), { status: "CONVERTED" });
    await desk.advance(SECOND);
    expect(desk.states()).toEqual(["converted"]);
  });

  test("one document that always fails does not keep the others from being followed", async () => {
    const { desk, folderId, poller } = await aPoller(1);
    desk.archive.fail("document", ...Array.from({ length: 50 }, () => refused("INVALID_DOC_ID")));
    const other = desk.archive.addFolder("Other");
    const elsewhere = Array.from({ length: 3 }, () => uploaded(desk, other));
    for (const row of elsewhere) desk.archive.change(idOf(row), { status: "CONVERTED" });
    await desk.run(poller);
    await desk.advance(MINUTE);
    expect(folderId).toBeLessThan(other);
    expect(desk.states()).toEqual(["uploaded", "converted", "converted", "converted"]);
  });
});
