import { ArchiveError } from "../../../src/archive/archive-error.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { Folders, Placement } from "../../../src/sync/folders.ts";
import { Held } from "../../../src/sync/held.ts";
import { AfterHooks } from "../../../src/sync/after-hooks.ts";
import { ClockWatch, pullInUnexplained } from "../../../src/sync/clock-skew.ts";
import { describe, expect, test } from "vitest";
import { aSettler, settling } from "./a-settler.ts";
import { HOUR, MINUTE, SyncDesk } from "./desk.ts";

describe("archive time", () => {
  const held = (desk: SyncDesk) => {
    const folders = new Folders(desk.archive);
    return new Held(desk.context, folders, new Placement(folders));
  };

  describe("an expiry date is estimated by the archive's clock", () => {
    const DAY = 24 * HOUR;
    const YEAR = 365 * DAY;
    const expiry = { after: { months: 0, days: 30 }, from: { kind: "uploaded" } } as const;
    const asked = (desk: SyncDesk) => desk.archive.asked.map(({ operation }) => operation);
    const dated = () => aSettler({ mirrors: [{ rules: { ...NO_RULES, expiry } }] });

    test.for([0, 20 * HOUR, -20 * HOUR])("which is %i ms ahead: it counts", async (offsetMs) => {
      const { desk, settler } = await dated();
      desk.archive.clockOffsetMs = offsetMs;
      const row = settling(desk, "scan.pdf", "d1");
      await desk.run(settler);
      const { state, attributes } = await desk.row(row);
      expect(state).toBe("pending");
      expect(attributes?.expiry?.at).toBe(desk.clock.now() + offsetMs + 30 * DAY);
    });

    test.for([
      [56 * YEAR, "the host has no battery"],
      [-9 * YEAR, "its clock was mistyped"],
      [25 * HOUR, "more than a day"],
      [-25 * HOUR, "the other way"],
    ] as const)("which is %i ms ahead: held until they agree, %s", async ([offsetMs]) => {
      const { desk, settler } = await dated();
      desk.archive.clockOffsetMs = offsetMs;
      const row = settling(desk, "scan.pdf", "d1");
      await desk.run(settler, held(desk));
      const { state, problem } = await desk.row(row);
      expect(state).toBe("held");
      expect(problem).toMatchObject({
        code: "CLOCKS_DIFFER",
        message: expect.stringMatching(
          /by this host's clock it is \d{4}-.*, by the archive's \d{4}-/,
        ),
      });
      desk.archive.clockOffsetMs = 0;
      await desk.advance(11 * MINUTE);
      expect((await desk.row(row)).state).toBe("pending");
    });

    test("which has not been heard since the start: the archive is asked, once", async () => {
      const { desk, settler } = await dated();
      desk.archive.clockOffsetMs = undefined;
      desk.archive.offsetToLearn = 40 * DAY;
      for (const name of ["a.pdf", "b.pdf"]) settling(desk, name, name);
      await desk.run(settler);
      expect(desk.states()).toEqual(["held", "held"]);
      expect(asked(desk)).toEqual(["folder"]);
    });

    test("which cannot be asked: held until it can be", async () => {
      const { desk, settler } = await dated();
      desk.archive.clockOffsetMs = undefined;
      desk.archive.offsetToLearn = 0;
      desk.archive.fail("folder", new ArchiveError("notSent", "NETWORK_UNREACHABLE", "no way"));
      for (const name of ["a.pdf", "b.pdf"]) settling(desk, name, name);
      await desk.run(settler, held(desk));
      expect(desk.states()).toEqual(["held", "held"]);
      expect(asked(desk)).toHaveLength(1);
      await desk.advance(11 * MINUTE);
      expect(desk.states()).toEqual(["pending", "pending"]);
    });

    test("which it never tells: the host's is all there is, and the archive is asked once", async () => {
      const { desk, settler } = await dated();
      desk.archive.clockOffsetMs = undefined;
      for (const name of ["a.pdf", "b.pdf"]) settling(desk, name, name);
      await desk.run(settler);
      expect(desk.states()).toEqual(["pending", "pending"]);
      expect(asked(desk)).toHaveLength(1);
    });

    test("where there is no expiry date, no clock is asked for", async () => {
      const { desk, settler } = await aSettler();
      desk.archive.clockOffsetMs = 56 * YEAR;
      const row = settling(desk, "scan.pdf", "d1");
      await desk.run(settler);
      expect((await desk.row(row)).state).toBe("pending");
      expect(asked(desk)).toEqual([]);
    });
  });
});

