import { describe, expect, test } from "vitest";
import { type Document, STATES, type Seen, type State } from "../../../src/domain/document.ts";
import type { Applied, Change } from "../../../src/journal/journal.ts";
import { ROOT, type RawPath, nameOf, rawOfText } from "../../../src/std/raw-path.ts";
import { GONE_ALREADY } from "../../../src/sync/after-loop.ts";
import { Intake } from "../../../src/sync/intake.ts";
import { AfterActions } from "../../../src/sync/after-actions.ts";
import { SECOND, SyncDesk } from "./desk.ts";

const PATH = rawOfText("2026/scan.pdf");
const DIR = rawOfText("2026");

const seen = (stamp: string, sizeBytes = 1_000): Seen => ({ sizeBytes, modifiedAt: 500, stamp });

async function anIntake() {
  const desk = await SyncDesk.open();
  return { desk, intake: new Intake(desk.context) };
}

/** A listing of `2026`; names to stamps. */
function listing(files: Record<string, string>, fingerprint = "print") {
  const entries = Object.entries(files).map(([name, stamp]) => {
    return { name: rawOfText(name), seen: seen(stamp) };
  });
  return { dir: DIR, fingerprint, files: entries };
}

/** The row of `scan.pdf`, in a state; those that were sent have what a sent row has. */
function rowIn(desk: SyncDesk, state: State, set: Partial<Document> = {}): Document {
  const isSent = state === "uploaded" || state === "converted";
  const columns = { documentId: isSent ? 5 : null, seen: seen("old"), problem: null };
  return desk.put({ path: PATH, state, ...columns, ...set });
}

/** How the readers tell of one file, each in its own way. */
const WAYS = [
  [
    "a listing",
    async (intake: Intake, stamp: string | null) => {
      await intake.listing(1, listing(stamp === null ? {} : { "scan.pdf": stamp }));
    },
  ],
  [
    "a hint",
    async (intake: Intake, stamp: string | null) => {
      await intake.hint(1, [{ path: PATH, seen: stamp === null ? null : seen(stamp) }]);
    },
  ],
] as const;

