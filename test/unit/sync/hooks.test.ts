import { rawOf, rawOfText } from "../../../src/std/raw-path.ts";
import { newsOf, questionOf } from "../../../src/sync/hook-input.ts";
import { aDocument } from "../../fixtures/a-document.ts";
import type { BeforeHook, Hook } from "../../../src/config/mirror-section.ts";
import type { HookEnd } from "../../../src/reader/protocol.ts";
import { AfterLoop } from "../../../src/sync/after-loop.ts";
import { Held } from "../../../src/sync/held.ts";
import { Folders, Placement } from "../../../src/sync/folders.ts";
import { retryOf } from "../../../src/sync/retry.ts";
import type { Document } from "../../../src/domain/document.ts";
import type { Event } from "../../../src/domain/life.ts";
import { AfterHooks, TRIES_MAX } from "../../../src/sync/after-hooks.ts";
import { expect, test, describe, vi } from "vitest";
import { SyncDesk, HOUR, MINUTE, SECOND } from "./desk.ts";
import { aSettler, onDisk, sent, settling } from "./a-settler.ts";

describe("hook input", () => {
  const ODD = rawOf(Buffer.from([0x61, 0xff, 0x0a, 0x2e, 0x70, 0x64, 0x66]));
  const BYTES = Buffer.concat([Buffer.from("/srv/scans/d/"), Buffer.from("61ff0a2e706466", "hex")]);

  test.for([
    [rawOfText("ä b.pdf"), "d/ä b.pdf", "/srv/scans/d/ä b.pdf", "text is told as text"],
    [ODD, "d/a\\xff\\x0a.pdf", null, "what is no text is in its bytes alone"],
  ] as const)("of %j the path %s and the file %s: %s", async ([name, path, file]) => {
    const desk = await SyncDesk.open();
    const document = aDocument({ dir: rawOfText("d"), name });
    const seen = { sizeBytes: 7, modifiedAt: 1, stamp: "s" };
    const found = { kind: "whole", digest: "d1", seen, completeness: "complete" } as const;
    const sentName = { name: "n.pdf", fixed: false };
    const decided = { rule: "r", folder: "/Scans", name: sentName, attributes: null };
    const question = questionOf(desk.mirror(), document, found, decided);
    expect(question.endsWith("}\n")).toBe(true);
    const told = JSON.parse(question) as Record<string, unknown>;
    expect(told).toMatchObject({ path, file, sha256: "d1", decided: { rule: "r", name: "n.pdf" } });
    const bytes = Buffer.from(String(told["fileBase64"]), "base64");
    expect(bytes).toEqual(name === ODD ? BYTES : Buffer.from(String(file)));
  });

  test.for([
    [{ after: "done", afterMessage: "/done/d/a.pdf" }, "/done/d/a.pdf", "moved"],
    [
      { after: "done", afterMessage: "/done/d/a.pdf; d/a.pdf.yaml stayed: EACCES" },
      "/done/d/a.pdf",
      "moved, and something stayed",
    ],
    [
      { after: "done", afterMessage: "/done; all/d/a.pdf" },
      "/done; all/d/a.pdf",
      "moved to a place with a semicolon in its name",
    ],
    [{ after: "done", afterMessage: null }, null, "deleted"],
    [{ after: "done", afterMessage: "it was gone already" }, null, "someone took it"],
    [{ after: "refused", afterMessage: "AFTER_REFUSED: so" }, "/srv/scans/d/a.pdf", "it stayed"],
    [{ after: null, goneAt: 5 }, null, "gone"],
    [undefined, null, "its row is forgotten"],
  ] as const)("a row that is %o now has its file at %s: %s", async ([set, file]) => {
    const desk = await SyncDesk.open();
    const then = aDocument({ dir: rawOfText("d"), name: rawOfText("a.pdf") });
    const now = set && { ...then, ...set };
    const outboxEntry = { number: 3, mirrorId: 1, at: 20, tries: 0, dueAt: 20 } as const;
    const news = newsOf(
      desk.mirror(),
      { ...outboxEntry, outcome: "converted", document: then },
      now,
    );
    expect(JSON.parse(news)).toMatchObject({ id: "20-3", path: "d/a.pdf", file });
  });
});

