import { describe, expect, test, vi } from "vitest";
import type { Hook } from "../../../src/config/hooks.ts";
import type { Document } from "../../../src/domain/document.ts";
import type { Event } from "../../../src/domain/life.ts";
import type { HookEnd } from "../../../src/reader/protocol.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { AfterHooks, TRIES_MAX } from "../../../src/sync/after-hooks.ts";
import { HOUR, MINUTE, SECOND, SyncDesk } from "./desk.ts";

const HOOK: Hook = { command: ["/hooks/tell"], timeoutMs: 30 * SECOND, concurrency: 2 };
const DONE: HookEnd = { output: Buffer.from("whatever") };

async function afterHooks(set: Partial<Hook> = {}) {
  const desk = await SyncDesk.open({ mirrors: [{ hooks: { after: { ...HOOK, ...set } } }, {}] });
  desk.reader.onHook = () => DONE;
  const hooks = new AfterHooks(desk.context);
  await desk.journal.keepTellings([desk.mirror().row.id]);
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
    expect(await desk.journal.untold()).toEqual([]);
  });

  const trouble = { code: "X", message: "so it was" };
  test.for<[string, Event, Partial<Document>, string]>([
    ["failed", { type: "vanished", at: 1, trouble }, {}, "the archive lost it"],
    ["failed", { type: "refused", at: 1, trouble }, { state: "uploading" }, "refused for good"],
    [
      "vetoed",
      { type: "vetoed", at: 1, digest: "d", trouble, after: null },
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
    const putOff = vi.spyOn(desk.journal, "putOffTelling");
    await desk.run(hooks);
    await desk.advance(HOUR);
    expect(putOff.mock.calls.length / rows.length).toBeLessThan(50);
    const set = { after: "done", afterMessage: null } as const;
    for (const { id } of rows)
      await desk.journal.apply([{ type: "note", id, at: 1, why: "after", set }]);
    await desk.advance(10 * MINUTE);
    expect(desk.reader.hooked).toHaveLength(5);
  });

  test("of a file that cannot be put away just now, where it is", async () => {
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
    desk.reader.onHook = () => ({ failure: "ended with exit code 1" });
    const row = await happens(desk, converted(desk));
    await desk.run(hooks);
    await desk.advance(MINUTE);
    expect(desk.reader.hooked.length).toBeLessThan(5);
    await desk.advance(24 * HOUR);
    expect(desk.reader.hooked).toHaveLength(TRIES_MAX);
    expect(new Set(news(desk).map(({ id }) => id)).size).toBe(1);
    expect(await desk.journal.untold()).toEqual([]);
    expect(desk.warnings.at(-1)).toMatch(/could not be told that it is converted.*Given up/);
    expect((await desk.story(row)).at(-1)).toMatch(/could not be told.*exit code 1/);
    expect((await desk.row(row)).state).toBe("converted");
  });

  test("holds up nobody else's outcome", async () => {
    const { desk, hooks } = await afterHooks();
    desk.reader.onHook = ({ input }) => (input.includes("bad.pdf") ? { failure: "so" } : DONE);
    await happens(desk, converted(desk), { path: "bad.pdf" });
    for (let n = 0; n < 5; n++) await happens(desk, converted(desk), { path: `${n}.pdf` });
    await desk.run(hooks);
    await desk.advance(SECOND);
    expect(await desk.journal.untold()).toEqual([{ mirrorId: 1, tellings: 1 }]);
  });

  test("with its reader: told again, and that was no try", async () => {
    const { desk, hooks } = await afterHooks();
    await happens(desk, converted(desk));
    desk.reader.cutNext("hook");
    await desk.run(hooks);
    expect((await desk.journal.tellings(1, desk.clock.now(), 9))[0]?.tries).toBe(0);
    await desk.advance(5 * SECOND);
    expect(await desk.journal.untold()).toEqual([]);
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

test("what a later run finds untold is told by it", async () => {
  const { desk } = await afterHooks();
  await happens(desk, converted(desk));
  const later = new AfterHooks(desk.context);
  await desk.run(later);
  expect(desk.reader.hooked).toHaveLength(1);
});
