import { describe, expect, test } from "vitest";
import type { BeforeHook } from "../../../src/config/hooks.ts";
import type { HookEnd } from "../../../src/reader/protocol.ts";
import { Aftercare } from "../../../src/sync/aftercare.ts";
import { Held } from "../../../src/sync/held.ts";
import { Folders } from "../../../src/sync/folders.ts";
import { Placement } from "../../../src/sync/placement.ts";
import { retryOf } from "../../../src/sync/retry.ts";
import { aSettler, onDisk, sent, settling } from "./a-settler.ts";
import { HOUR, MINUTE, SECOND, type SyncDesk } from "./desk.ts";

const HOOK: BeforeHook = {
  command: ["/hooks/check"],
  timeoutMs: 30 * SECOND,
  concurrency: 2,
  onFailure: "hold",
  afterVeto: { kind: "keep" },
};

const says = (value: unknown): HookEnd => ({ output: Buffer.from(JSON.stringify(value)) });

/** A desk whose mirror has a hook that answers so. */
async function asking(answer: unknown, set: Partial<BeforeHook> = {}, mirror = {}) {
  const made = await aSettler({ mirrors: [{ hooks: { before: { ...HOOK, ...set } }, ...mirror }] });
  made.desk.reader.onHook = () => says(answer);
  return made;
}

/** A hook that answers when the test says so. */
function slowHook(desk: SyncDesk) {
  const answers: ((end: HookEnd) => void)[] = [];
  desk.reader.onHook = () => new Promise((resolve) => answers.push(resolve));
  return answers;
}

const questions = (desk: SyncDesk) =>
  desk.reader.hooked.map(({ input }) => JSON.parse(input) as Record<string, unknown>);

const held = (desk: SyncDesk) => {
  const folders = new Folders(desk.archive);
  return new Held(desk.context, folders, new Placement(folders));
};

describe("the question and the answer", () => {
  test("is told the file and what the rules decided", async () => {
    const { desk, settler } = await asking({});
    const row = settling(desk, "2026/a b.pdf", "d1");
    await desk.run(settler);
    expect(questions(desk)).toMatchObject([
      {
        version: 1,
        hook: "before",
        mirror: "scans",
        path: "2026/a b.pdf",
        file: "/srv/scans/2026/a b.pdf",
        fileBase64: Buffer.from("/srv/scans/2026/a b.pdf").toString("base64"),
        sha256: "d1",
        size: 1_000,
        decided: {
          rule: null,
          folder: "/Scans/2026",
          name: "a b.pdf",
          metadata: {},
          expires: null,
        },
      },
    ]);
    expect(desk.reader.hooked[0]).toMatchObject({ command: ["/hooks/check"], timeoutMs: 30_000 });
    expect(await desk.row(row)).toMatchObject({ state: "pending", digest: "d1" });
  });

  test("name, folder and metadata are journaled with the row that becomes ready", async () => {
    const answer = { name: "b.pdf", folder: "/Scans/x", metadata: { title: "T" } };
    const { desk, settler } = await asking(answer);
    const row = settling(desk, "a.pdf", "d1");
    await desk.run(settler);
    expect(await desk.row(row)).toMatchObject({
      state: "pending",
      sentName: "b.pdf",
      targetPath: "/Scans/x",
      slip: { metadata: { title: { value: "T", from: "hook" } }, hook: ["name", "folder"] },
      remark: "named by the before hook; here it is a.pdf",
    });
  });

  test("a veto holds it for good, visibly; a person has the hook asked again", async () => {
    const { desk, settler } = await asking({ veto: "no invoice" });
    const row = settling(desk, "a.pdf", "d1");
    await desk.run(settler, held(desk));
    const vetoed = await desk.row(row);
    const trouble = { code: "VETOED", message: "no invoice" };
    expect(vetoed).toMatchObject({ state: "held", trouble, dueAt: null, digest: "d1" });
    await desk.advance(24 * HOUR);
    expect(desk.reader.hooked).toHaveLength(1);
    desk.reader.onHook = () => says({});
    const again = retryOf(vetoed, desk.clock.now());
    await desk.journal.apply(again ? [again] : []);
    await desk.advance(SECOND);
    expect(await desk.row(row)).toMatchObject({ state: "pending" });
    expect(desk.reader.hooked).toHaveLength(2);
  });

  test("what is in the archive already is not asked about", async () => {
    const { desk, settler } = await asking({ veto: "no" });
    sent(desk, "a.pdf", "d1", { current: true });
    desk.reader.files.delete("a.pdf");
    settling(desk, "b.pdf", "d1");
    await desk.run(settler);
    expect(desk.reader.hooked).toEqual([]);
    expect(desk.states()).toEqual(["converted"]);
  });

  test("what the rules hold is not for the hook", async () => {
    const { desk, settler } = await asking({}, {}, { target: { path: "/Scans" } });
    const mirror = desk.mirror();
    Object.assign(mirror.settings, {
      rules: { ...mirror.settings.rules, expiry: { after: null, from: { kind: "sidecar" } } },
    });
    const row = settling(desk, "a.pdf", "d1");
    await desk.run(settler);
    expect(await desk.row(row)).toMatchObject({
      state: "held",
      trouble: { code: "EXPIRY_UNKNOWN" },
    });
    expect(desk.reader.hooked).toEqual([]);
  });
});