describe.for(WAYS)("%s", ([, tell]) => {
  test("of a new file: a row that settles", async () => {
    const { desk, intake } = await anIntake();
    await tell(intake, "new");
    const row = await desk.journal.currentAt(1, PATH);
    expect(row).toMatchObject({
      state: "settling",
      supersedes: null,
      firstSeenAt: desk.clock.now(),
      dueAt: desk.clock.now() + 3 * SECOND,
    });
  });

  test.for([
    // state, set, becomes, because
    ["settling", {}, "settling", "it is still being written: the quiet time starts over"],
    ["pending", {}, "settling", "it was about to be sent as it was"],
    ["held", {}, "settling", "other content, another chance"],
    ["failed", {}, "settling", "other content, another chance"],
    ["uploading", {}, "superseded", "the old bytes may arrive"],
    ["inDoubt", {}, "superseded", "the old bytes may be there"],
    ["uploaded", {}, "superseded", "the old bytes are there"],
    ["converted", {}, "superseded", "the old bytes are there"],
    ["held", { doubtAt: 1 }, "superseded", "held in doubt: the old bytes may be there"],
    ["failed", { documentId: 5 }, "superseded", "it was there once; its story is kept"],
  ] as const)("of a change, %s %o: %s, because %s", async ([state, set, becomes]) => {
    const { desk, intake } = await anIntake();
    const before = rowIn(desk, state, set);
    await tell(intake, "new");
    const now = await desk.journal.currentAt(1, PATH);
    expect(now).toMatchObject({ state: "settling", seen: { stamp: "new" } });
    if (becomes === "superseded") {
      expect(now).toMatchObject({ supersedes: before.id });
      expect(await desk.row(before)).toEqual({ ...before, current: false });
    } else {
      expect(now).toMatchObject({ id: before.id, digest: null, sentName: null });
    }
  });

  test.for([
    ["settling", {}, "forgotten", "there is nothing to send"],
    ["pending", {}, "forgotten", "there is nothing to send"],
    ["held", {}, "forgotten", "nobody needs to fix it any more"],
    ["failed", {}, "forgotten", "nobody needs to fix it any more"],
    ["uploading", {}, "noted", "the bytes may arrive"],
    ["inDoubt", {}, "noted", "it is still to be found out whether they arrived"],
    ["uploaded", {}, "noted", "it is in the archive"],
    ["converted", {}, "noted", "it is in the archive"],
    ["held", { doubtAt: 1 }, "noted", "it is still to be found out whether it arrived"],
    ["failed", { documentId: 5 }, "noted", "it was in the archive once"],
  ] as const)("of a removal, %s %o: %s, because %s", async ([state, set, becomes]) => {
    const { desk, intake } = await anIntake();
    const before = rowIn(desk, state, set);
    await tell(intake, null);
    if (becomes === "forgotten") {
      expect(await desk.journal.document(before.id)).toBeUndefined();
      expect((await desk.journal.forgotten(1, PATH)).at(-1)?.event).toBe("forget");
    } else {
      expect(await desk.row(before)).toEqual({ ...before, goneAt: desk.clock.now() });
    }
  });

  test.for(STATES)("of nothing new, %s: the row stays as it is", async (state) => {
    const { desk, intake } = await anIntake();
    const before = rowIn(desk, state);
    await tell(intake, "old");
    expect(await desk.row(before)).toEqual(before);
    expect(await desk.story(before)).toEqual([]);
  });

  test("of a file that is back as it was: it is there again, and nothing is sent", async () => {
    const { desk, intake } = await anIntake();
    const before = rowIn(desk, "converted", { goneAt: 5 });
    await tell(intake, "old");
    expect(await desk.row(before)).toEqual({ ...before, goneAt: null });
  });

  test.for([
    [
      "move",
      { after: null, afterMessage: GONE_ALREADY },
      "due",
      "it was out of sight when it was due",
    ],
    [
      "move",
      { after: "done", afterMessage: "/srv/done/scan.pdf" },
      "due",
      "it is moved or deleted once more",
    ],
    ["move", { after: "refused", afterMessage: "no right" }, "refused", "a person looks at it"],
    ["move", { after: null }, null, "it was converted before there was anything to do"],
    ["keep", { after: null, afterMessage: GONE_ALREADY }, null, "it is to stay by now"],
  ] as const)(
    "%#: of an archived file that is back, with `after: %s` and %o: %s, as %s",
    async ([kind, set, after]) => {
      const action = kind === "keep" ? { kind } : ({ kind, to: "/srv/done" } as const);
      const desk = await SyncDesk.open({ mirrors: [{ after: action }] });
      const intake = new Intake(desk.context);
      const before = rowIn(desk, "converted", { goneAt: 5, dueAt: null, ...set });
      await tell(intake, "old");
      const row = await desk.row(before);
      expect(row).toMatchObject({ after, goneAt: null });
      if (after === "due")
        expect(row).toMatchObject({ afterMessage: null, dueAt: desk.clock.now() });
    },
  );

  test("of a file that is back with other bytes: a successor", async () => {
    const { desk, intake } = await anIntake();
    const before = rowIn(desk, "converted", { goneAt: 5 });
    await tell(intake, "new");
    expect(await desk.journal.currentAt(1, PATH)).toMatchObject({ supersedes: before.id });
  });

  test("of a file that is gone still: it is noted once", async () => {
    const { desk, intake } = await anIntake();
    const before = rowIn(desk, "converted", { goneAt: 5 });
    await tell(intake, null);
    expect(await desk.row(before)).toEqual(before);
  });

  test("of an edit that went before it was sent: the one before it stands for the path", async () => {
    const { desk, intake } = await anIntake();
    const before = rowIn(desk, "converted", { current: false });
    const edit = rowIn(desk, "settling", { supersedes: before.id });
    await tell(intake, null);
    expect(await desk.journal.document(edit.id)).toBeUndefined();
    const now = desk.clock.now();
    expect(await desk.row(before)).toMatchObject({ current: true, goneAt: now });
    await tell(intake, "as it was");
    expect(await desk.journal.currentAt(1, PATH)).toMatchObject({ supersedes: before.id });
  });

  test("of an edit of an edit: the one that was never sent is not kept", async () => {
    const { desk, intake } = await anIntake();
    const before = rowIn(desk, "converted");
    await tell(intake, "second");
    await tell(intake, "third");
    expect(await desk.journal.currentAt(1, PATH)).toMatchObject({
      supersedes: before.id,
      seen: { stamp: "third" },
    });
    expect(desk.states()).toEqual(["converted", "settling"]);
  });
});

