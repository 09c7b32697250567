/** Settings corrected while documents wait: what the archive can have nothing of is decided by the new ones. */
import { expect, test } from "vitest";
import type { Mirror } from "../../../src/config/config.ts";
import type { Document } from "../../../src/domain/document.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { decideAgain, isDecidedOtherwise } from "../../../src/sync/decided-again.ts";
import { SyncDesk } from "./desk.ts";

const OTHER: Partial<Mirror> = { target: { path: "/Right" } };

/** A desk whose mirror was decided by its first settings, and has others now. */
async function corrected(set: Partial<Mirror> = OTHER) {
  const desk = await SyncDesk.open();
  await desk.journal.mirror("of another daemon", "/srv/other");
  await decideAgain(desk.context);
  desk.mirror().settings = { ...desk.mirror().settings, ...set };
  return desk;
}

const held = (code: string) => ({
  state: "held" as const,
  problem: { code, message: "m" },
  dueAt: null,
});

test.for([
  [{}, "settling", "it waits for its turn"],
  [{ attempts: 1, sentBytes: 9 }, "settling", "the archive has proven to have nothing of it"],
  [{ attempts: 1, looks: 3, sentBytes: 9 }, "pending", "in doubt once, it may turn up there late"],
  [{ looks: 3 }, "settling", "another content of its path was in doubt"],
  [held("QUOTA_LIMIT"), "settling", "it waits behind the gate"],
  [held("FOLDER_MISSING"), "settling", "it waits for a folder where it does not belong"],
  [held("FIRST_RUN"), "settling", "another folder may hold nothing of its name"],
  [held("VETOED"), "held", "a hook will not have it sent"],
  [{ ...held("DOUBT_AMBIGUOUS"), doubtAt: 1 }, "held", "the archive may have it"],
  [{ ...held("FILE_INCOMPLETE"), digest: null }, "held", "nothing was decided of it yet"],
  [{ state: "failed" }, "failed", "a person has to ask"],
  [{ state: "inDoubt", doubtAt: 1 }, "inDoubt", "the archive may have it"],
  [{ state: "uploaded", documentId: 9_000 }, "uploaded", "the archive has it"],
] as const satisfies readonly (readonly [Partial<Document>, string, string])[])(
  "%o becomes %s: %s",
  async ([set, state]) => {
    const desk = await corrected();
    const row = desk.pending(set);
    const other = desk.pending({ mirrorId: 2, path: "other.pdf" });
    await decideAgain(desk.context);
    expect((await desk.row(row)).state).toBe(state);
    expect((await desk.row(other)).state, "of another mirror").toBe("pending");
  },
);

test.for([
  [OTHER, true, "where to"],
  [{ name: "renamed" }, true, "templates may name the mirror"],
  [{ rules: { ...NO_RULES, expiry: { ...NO_RULES.expiry, after: "never" } } }, true, "how long"],
  [{ rules: { ...NO_RULES, ready: { ...NO_RULES.ready, maxBytes: 1 } } }, true, "whether at all"],
  [{ stillIncomplete: "upload" }, true, "whether at all"],
  [{ rules: { ...NO_RULES, priority: 3, order: "newest" } }, false, "only when"],
  [{ settleMs: 1, after: { kind: "delete" } }, false, "before, and after"],
] as const satisfies readonly (readonly [Partial<Mirror>, boolean, string])[])(
  "%o is decided again: %s, it says %s",
  async ([set, isOther]) => {
    const desk = await corrected(set);
    const { settings } = desk.mirror();
    expect(await isDecidedOtherwise(desk.journal, 1, settings)).toBe(isOther);
    const row = desk.pending();
    await decideAgain(desk.context);
    expect((await desk.row(row)).state).toBe(isOther ? "settling" : "pending");
    expect(await isDecidedOtherwise(desk.journal, 1, settings)).toBe(false);
  },
);

test("a journal that does not know by what was decided leaves all as it is", async () => {
  const desk = await SyncDesk.open();
  const row = desk.pending();
  await decideAgain(desk.context);
  expect((await desk.row(row)).state).toBe("pending");
});

test("ended in the middle, it is done once more; more than one commit takes", async () => {
  const desk = await corrected();
  for (let n = 0; n < 1_200; n++) desk.pending();
  const apply = desk.journal.apply.bind(desk.journal);
  desk.journal.apply = async (changes) => {
    desk.journal.apply = () => Promise.reject(new Error("killed"));
    return apply(changes);
  };
  await expect(decideAgain(desk.context)).rejects.toThrow("killed");
  desk.journal.apply = apply;
  await decideAgain(desk.context);
  expect(new Set(desk.states())).toEqual(new Set(["settling"]));
});

test.for(["between the lists", "after them"])(
  "a held document that another loop puts back in the queue %s is decided again",
  async (when) => {
    const desk = await corrected();
    const row = desk.pending(held("FOLDER_MISSING"));
    const goOn = () =>
      desk.journal.apply([
        { type: "event", id: row.id, event: { type: "goesOn", at: 1 }, from: ["held"] },
      ]);
    const list = desk.journal.list.bind(desk.journal);
    const apply = desk.journal.apply.bind(desk.journal);
    desk.journal.list = async function* (query) {
      yield* list(query);
      if (when === "between the lists") await goOn();
    };
    desk.journal.apply = async (changes) => {
      desk.journal.apply = apply;
      await goOn();
      return desk.journal.apply(changes);
    };
    await decideAgain(desk.context);
    expect((await desk.row(row)).state).toBe("settling");
  },
);