describe("a hook that fails", () => {
  const failures = [
    [{ failure: "did not end within 30000 ms" }, /failed: did not end/, "hangs"],
    [{ failure: "ended with exit code 1: so" }, /exit code 1: so/, "says so"],
    [{ output: Buffer.from("garbage") }, /its answer is not JSON/, "talks nonsense"],
    [{ output: Buffer.alloc(0) }, /its answer is empty/, "says nothing"],
    [says({ folder: "/Other" }), /not within \/Scans/, "leads out of the folder"],
  ] as const;

  test.for(failures)("%o holds its document: %s, as it %s", async ([end, message]) => {
    const { desk, settler } = await asking({});
    desk.reader.onHook = () => end;
    const row = settling(desk, "a.pdf", "d1");
    await desk.run(settler, held(desk));
    const { state, trouble, dueAt } = await desk.row(row);
    expect({ state, code: trouble?.code }).toEqual({ state: "held", code: "HOOK_FAILED" });
    expect(trouble?.message).toMatch(message);
    expect(dueAt).toBe(desk.clock.now() + 30 * SECOND);
  });

  test.for(failures)(
    "%o with onFailure: send goes as the rules have it",
    async ([end, message]) => {
      const { desk, settler } = await asking({}, { onFailure: "send" });
      desk.reader.onHook = () => end;
      const row = settling(desk, "a.pdf", "d1");
      await desk.run(settler);
      const { state, sentName, remark } = await desk.row(row);
      expect({ state, sentName }).toEqual({ state: "pending", sentName: "a.pdf" });
      expect(remark).toMatch(message);
      expect(remark).toMatch(/^sent without it: /);
    },
  );

  test("is asked again, ever more rarely, until it answers", async () => {
    const { desk, settler } = await asking({});
    desk.reader.onHook = () => ({ failure: "so" });
    const row = settling(desk, "a.pdf", "d1");
    await desk.run(settler, held(desk));
    await desk.advance(10 * MINUTE);
    const { length } = desk.reader.hooked;
    expect(length).toBeGreaterThan(3);
    expect(length).toBeLessThan(7);
    desk.reader.onHook = () => says({});
    await desk.advance(HOUR);
    expect((await desk.row(row)).state).toBe("pending");
    expect(desk.reader.hooked).toHaveLength(length + 1);
  });

  test("with its reader: asked again when that is back", async () => {
    const { desk, settler } = await asking({});
    const row = settling(desk, "a.pdf", "d1");
    desk.reader.cutNext("hook");
    await desk.run(settler);
    await desk.advance(MINUTE);
    expect((await desk.row(row)).state).toBe("pending");
  });
});

describe("the file under it", () => {
  test("changed meanwhile: it settles anew, and the hook is asked about what is there", async () => {
    const { desk, settler } = await asking({});
    const answers = slowHook(desk);
    const row = settling(desk, "a.pdf", "d1");
    await desk.run(settler);
    onDisk(desk, "a.pdf", "d2");
    answers[0]?.(says({ name: "of-d1.pdf" }));
    await desk.advance(0);
    expect(await desk.row(row)).toMatchObject({ state: "settling", seen: { stamp: "d2" } });
    await desk.advance(10 * SECOND);
    answers[1]?.(says({}));
    await desk.advance(0);
    expect(await desk.row(row)).toMatchObject({
      state: "pending",
      digest: "d2",
      sentName: "a.pdf",
    });
  });

  test("gone meanwhile: forgotten, whatever the hook said", async () => {
    const { desk, settler } = await asking({ veto: "moved it away" });
    const answers = slowHook(desk);
    settling(desk, "a.pdf", "d1");
    await desk.run(settler);
    desk.reader.files.delete("a.pdf");
    answers[0]?.(says({ veto: "moved it away" }));
    await desk.advance(MINUTE);
    expect(desk.states()).toEqual([]);
  });

  test("an answer for a row that has moved on is of no interest", async () => {
    const { desk, settler } = await asking({});
    const answers = slowHook(desk);
    const row = settling(desk, "a.pdf", "d1");
    await desk.run(settler);
    const at = desk.clock.now();
    const seen = { ...row.seen, stamp: "d3" };
    const event = { type: "changed", at, dueAt: at + HOUR, seen } as const;
    await desk.journal.apply([{ type: "event", id: row.id, event }]);
    answers[0]?.(says({}));
    await desk.advance(0);
    expect(await desk.row(row)).toMatchObject({ state: "settling", seen: { stamp: "d3" } });
  });
});