describe.for(WAYS)("of an archived file that was touched, by %s", ([, tell]) => {
  test("then gone: the archived row has the path again, so that the bytes are known when they are back", async () => {
    const { desk, intake } = await anIntake();
    const sent = rowIn(desk, "converted");
    await tell(intake, "touched");
    await tell(intake, null);
    expect(await desk.row(sent)).toMatchObject({ current: true, goneAt: desk.clock.now() });
    expect(desk.states()).toEqual(["converted"]);
    await tell(intake, "back");
    const [, next] = desk.journal.store.rows;
    expect(next).toMatchObject({ state: "settling", supersedes: sent.id });
  });
});

describe.for(WAYS)("%s, of a file that an after-action has in hand", ([, tell]) => {
  test.for([["held"], ["converted"]] as const)(
    "%s: it is not taken for removed",
    async ([state]) => {
      const desk = await SyncDesk.open();
      const afterActions = new AfterActions();
      const intake = new Intake(desk.context, afterActions);
      const row = rowIn(desk, state);
      const acting = Promise.withResolvers<void>();
      const acted = afterActions.of(1, PATH, () => acting.promise);
      await tell(intake, null);
      expect(await desk.row(row)).toMatchObject({ state, goneAt: null });
      expect(await desk.journal.directories(1), "listed again").toEqual([[DIR, ""]]);
      acting.resolve();
      await acted;
      await tell(intake, null);
      const now = await desk.journal.document(row.id);
      expect(now?.goneAt ?? "forgotten").toBe(state === "held" ? "forgotten" : desk.clock.now());
    },
  );
});