describe("before hooks", () => {
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
    const made = await aSettler({
      mirrors: [{ hooks: { before: { ...HOOK, ...set } }, ...mirror }],
    });
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
        attributes: { metadata: { title: { value: "T", from: "hook" } }, hook: ["name", "folder"] },
        remark: "named by the before hook; here it is a.pdf",
      });
    });

    test("a veto holds it for good, visibly; a person has the hook asked again", async () => {
      const { desk, settler } = await asking({ veto: "no invoice" });
      const row = settling(desk, "a.pdf", "d1");
      await desk.run(settler, held(desk));
      const vetoed = await desk.row(row);
      const problem = { code: "VETOED", message: "no invoice" };
      expect(vetoed).toMatchObject({ state: "held", problem, dueAt: null, digest: "d1" });
      await desk.advance(24 * HOUR);
      expect(desk.reader.hooked).toHaveLength(1);
      desk.reader.onHook = () => says({});
      await desk.journal.apply(retryOf(vetoed, desk.clock.now()));
      await desk.advance(SECOND);
      expect(await desk.row(row)).toMatchObject({ state: "pending" });
      expect(desk.reader.hooked).toHaveLength(2);
    });

    test.for([
      [says({ veto: "has canary-hook-4711" }), "VETOED"],
      [{ failure: "ended with exit code 1: canary-hook-4711" }, "HOOK_FAILED"],
      [says({ "canary-hook-4711": 1 }), "HOOK_FAILED"],
    ] as const)("a secret in %j is not kept with its document", async ([end, code]) => {
      const { desk, settler } = await asking({});
      desk.reader.onHook = () => end;
      const row = settling(desk, "a.pdf", "d1");
      await desk.run(settler);
      const { problem } = await desk.row(row);
      expect(problem).toMatchObject({ code, message: expect.stringContaining("[redacted]") });
      expect(JSON.stringify([problem, await desk.story(row)])).not.toContain("canary");
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
        problem: { code: "EXPIRY_UNKNOWN" },
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
      const { state, problem, dueAt } = await desk.row(row);
      expect({ state, code: problem?.code }).toEqual({ state: "held", code: "HOOK_FAILED" });
      expect(problem?.message).toMatch(message);
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
    test("changed meanwhile: it settles again, and the hook is asked about what is there", async () => {
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
      await desk.run(settler, new AfterLoop(desk.context), held(desk));
      await desk.advance(MINUTE);
      expect(desk.reader.acted).toEqual(["a.pdf"]);
      expect(desk.archive.count()).toBe(0);
      expect(desk.states()).toEqual([]);
      const last = (await desk.journal.history(row.id)).at(-1);
      expect(last?.detail).toBe("vetoed: split; moved to /srv/vetoed/a.pdf");
    });

    test("a source that is away is asked again, the hook is not", async () => {
      const { desk, settler } = await asking({ veto: "split" }, moving);
      const problem = { code: "SOURCE_OFFLINE", message: "so" };
      desk.reader.onAct = () => ({ kind: "refused", problem });
      settling(desk, "a.pdf", "d1");
      await desk.run(settler, new AfterLoop(desk.context), held(desk));
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
        problem: { code: "AFTER_REFUSED", message: "no right" },
      });
      const row = settling(desk, "a.pdf", "d1");
      await desk.run(settler, new AfterLoop(desk.context), held(desk));
      await desk.advance(HOUR);
      expect(await desk.row(row)).toMatchObject({
        state: "held",
        after: "due",
        afterMessage: "AFTER_REFUSED: no right",
        problem: { code: "VETOED", message: "split" },
      });
      expect(desk.reader.acted.length).toBeLessThan(30);
      desk.reader.onAct = () => ({ kind: "done", to: "/srv/vetoed/a.pdf" });
      await desk.advance(HOUR);
      expect(desk.states()).toEqual([]);
    });

    test("one that is edited while it is to be moved has another chance, whatever came of the move", async () => {
      const { desk } = await asking({ veto: "split" }, moving);
      const problem = { code: "VETOED", message: "split" };
      const row = desk.put({ path: "a.pdf", state: "held", digest: "d1", problem, after: "due" });
      const seen = onDisk(desk, "a.pdf", "d2");
      const at = desk.clock.now();
      const event = { type: "changed", at, dueAt: at + SECOND, seen } as const;
      desk.reader.onAct = async () => {
        await desk.journal.apply([{ type: "event", id: row.id, event }]);
        return { kind: "refused", problem: { code: "FILE_CHANGED", message: "other content" } };
      };
      await desk.run(new AfterLoop(desk.context));
      const again = { state: "settling", after: null, dueAt: expect.any(Number) };
      expect(await desk.row(row)).toMatchObject(again);
    });

    test("a held row that was vetoed once and is held for something else is never moved or deleted", async () => {
      const { desk, settler } = await asking({ veto: "split" }, moving);
      const row = settling(desk, "a.pdf", "d1");
      await desk.run(settler);
      const at = desk.clock.now();
      const seen = onDisk(desk, "a.pdf", "d2");
      const problem = { code: "FILE_EMPTY", message: "so" };
      await desk.journal.apply([
        { type: "event", id: row.id, event: { type: "changed", at, dueAt: at + HOUR, seen } },
        { type: "event", id: row.id, event: { type: "heldBack", at, dueAt: null, problem } },
      ]);
      await desk.run(new AfterLoop(desk.context));
      await desk.advance(MINUTE);
      expect(desk.reader.acted).toEqual([]);
    });
  });
});