describe("fixed clock", () => {
  const HOUR = 3_600_000;
  const YEAR = 365 * 24 * HOUR;

  describe("a clock that is set back", () => {
    test("at the start, what is due in a time that no wait can explain is due now", async () => {
      const desk = await SyncDesk.open();
      const now = desk.clock.now();
      const far = desk.put({ path: "far.pdf", state: "pending", dueAt: now + 70 * YEAR });
      const doubted = desk.put({
        path: "doubt.pdf",
        state: "inDoubt",
        folderId: 7,
        doubtAt: now,
        dueAt: now + YEAR,
      });
      const near = desk.put({ path: "near.pdf", state: "pending", dueAt: now + 5 * HOUR });
      await pullInUnexplained(desk.context);
      expect((await desk.row(far.id)).dueAt).toBe(now);
      expect((await desk.row(doubted.id)).dueAt).toBe(now);
      expect((await desk.row(near.id)).dueAt, "a backoff may well be so long").toBe(now + 5 * HOUR);
    });

    test("while running, it is noticed, and what waited is due now", async () => {
      const desk = await SyncDesk.open();
      const watch = new ClockWatch(desk.context);
      const waiting = desk.put({
        path: "a.pdf",
        state: "pending",
        dueAt: desk.clock.now() + 60_000,
      });
      desk.clock.jump(-2 * HOUR);
      expect(await watch.look()).toBe(true);
      expect((await desk.row(waiting.id)).dueAt).toBe(desk.clock.now());
      expect(await watch.look(), "once").toBe(false);
    });

    test("a file that settles has its quiet time all the same", async () => {
      const desk = await SyncDesk.open();
      const watch = new ClockWatch(desk.context);
      const settling = desk.put({ state: "settling", dueAt: desk.clock.now() + 3_000 });
      desk.clock.jump(-2 * HOUR);
      expect(await watch.look()).toBe(true);
      expect((await desk.row(settling.id)).dueAt).toBe(desk.clock.now() + 3_000);
    });

    test.for([
      [HOUR, "a clock set forward makes nothing late"],
      [-5_000, "a correction is not worth a stir"],
    ] as const)("by %i ms is not taken for one: %s", async ([ms]) => {
      const desk = await SyncDesk.open();
      const watch = new ClockWatch(desk.context);
      desk.clock.jump(ms);
      await desk.clock.advance(1_000);
      expect(await watch.look()).toBe(false);
    });

    test.for([
      ["at the start", ({ context }: SyncDesk) => pullInUnexplained(context)],
      ["while running", (_: SyncDesk, watch: ClockWatch) => watch.look()],
    ] as const)("%s, what an `after` hook is to be told is pulled in too", async ([, fix]) => {
      const command = ["/hooks/tell"];
      const after = { command, timeoutMs: 1_000, concurrency: 1 };
      const desk = await SyncDesk.open({ mirrors: [{ hooks: { after } }] });
      const watch = new ClockWatch(desk.context);
      desk.reader.onHook = () => ({ output: Buffer.alloc(0) });
      await desk.journal.keepOutboxEntries([1]);
      const { id } = desk.put({ state: "uploaded", documentId: 9_001 });
      const at = desk.clock.now();
      const counted = { pages: 1, archiveBytes: 9, digidoc: false, after: null };
      const event = { type: "converted", at, ...counted } as const;
      await desk.journal.apply([{ type: "event", id, event }]);
      desk.clock.jump(-YEAR);
      await fix(desk, watch);
      await desk.run(new AfterHooks(desk.context));
      expect(desk.reader.hooked).toHaveLength(1);
      expect(await desk.journal.undelivered()).toEqual([]);
    });

    test("a gate's probe is pulled in too", async () => {
      const desk = await SyncDesk.open();
      const { journal, clock } = desk.context;
      const problem = { code: "QUOTA_LIMIT", message: "used up" };
      const now = clock.now();
      await journal.setGate({ closedAt: now, problem, probes: 1, nextProbeAt: now + YEAR });
      await pullInUnexplained(desk.context);
      expect((await journal.gate()).nextProbeAt).toBe(now);
    });
  });
});