describe("fingerprints", () => {
  const prints = (desk: SyncDesk) => desk.journal.directories(1);

  test.for([
    [["hint", "listing"], "begun before"],
    [["listing", "hint"], "begun after"],
  ] as const)("are not remembered where a hint is journaled meanwhile: %o", async ([order]) => {
    const { desk, intake } = await anIntake();
    rowIn(desk, "settling");
    const ways = {
      hint: () => intake.hint(1, [{ path: PATH, seen: null }]),
      listing: () => intake.listing(1, listing({ "scan.pdf": "old" })),
    };
    const ended = await Promise.all(order.map((way) => ways[way]()));
    expect(ended).toContain(false);
    expect((await prints(desk)).filter(([, print]) => print !== "")).toEqual([]);
    expect(await intake.listing(1, listing({ "scan.pdf": "old" })), "the next time").toBe(true);
    expect(await desk.journal.currentAt(1, PATH)).toBeDefined();
  });

  test("a directory that was journaled whole is remembered", async () => {
    const { desk, intake } = await anIntake();
    await intake.listing(1, listing({ "a.pdf": "1", "b.pdf": "1" }, "print-1"));
    expect(await prints(desk)).toEqual([[DIR, "print-1"]]);
  });

  test.for([
    [
      "of a new file",
      {},
      "1",
      [[DIR, ""]],
      "it may be gone before the next scan, and the directory as it was",
    ],
    ["of an edit", { "scan.pdf": "1" }, "2", [[DIR, ""]], "it may be taken back"],
    ["of a file that is gone", { "scan.pdf": "1" }, null, [], "it may come back just as it was"],
    ["of nothing new", { "scan.pdf": "1" }, "1", [[DIR, "print-1"]], "all is as it was listed"],
  ] as const)(
    "after a hint %s the directory is remembered only if nothing differs",
    async ([, before, stamp, remembered]) => {
      const { desk, intake } = await anIntake();
      await intake.listing(1, listing(before, "print-1"));
      await intake.hint(1, [{ path: PATH, seen: stamp === null ? null : seen(stamp) }]);
      expect(await prints(desk)).toEqual(remembered);
    },
  );

  test("a change that came too late is compared again before the directory is remembered", async () => {
    const { desk, intake } = await anIntake();
    const row = rowIn(desk, "pending");
    // Between the comparison and the write the row is claimed.
    claimBefore(desk, 1, row.id);
    await intake.listing(1, listing({ "scan.pdf": "new" }, "print-1"));
    expect(await desk.journal.currentAt(1, PATH)).toMatchObject({ supersedes: row.id });
    expect(await prints(desk)).toEqual([[DIR, "print-1"]]);
  });

  test("rows that move faster than they are compared: the directory is not remembered", async () => {
    const { desk, intake } = await anIntake();
    await intake.listing(1, listing({ "scan.pdf": "old" }, "print-0"));
    const row = await desk.journal.currentAt(1, PATH);
    const moves: Change[] = [];
    const { journal } = desk;
    const apply = journal.apply.bind(journal);
    // Every time, the row is gone to another state before the change arrives.
    journal.apply = async (changes): Promise<Applied[]> => {
      moves.push(...changes);
      const applied = await apply(changes.filter(({ type }) => type === "directory"));
      return changes.map(
        (change, index) =>
          applied[index] ?? { change, document: row, from: undefined, skipped: true },
      );
    };
    await intake.listing(1, listing({ "scan.pdf": "new" }, "print-1"));
    expect(moves.filter(({ type }) => type === "event")).toHaveLength(3);
    expect(await prints(desk)).toEqual([[DIR, ""]]);
  });

  test("of a directory listed in part what was seen is journaled, and neither taken for whole nor missed", async () => {
    const { desk, intake } = await anIntake();
    await intake.listing(1, listing({ "a.pdf": "1", "b.pdf": "1" }, "print-1"));
    const partial = listing({ "b.pdf": "2", "c.pdf": "1" }, "partial/print-2");
    expect(await intake.listing(1, { ...partial, isPartial: true })).toBe(true);
    expect(desk.states(), "what is not in it may be there").toEqual([
      "settling",
      "settling",
      "settling",
    ]);
    expect(await prints(desk)).toEqual([[DIR, ""]]);
    await intake.listing(1, listing({ "b.pdf": "2", "c.pdf": "1" }, "print-2"));
    expect(desk.states(), "now it is gone").toEqual(["settling", "settling"]);
  });

  test("a directory that is gone is forgotten, with what was below it", async () => {
    const { desk, intake } = await anIntake();
    await intake.listing(1, listing({ "a.pdf": "1" }, "print-1"));
    await intake.vanished(1, [DIR]);
    expect(await prints(desk)).toEqual([]);
    expect(desk.states()).toEqual([]);
  });

  test.for([
    ["a listing without it", (intake: Intake) => intake.listing(1, listing({}, "print-2"))],
    ["a hint", (intake: Intake) => intake.hint(1, [{ path: PATH, seen: null }])],
    ["its directory vanishing", (intake: Intake) => intake.vanished(1, [DIR])],
    ["one above it vanishing", (intake: Intake) => intake.vanished(1, [ROOT, DIR])],
  ] as const)(
    "killed once %s has forgotten a file: it is looked for when it is back",
    async (way) => {
      const { desk, intake } = await anIntake();
      await intake.listing(1, listing({ "scan.pdf": "1" }, "print-1"));
      const { journal } = desk;
      const apply = journal.apply.bind(journal);
      journal.apply = async (changes) => {
        await apply(changes);
        throw new Error("killed");
      };
      await expect(way[1](intake)).rejects.toThrow("killed");
      expect(desk.states()).toEqual([]);
      expect(await prints(desk)).toEqual([]);
    },
  );

  test("a row that was claimed while its directory vanished is noted all the same", async () => {
    const { desk, intake } = await anIntake();
    const row = rowIn(desk, "pending");
    claimBefore(desk, 1, row.id);
    await intake.vanished(1, [DIR]);
    expect(await desk.row(row)).toMatchObject({ state: "uploading", goneAt: desk.clock.now() });
  });

  test("so it is with a hint", async () => {
    const { desk, intake } = await anIntake();
    const row = rowIn(desk, "pending");
    claimBefore(desk, 1, row.id);
    await intake.hint(1, [{ path: PATH, seen: seen("new") }]);
    expect(await desk.journal.currentAt(1, PATH)).toMatchObject({ supersedes: row.id });
  });
});