describe("many documents", () => {
  test("no more than `concurrency` at a time, small and large ones together", async () => {
    const { desk, settler } = await asking({});
    let running = 0;
    let most = 0;
    desk.reader.onHook = async () => {
      running += 1;
      most = Math.max(most, running);
      await desk.clock.sleep(SECOND, new AbortController().signal);
      running -= 1;
      return says({});
    };
    for (let n = 0; n < 20; n++) settling(desk, `s${n}.pdf`, `s${n}`);
    for (let n = 0; n < 3; n++) {
      const sizeBytes = 900_000_000;
      const file = { seen: { sizeBytes, modifiedAt: 0, stamp: `l${n}` } };
      settling(desk, `l${n}.pdf`, `l${n}`, { file });
    }
    await desk.run(settler);
    await desk.advance(30 * SECOND);
    expect(most).toBe(2);
    expect(new Set(desk.states())).toEqual(new Set(["pending"]));
    expect(desk.reader.hooked).toHaveLength(23);
    // Waiting for the hook, a file is not read again and again.
    expect(desk.reader.inspected.length).toBeLessThan(30);
  });

  test("one that hangs keeps nothing else from going on", async () => {
    const { desk, settler } = await asking({});
    desk.reader.onHook = ({ input }) =>
      input.includes("hangs.pdf") ? new Promise(() => {}) : says({});
    const hung = settling(desk, "hangs.pdf", "h");
    for (let n = 0; n < 10; n++) settling(desk, `s${n}.pdf`, `s${n}`);
    await desk.run(settler);
    await desk.advance(SECOND);
    expect(desk.states().filter((state) => state === "pending")).toHaveLength(10);
    expect((await desk.row(hung)).state).toBe("settling");
  });
});

describe("after a veto", () => {
  const moving = { afterVeto: { kind: "move", to: "/srv/vetoed" } } as const;

  test("the file is moved, with no key of the archive's, and its row is forgotten with the reason", async () => {
    const { desk, settler } = await asking({ veto: "split" }, moving);
    desk.reader.onAct = () => ({ kind: "done", to: "/srv/vetoed/a.pdf" });
    const row = settling(desk, "a.pdf", "d1");
    await desk.run(settler, new Aftercare(desk.context), held(desk));
    await desk.advance(MINUTE);
    expect(desk.reader.acted).toEqual(["a.pdf"]);
    expect(desk.archive.count()).toBe(0);
    expect(desk.states()).toEqual([]);
    const last = (await desk.journal.history(row.id)).at(-1);
    expect(last?.detail).toBe("vetoed: split; moved to /srv/vetoed/a.pdf");
  });

  test("a source that is away is asked again, the hook is not", async () => {
    const { desk, settler } = await asking({ veto: "split" }, moving);
    const trouble = { code: "SOURCE_OFFLINE", message: "so" };
    desk.reader.onAct = () => ({ kind: "refused", trouble });
    settling(desk, "a.pdf", "d1");
    await desk.run(settler, new Aftercare(desk.context), held(desk));
    await desk.advance(5 * MINUTE);
    expect(desk.states()).toEqual(["held"]);
    desk.reader.onAct = () => ({ kind: "done", to: "/srv/vetoed/a.pdf" });
    await desk.advance(MINUTE);
    expect(desk.states()).toEqual([]);
    expect(desk.reader.hooked).toHaveLength(1);
  });

  test("one that cannot be moved stays, says why, and is tried again ever more rarely", async () => {
    const { desk, settler } = await asking({ veto: "split" }, moving);
    desk.reader.onAct = () => ({
      kind: "refused",
      trouble: { code: "AFTER_REFUSED", message: "no right" },
    });
    const row = settling(desk, "a.pdf", "d1");
    await desk.run(settler, new Aftercare(desk.context), held(desk));
    await desk.advance(HOUR);
    expect(await desk.row(row)).toMatchObject({
      state: "held",
      after: "due",
      afterMessage: "AFTER_REFUSED: no right",
      trouble: { code: "VETOED", message: "split" },
    });
    expect(desk.reader.acted.length).toBeLessThan(30);
    desk.reader.onAct = () => ({ kind: "done", to: "/srv/vetoed/a.pdf" });
    await desk.advance(HOUR);
    expect(desk.states()).toEqual([]);
  });

  test("a held row that was vetoed once and is held for something else is never put away", async () => {
    const { desk, settler } = await asking({ veto: "split" }, moving);
    const row = settling(desk, "a.pdf", "d1");
    await desk.run(settler);
    const at = desk.clock.now();
    const seen = onDisk(desk, "a.pdf", "d2");
    const trouble = { code: "FILE_EMPTY", message: "so" };
    await desk.journal.apply([
      { type: "event", id: row.id, event: { type: "changed", at, dueAt: at + HOUR, seen } },
      { type: "event", id: row.id, event: { type: "heldBack", at, dueAt: null, trouble } },
    ]);
    await desk.run(new Aftercare(desk.context));
    await desk.advance(MINUTE);
    expect(desk.reader.acted).toEqual([]);
  });
});
