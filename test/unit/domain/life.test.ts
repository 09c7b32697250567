import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AS_NEW } from "../../../src/domain/adopt.ts";
import { STATES } from "../../../src/domain/document.ts";
import { ARROWS, transition } from "../../../src/domain/life.ts";
import { inState } from "../../fixtures/a-document.ts";
import { everyEvent, mayHappen } from "../../fixtures/events.ts";

const text = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

/** `from -> to [event]`, as a drawing states it. */
function drawn(source: string): string[] {
  return [...source.matchAll(/^[ *]*(\w+) +-> (\w+) +\[(\w+)\]/gm)].map(
    ([, from, to, event]) => `${from} -> ${to} [${event}]`,
  );
}

/** The same, read off the table. */
const coded = STATES.flatMap((state) =>
  everyEvent()
    .filter(({ type }) => mayHappen(state, type))
    .map((event) => {
      const { state: to } = transition(inState(state, { doubtAt: 1 }), event);
      return `${state} -> ${to} [${event.type}]`;
    }),
);

describe("the life of a document", () => {
  test("the drawing in the header is the table", () => {
    expect(drawn(text("src/domain/life.ts")).sort()).toEqual(coded.toSorted());
  });

  test("the drawing in docs/architecture.md is the table", () => {
    expect(drawn(text("docs/architecture.md")).sort()).toEqual(coded.toSorted());
  });

  test("an arrow that is not drawn is a bug, whatever the state", () => {
    for (const state of STATES) {
      for (const event of everyEvent().filter(({ type }) => !mayHappen(state, type))) {
        expect(() => transition(inState(state), event)).toThrow(/has no arrow/);
      }
    }
  });

  test("nothing leads out of converted but proof that the archive has another document", () => {
    expect(Object.keys(ARROWS.converted)).toEqual(["mistaken"]);
  });

  test("only `claimed` leads into uploading", () => {
    const into = coded.filter((arrow) => arrow.includes("-> uploading"));
    expect(into).toEqual(["pending -> uploading [claimed]"]);
  });

  test("nothing is sent from inDoubt but over `absent`", () => {
    const out = coded.filter((arrow) => arrow.startsWith("inDoubt -> pending"));
    expect(out).toEqual(["inDoubt -> pending [absent]"]);
  });

  test.for([
    [AS_NEW, null, "what is in the archive by now may be this document"],
    ["another remark", "another remark", "it says something else"],
  ] as const)("a lost reply makes of the remark %j %j: %s", ([remark, after]) => {
    const problem = { code: "REPLY_LOST", message: "cut" };
    const lost = { type: "inDoubt", at: 1, dueAt: 2, problem } as const;
    const before = inState("uploading", { remark });
    expect({ ...before, ...transition(before, lost) }.remark).toBe(after);
  });

  test("a document without digest cannot be claimed", () => {
    const claimed = everyEvent().find(({ type }) => type === "claimed");
    if (!claimed) throw new Error("no such event");
    expect(() => transition(inState("pending", { digest: null }), claimed)).toThrow(/settled/);
  });

  test("only what was in doubt is looked for again", () => {
    const again = { type: "lookAgain", at: 1 } as const;
    expect(() => transition(inState("held", { doubtAt: null }), again)).toThrow(/in doubt/);
  });

  test("being given back costs no attempt, failing does", () => {
    const released = transition(inState("uploading", { attempts: 3 }), { type: "released", at: 1 });
    expect(released.attempts).toBe(2);
    const claimed = transition(inState("pending", { attempts: 2 }), {
      type: "claimed",
      at: 1,
      archiveAt: null,
      folderId: 1,
      batch: "b",
    });
    expect(claimed.attempts).toBe(3);
  });

  test("the same problem again grows patience, another starts over", () => {
    const problem = { code: "X", message: "x" };
    const held = inState("held", { problem, consecutiveFailures: 4 });
    const again = { type: "heldBack", at: 1, dueAt: 1, problem } as const;
    expect(transition(held, again).consecutiveFailures).toBe(5);
    const other = { ...again, problem: { code: "Y", message: "y" } };
    expect(transition(held, other).consecutiveFailures).toBe(1);
  });

  test("new content forgets all that was learnt of the old", () => {
    const changed = everyEvent().find(({ type }) => type === "changed");
    if (!changed) throw new Error("no such event");
    const patch = transition(inState("pending"), changed);
    expect(patch).toMatchObject({ digest: null, sentName: null, batch: null, folderId: null });
  });
});