describe("what comes in while documents are sent", () => {
  /** Answered after this long, where the journal takes `journalMs`. */
  async function answeredAfter(journalMs: number, isStreaming: boolean): Promise<number> {
    const desk = await SyncDesk.open();
    const { clock } = desk;
    const apply = desk.journal.apply.bind(desk.journal);
    desk.journal.apply = async (changes) => {
      const applied = await apply(changes);
      if (journalMs > 0) await clock.pass(journalMs);
      return applied;
    };
    const intake = new Intake(desk.context, undefined, { isStreaming });
    const begun = clock.monotonic();
    let ended: number | undefined;
    const hint = intake.hint(1, [{ path: PATH, seen: seen("new") }]).then(() => {
      ended = clock.monotonic() - begun;
    });
    await clock.advance(1_000);
    await hint;
    return ended ?? Number.NaN;
  }

  test.for([
    [8, true, 32, "leaves three quarters of the time to them"],
    [200, true, 250, "does not wait for a slow disk three times over"],
    [0, true, 0, "asks for no pause of nothing"],
    [8, false, 8, "waits for nobody where nothing is sent"],
  ] as const)(
    "%i ms of the journal, sending: %s, answered after %i ms: %s",
    async ([ms, sends, after]) => {
      expect(await answeredAfter(ms, sends)).toBe(after);
    },
  );
});

describe("large directories", () => {
  test("are journaled in more than one commit, whole all the same", async () => {
    const { desk, intake } = await anIntake();
    const names = Array.from({ length: 4_500 }, (_, n) => [`scan-${n}.pdf`, "1"] as const);
    const writes = desk.journal.store.writes;
    await intake.listing(1, listing(Object.fromEntries(names)));
    expect(desk.journal.store.rows.length).toBe(4_500);
    expect(desk.journal.store.writes - writes).toBe(24);
  });

  test.for([
    [false, 3, "new files alone: some share a commit"],
    [true, 1, "no row is changed before the directory is to be listed again"],
  ] as const)(
    "a file vanished: %s: %i writes at the beginning, because %s",
    async ([vanished, writes]) => {
      const { desk, intake } = await anIntake();
      if (vanished) rowIn(desk, "settling");
      const apply = desk.journal.apply.bind(desk.journal);
      const committed = Promise.withResolvers<void>();
      const begun: (readonly Change[])[] = [];
      desk.journal.apply = async (changes) => {
        begun.push(changes);
        await committed.promise;
        return apply(changes);
      };
      const names = Array.from({ length: 900 }, (_, n) => [`new-${n}.pdf`, "1"] as const);
      const listed = intake.listing(1, listing(Object.fromEntries(names)));
      await expect.poll(() => begun.length).toBe(writes);
      await desk.clock.advance(0);
      expect(begun).toHaveLength(writes);
      committed.resolve();
      await listed;
      expect(begun.flat().filter(({ type }) => type === "add")).toHaveLength(900);
    },
  );

  test("names are bytes: two that look alike are two", async () => {
    const { desk, intake } = await anIntake();
    const names = ["é".normalize("NFC"), "é".normalize("NFD")].map(rawOfText);
    const files = [...names, "\xe9" as RawPath].map((name) => ({ name, seen: seen("1") }));
    await intake.listing(1, { dir: DIR, fingerprint: "print", files });
    const rows = await desk.journal.rowsIn(1, DIR);
    expect(rows.map(({ name }) => name).sort()).toEqual([...names, "\xe9"].sort());
    expect(nameOf(PATH)).toBe("scan.pdf");
  });
});

/** Just before the `nth` next write, the document is claimed by someone else. */
function claimBefore({ journal, clock }: SyncDesk, nth: number, id: number): void {
  const apply = journal.apply.bind(journal);
  let writes = 0;
  journal.apply = async (changes) => {
    writes += 1;
    if (writes === nth) {
      const event = {
        type: "claimed",
        at: clock.now(),
        archiveAt: null,
        folderId: 7,
        batch: "b",
      } as const;
      await apply([{ type: "event", id, event }]);
    }
    return apply(changes);
  };
}