describe("after hooks", () => {
  const HOOK: Hook = { command: ["/hooks/tell"], timeoutMs: 30 * SECOND, concurrency: 2 };
  const DONE: HookEnd = { output: Buffer.from("whatever") };

  async function afterHooks(set: Partial<Hook> = {}) {
    const desk = await SyncDesk.open({ mirrors: [{ hooks: { after: { ...HOOK, ...set } } }, {}] });
    desk.reader.onHook = () => DONE;
    const hooks = new AfterHooks(desk.context);
    await desk.journal.keepOutboxEntries([desk.mirror().row.id]);
    return { desk, hooks };
  }

  const news = (desk: SyncDesk) =>
    desk.reader.hooked.map(({ input }) => JSON.parse(input) as Record<string, unknown>);

  /** A document to which this happens. */
  async function happens(desk: SyncDesk, event: Event, set: Parameters<SyncDesk["put"]>[0] = {}) {
    const row = desk.put({
      state: "uploaded",
      documentId: 9_000 + desk.journal.store.nextId,
      ...set,
    });
    await desk.journal.apply([{ type: "event", id: row.id, event }]);
    return desk.row(row);
  }

  const converted = (desk: SyncDesk, after: "due" | null = null): Event => {
    const counted = { pages: 3, archiveBytes: 99, digidoc: false };
    return { type: "converted", at: desk.clock.now(), ...counted, after };
  };

  describe("what it tells", () => {
    test("a document that is converted, as `list --json` has it, and where its file is", async () => {
      const { desk, hooks } = await afterHooks();
      const row = await happens(desk, converted(desk), { path: "2026/a.pdf" });
      await desk.run(hooks);
      expect(news(desk)).toMatchObject([
        {
          version: 1,
          hook: "after",
          id: `${desk.clock.now()}-1`,
          outcome: "converted",
          path: "2026/a.pdf",
          file: "/srv/scans/2026/a.pdf",
          document: { documentId: row.documentId, state: "converted", pages: 3 },
        },
      ]);
      expect(await desk.journal.undelivered()).toEqual([]);
    });

    const problem = { code: "X", message: "so it was" };
    test.for<[string, Event, Partial<Document>, string]>([
      ["failed", { type: "vanished", at: 1, problem }, {}, "the archive lost it"],
      ["failed", { type: "refused", at: 1, problem }, { state: "uploading" }, "refused for good"],
      [
        "vetoed",
        { type: "vetoed", at: 1, digest: "d", problem, after: null },
        { state: "settling", documentId: null },
        "a hook would not have it",
      ],
    ])("%s, and why", async ([outcome, event, set]) => {
      const { desk, hooks } = await afterHooks();
      await happens(desk, event, set);
      await desk.run(hooks);
      expect(news(desk)).toMatchObject([{ outcome, reason: "so it was" }]);
    });

    test("nothing of a mirror without such a hook", async () => {
      const { desk, hooks } = await afterHooks();
      await happens(desk, converted(desk), { mirrorId: 2 });
      await desk.run(hooks);
      await desk.advance(MINUTE);
      expect(desk.readerOf(2).hooked).toEqual([]);
    });

    test("after the after-action, with the place where the file is then", async () => {
      const { desk, hooks } = await afterHooks();
      const at = { dir: rawOfText("d"), name: rawOfText("a.pdf") };
      const row = await happens(desk, converted(desk, "due"), at);
      await desk.run(hooks);
      await desk.advance(3 * SECOND);
      expect(desk.reader.hooked).toEqual([]);
      const set = {
        after: "done",
        afterMessage: "/srv/done/d/a.pdf; d/a.pdf.yaml stayed: EACCES",
      } as const;
      await desk.journal.apply([{ type: "note", id: row.id, at: 1, why: "after", set }]);
      await desk.advance(SECOND);
      expect(news(desk)).toMatchObject([{ file: "/srv/done/d/a.pdf" }]);
    });

    test("looked for ever more rarely while the after-action is due, as with a source that is away", async () => {
      const { desk, hooks } = await afterHooks();
      const rows = [];
      for (let n = 0; n < 5; n++) rows.push(await happens(desk, converted(desk, "due")));
      const putOff = vi.spyOn(desk.journal, "putOffOutboxEntry");
      await desk.run(hooks);
      await desk.advance(HOUR);
      expect(putOff.mock.calls.length / rows.length).toBeLessThan(50);
      const set = { after: "done", afterMessage: null } as const;
      for (const { id } of rows)
        await desk.journal.apply([{ type: "note", id, at: 1, why: "after", set }]);
      await desk.advance(10 * MINUTE);
      expect(desk.reader.hooked).toHaveLength(5);
    });

    test("of a file that cannot be moved or deleted just now, where it is", async () => {
      const { desk, hooks } = await afterHooks();
      const at = { dir: rawOfText("d"), name: rawOfText("a.pdf") };
      const row = await happens(desk, converted(desk, "due"), at);
      const set = { afterMessage: "AFTER_REFUSED: no room", dueAt: HOUR } as const;
      await desk.journal.apply([{ type: "note", id: row.id, at: 1, why: "after", set }]);
      await desk.run(hooks);
      expect(news(desk)).toMatchObject([{ file: expect.stringMatching(/\/d\/a\.pdf$/) }]);
    });

    test("of a file that is deleted, no place", async () => {
      const { desk, hooks } = await afterHooks();
      const row = await happens(desk, converted(desk, "due"));
      const set = { after: "done", afterMessage: null } as const;
      await desk.journal.apply([{ type: "note", id: row.id, at: 1, why: "after", set }]);
      await desk.run(hooks);
      expect(news(desk)).toMatchObject([{ file: null, fileBase64: null }]);
    });
  });

  describe("a hook that fails", () => {
    test("is told again under the same id, ever more rarely, and given up in the end", async () => {
      const { desk, hooks } = await afterHooks();
      desk.reader.onHook = () => ({ failure: "ended with exit code 1: canary-hook-4711" });
      const row = await happens(desk, converted(desk));
      await desk.run(hooks);
      await desk.advance(MINUTE);
      expect(desk.reader.hooked.length).toBeLessThan(5);
      await desk.advance(24 * HOUR);
      expect(desk.reader.hooked).toHaveLength(TRIES_MAX);
      expect(new Set(news(desk).map(({ id }) => id)).size).toBe(1);
      expect(await desk.journal.undelivered()).toEqual([]);
      expect(desk.warnings.at(-1)).toMatch(/did not get the outcome converted.*Given up/);
      expect((await desk.story(row)).at(-1)).toMatch(
        /did not get the outcome.*exit code 1: \[redacted\]/,
      );
      expect((await desk.row(row)).state).toBe("converted");
    });

    test("holds up nobody else's outcome", async () => {
      const { desk, hooks } = await afterHooks();
      desk.reader.onHook = ({ input }) => (input.includes("bad.pdf") ? { failure: "so" } : DONE);
      await happens(desk, converted(desk), { path: "bad.pdf" });
      for (let n = 0; n < 5; n++) await happens(desk, converted(desk), { path: `${n}.pdf` });
      await desk.run(hooks);
      await desk.advance(SECOND);
      expect(await desk.journal.undelivered()).toEqual([{ mirrorId: 1, outboxEntries: 1 }]);
    });

    test("with its reader: told again, and that was no try", async () => {
      const { desk, hooks } = await afterHooks();
      await happens(desk, converted(desk));
      desk.reader.cutNext("hook");
      await desk.run(hooks);
      expect((await desk.journal.outboxEntries(1, desk.clock.now(), 9))[0]?.tries).toBe(0);
      await desk.advance(5 * SECOND);
      expect(await desk.journal.undelivered()).toEqual([]);
    });
  });

  test("no more than `concurrency` at a time", async () => {
    const { desk, hooks } = await afterHooks();
    let running = 0;
    let most = 0;
    desk.reader.onHook = async () => {
      running += 1;
      most = Math.max(most, running);
      await desk.clock.sleep(SECOND, new AbortController().signal);
      running -= 1;
      return DONE;
    };
    for (let n = 0; n < 7; n++) await happens(desk, converted(desk));
    await desk.run(hooks);
    await desk.advance(10 * SECOND);
    expect(most).toBe(2);
    expect(desk.reader.hooked).toHaveLength(7);
  });

  test("what a later run finds undelivered is told by it", async () => {
    const { desk } = await afterHooks();
    await happens(desk, converted(desk));
    const later = new AfterHooks(desk.context);
    await desk.run(later);
    expect(desk.reader.hooked).toHaveLength(1);
  });
});
