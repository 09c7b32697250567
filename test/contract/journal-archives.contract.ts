import { describe, expect, test } from "vitest";
import { rawOfText } from "../../src/std/raw-path.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { JournalFixture } from "./journal.contract.ts";
import { Desk, events, NOW } from "./journal-desk.ts";

const { settled, claimed, accepted, converted, inDoubt, heldBack } = events;
const LATER = NOW + 1_000_000;
const paths = (rows: readonly { name: string }[]) => rows.map(({ name }) => name);

/** Two archives: `main` with the mirror `scans`, and `legal` with the mirror `contracts`. */
async function two(journal: Journal): Promise<{ main: Desk; legal: Desk }> {
  const { id } = await journal.archive("legal", "https://legal.example.com");
  const main = await Desk.at(journal);
  const { id: mirrorId } = await journal.of(id).mirror("contracts", "/srv/contracts");
  return { main, legal: new Desk(journal.of(id), mirrorId) };
}

type Ask = (journal: Journal) => Promise<readonly { name: string }[]>;

/** What every journal promises about the archives that its mirrors are carried into. */
export function journalArchivesContract(name: string, open: () => Promise<JournalFixture>): void {
  const withTwo =
    (check: (desks: { main: Desk; legal: Desk }, fixture: JournalFixture) => Promise<void>) =>
    async () => {
      await using fixture = await open();
      await check(await two(fixture.journal), fixture);
    };

  describe(`${name}: several archives`, () => {
    test(
      "an archive is known by its name, and may move; the first is there from the beginning",
      withTwo(async ({ main }, { beside }) => {
        const legal = { id: 2, name: "legal", url: "https://legal.example.com" };
        expect(await main.journal.archives()).toEqual([{ id: 1, name: "main", url: null }, legal]);
        const moved = await main.journal.archive("legal", "https://new.example.com");
        expect(moved).toEqual({ ...legal, url: "https://new.example.com" });
        expect(await (await beside()).archives()).toContainEqual(moved);
      }),
    );

    const due =
      (state: "pending" | "inDoubt"): Ask =>
      (journal) =>
        journal.due({ state, now: LATER, limit: 9 });
    test.for([
      [[settled()], due("pending"), "sent through another account"],
      [[settled(), claimed()], (j) => j.underWay(9), "doubted by another daemon's loops"],
      [[settled(), claimed()], (j) => j.conflicts(7, "a.pdf"), "kept waiting by another host"],
      [[settled(), claimed(), inDoubt()], due("inDoubt"), "looked for in the wrong archive"],
      [
        [settled(), claimed(), accepted(501)],
        (j) => j.outstandingIn(7, 9),
        "asked for in the wrong archive",
      ],
      [
        [settled(), claimed(), accepted(501), converted("due")],
        (j) => j.afterDue(LATER, 9),
        "deleted on another archive's word",
      ],
      [
        [settled(), heldBack("QUOTA_LIMIT")],
        (j) => j.heldWith(["QUOTA_LIMIT"], 9),
        "let go by another account's gate",
      ],
    ] as const satisfies readonly (readonly [readonly unknown[], Ask, string])[])(
      "a document of one archive is not told to another's loops: it would be %#",
      ([steps, ask]) => asked(open, steps, ask),
    );

    test(
      "one folder id and one document id mean another thing in each",
      withTwo(async ({ main, legal }) => {
        const a = await main.uploaded("a.pdf", 501);
        await legal.uploaded("b.pdf", 501);
        expect(await main.journal.outstanding(NOW)).toEqual([
          { folderId: 7, documents: 1, due: 0 },
        ]);
        expect(paths(await legal.journal.outstandingIn(7, 9))).toEqual(["b.pdf"]);
        await legal.uploaded("c.pdf", 502, "d2");
        expect([...(await main.journal.claimed([501, 502])).keys()]).toEqual([501]);
        const theirs = await legal.journal.claimed([501, 502]);
        expect(new Set(theirs.keys())).toEqual(new Set([501, 502]));
        const { id } = await main.add("d.pdf");
        await main.after(id, settled("d3"), claimed(), accepted(502));
        const again = await main.add("e.pdf");
        await main.after(again.id, settled("d4"), claimed());
        await expect(main.after(again.id, accepted(501))).rejects.toMatchObject({
          code: "DOCUMENT_ID_TAKEN",
        });
        expect(await main.journal.document(a.id)).toMatchObject({ documentId: 501 });
      }),
    );

    test(
      "what retention dropped is remembered by archive",
      withTwo(async ({ main, legal }) => {
        for (const desk of [main, legal]) {
          const { id } = await desk.uploaded("old.pdf", 77);
          await desk.after(id, converted());
          const gone = { type: "note", id, at: NOW, why: "gone", set: { goneAt: NOW } } as const;
          await desk.journal.apply([gone]);
        }
        const { dropped } = await main.journal.tidy({
          at: LATER,
          before: LATER,
          forgetBefore: 0,
          receipts: false,
          mirrorIds: [main.mirrorId, legal.mirrorId],
          after: 0,
          afterBatch: 0,
          limit: 9,
        });
        expect(dropped).toBe(2);
        for (const { journal, mirrorId } of [main, legal]) {
          expect([...(await journal.claimed([77])).keys()]).toEqual([77]);
          const path = rawOfText("old.pdf");
          expect(await journal.tombstones(mirrorId, "d1", path, NOW)).toEqual(
            await main.journal.tombstones(main.mirrorId, "d1", path, NOW),
          );
        }
        const { id } = await legal.add("back.pdf");
        const known = { status: null, sentBytes: null };
        const adopted = { type: "adopted", at: NOW, dueAt: NOW, ...known } as const;
        await legal.after(id, settled(), { ...adopted, documentId: 77, folderId: 7 });
        expect((await main.journal.claimed([77])).has(77), "the other tombstone stays").toBe(true);
      }),
    );

    test(
      "each has a gate, a pace and first runs of its own; a pause is everybody's",
      withTwo(async ({ main, legal }, { beside }) => {
        const gate = {
          closedAt: NOW,
          problem: { code: "QUOTA_LIMIT", message: "spent" },
          probes: 2,
          nextProbeAt: NOW + 9,
        };
        const pace = { limit: 1, pausedAt: NOW, pausedUntil: NOW + 9, problem: gate.problem };
        await legal.journal.setGate(gate);
        await legal.journal.setPace(pace);
        await legal.journal.setPaused(true);
        const other = await beside();
        expect(await other.gate()).toMatchObject({ closedAt: null });
        expect(await other.pace()).toMatchObject({ limit: null });
        expect(await other.of(2).gate()).toEqual(gate);
        expect(await other.of(2).pace()).toEqual(pace);
        expect(await other.paused()).toBe(true);
        expect(await main.journal.firstRuns()).toEqual([main.mirrorId]);
        expect(await legal.journal.firstRuns()).toEqual([legal.mirrorId]);
      }),
    );

    test(
      "the smallest that waits behind a gate is one of its own",
      withTwo(async ({ main, legal }) => {
        const code = "QUOTA_LIMIT";
        const { id } = await main.held("large.pdf", code);
        await legal.held("b.pdf", code);
        const both = [main.mirrorId, legal.mirrorId];
        expect(await main.journal.smallestHeld([code], both)).toMatchObject({ id });
      }),
    );
  });

  describe(`${name}: a mirror that is carried into another archive`, () => {
    test(
      "may be while nothing was sent; its first run begins",
      withTwo(async ({ main, legal }) => {
        await main.held("a.pdf", "FOLDER_MISSING");
        await main.journal.endFirstRun(main.mirrorId, NOW);
        const row = await legal.journal.mirror("scans", "/srv/scans");
        expect(row).toMatchObject({ id: main.mirrorId, archiveId: 2 });
        expect(await legal.journal.firstRuns()).toContain(main.mirrorId);
        expect(paths(await legal.journal.heldWith(["FOLDER_MISSING"], 9))).toEqual(["a.pdf"]);
        expect(await main.journal.heldWith(["FOLDER_MISSING"], 9)).toEqual([]);
      }),
    );

    test.for([
      [[settled(), claimed()], "it is being sent"],
      [[settled(), claimed(), inDoubt()], "it is in doubt"],
      [[settled(), claimed(), inDoubt(), heldBack("DOUBT_AMBIGUOUS")], "it is held in doubt"],
      [[settled(), claimed(), accepted(501)], "it was sent"],
    ] as const)("may not be once a document is there, or may be: %#", async ([steps]) => {
      await using fixture = await open();
      const { main, legal } = await two(fixture.journal);
      const { id } = await main.add("a.pdf");
      await main.after(id, ...steps);
      await expect(legal.journal.mirror("scans", "/srv/scans")).rejects.toMatchObject({
        code: "ARCHIVE_CHANGED",
        message: expect.stringMatching(/mirror scans: .* main, .* legal/),
      });
      const row = await main.journal.mirror("scans", "/srv/scans");
      expect(row).toMatchObject({ id: main.mirrorId, archiveId: 1 });
    });
  });
}

/** Both archives hold a document that came as far; each is asked, and tells of its own alone. */
async function asked(
  open: () => Promise<JournalFixture>,
  steps: readonly Parameters<Desk["after"]>[1][],
  ask: Ask,
): Promise<void> {
  await using fixture = await open();
  const { main, legal } = await two(fixture.journal);
  for (const [desk, path] of [
    [main, "ours.pdf"],
    [legal, "theirs.pdf"],
  ] as const) {
    const { id } = await desk.add(path);
    await desk.after(id, ...steps);
  }
  const legalId = (await main.journal.archives()).find((archive) => archive.name === "legal")?.id;
  // Anyone who wrote them is gone, so that what it was sending is nobody's.
  await fixture.journal.close();
  await using other = await fixture.beside();
  expect(paths(await ask(other))).toEqual(["ours.pdf"]);
  expect(paths(await ask(other.of(legalId ?? 0)))).toEqual(["theirs.pdf"]);
}
