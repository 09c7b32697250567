/** Sending within hours, below a ceiling, and at the pace that the archive bears. */
import { ArchiveError } from "../../../src/archive/archive-error.ts";
import { GROW_AFTER } from "../../../src/domain/concurrency.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { silentLog } from "../../../src/std/log.ts";
import { Pace, waitingOf } from "../../../src/sync/pace.ts";
import { throttledArchive } from "../../../src/sync/wrapped-archive.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { aConfig } from "../../fixtures/a-config.ts";
import { answers, aSender, stalled, statesOf, stored } from "./a-sender.ts";
import { CONFIG, HOUR, MINUTE, SECOND, type SyncDesk, never } from "./desk.ts";

const UPLOAD = { ...CONFIG.upload, concurrency: 8 };

/** The desk's clock begins at 2023-11-14 22:13:20 UTC. */
const START = Date.UTC(2023, 10, 14, 22, 13, 20);

const busy = (retryAfterMs: number | null, code = "ARCHIVE_BUSY"): Outcome => {
  return {
    kind: "refused",
    problem: { code, message: "asked for a pause" },
    retryAfterMs,
    pressed: true,
  };
};

const lost503 = (retryAfterMs: number | null): Outcome => {
  const problem = { code: "HTTP_503", message: "answered with nothing" };
  return { kind: "inDoubt", problem, retryAfterMs, pressed: true };
};

/** A new run over the same journal. */
const restarted = ({ journal, context, clock }: SyncDesk) =>
  Pace.open({ journal, config: context.config, clock, log: silentLog });

describe("hours", () => {
  const zone = process.env["TZ"];
  beforeEach(() => {
    process.env["TZ"] = "UTC";
  });
  afterEach(() => {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  });

  const hours = [{ from: 23 * 60, to: 7 * 60 }];

  test("nothing is begun outside of them; then it continues automatically", async () => {
    const bench = await aSender({ config: { upload: { ...UPLOAD, hours } } });
    const { desk } = bench;
    for (let n = 0; n < 20; n++) desk.pending();
    await desk.run(bench.sender);
    const opens = START + 46 * MINUTE + 40 * SECOND;
    const { context, journal, clock } = desk;
    expect(await waitingOf(journal, context.config, clock.now())).toMatchObject({
      why: "hours",
      until: opens,
    });
    await desk.advance(opens - START - 1);
    expect(statesOf(desk)).toEqual({ pending: 20 });
    await desk.advance(1);
    expect(statesOf(desk)).toEqual({ uploaded: 20 });
    expect(await waitingOf(journal, context.config, clock.now())).toBeNull();
  });

  test("when they end, what is under way is finished, and what was only claimed is given back", async () => {
    const until = [{ from: 20 * 60, to: 22 * 60 + 15 }];
    const bench = await aSender({
      config: { upload: { ...UPLOAD, concurrency: 2, hours: until } },
    });
    const { desk } = bench;
    for (let n = 0; n < 10; n++) desk.pending();
    const open = stalled(bench);
    await desk.run(bench.sender);
    expect(open).toHaveLength(2);
    await desk.advance(2 * MINUTE);
    for (const [index, { end }] of open.splice(0).entries()) end(stored(100 + index));
    await desk.advance(MINUTE);
    expect(open).toHaveLength(0);
    expect(statesOf(desk)).toEqual({ uploaded: 2, pending: 8 });
    expect((await desk.row(9)).attempts).toBe(0);
    await desk.advance(22 * HOUR);
    expect(open).toHaveLength(2);
  });

  test("no document probes the gate outside of them", async () => {
    const bench = await aSender({ config: { upload: { ...UPLOAD, hours } } });
    const { desk } = bench;
    const problem = { code: "QUOTA_LIMIT", message: "used up" };
    await desk.journal.setGate({ closedAt: 1, problem, probes: 1, nextProbeAt: 1 });
    await bench.keeper.reread();
    desk.put({ state: "held", problem, dueAt: null });
    await desk.run(bench.sender);
    await desk.advance(40 * MINUTE);
    expect(desk.reader.sent).toEqual([]);
    await desk.advance(10 * MINUTE);
    expect(desk.reader.sent).toHaveLength(1);
  });
});

describe("an archive that asks for patience", () => {
  test.for([
    ["429", busy(null), "asked for by name"],
    ["503", lost503(null), "not available just now"],
  ] as const)(
    "%s halves what runs at the same time, once a round trip (%s)",
    async ([, outcome]) => {
      const bench = await aSender({ config: { upload: UPLOAD } });
      const { desk } = bench;
      for (let n = 0; n < 60; n++) desk.pending();
      const open = stalled(bench);
      await desk.run(bench.sender);
      expect(open).toHaveLength(8);
      for (const { end } of open.splice(0)) end(outcome);
      await desk.advance(0);
      expect(desk.context.pace.limit).toBe(4);
      // What had been claimed before comes with no more than half at a time.
      expect(open.length).toBeLessThanOrEqual(4);
      expect((await desk.journal.pace()).limit).toBe(4);
    },
  );

  test("what it accepts lets it grow back", async () => {
    const bench = await aSender({ config: { upload: UPLOAD } });
    const { desk } = bench;
    for (let n = 0; n < 200; n++) desk.pending();
    answers(bench, busy(null));
    await desk.run(bench.sender);
    expect(desk.context.pace.limit).toBeLessThan(8);
    let id = 1_000;
    answers(bench, () => stored(id++));
    await desk.advance(10 * MINUTE);
    expect(id - 1_000).toBeGreaterThan(8 * GROW_AFTER);
    expect(desk.context.pace.limit).toBe(8);
    expect((await desk.journal.pace()).limit).toBeNull();
  });

  test.for([
    ["429", busy(2 * HOUR), "refused"],
    ["503", lost503(2 * HOUR), "in doubt"],
  ] as const)(
    "Retry-After of a %s keeps the whole account, over a restart too (%s)",
    async ([, outcome]) => {
      const bench = await aSender({ config: { upload: UPLOAD } });
      const { desk } = bench;
      for (let n = 0; n < 30; n++) desk.pending();
      let first = true;
      answers(bench, () => {
        if (!first) return stored(900 + desk.reader.sent.length);
        first = false;
        return outcome;
      });
      await desk.run(bench.sender);
      const begun = desk.reader.sent.length;
      expect(begun).toBeLessThanOrEqual(8);
      await desk.advance(2 * HOUR - SECOND);
      expect(desk.reader.sent).toHaveLength(begun);
      const { context, journal, clock } = desk;
      expect(await waitingOf(journal, context.config, clock.now())).toMatchObject({ why: "asked" });
      expect((await restarted(desk)).pauseMs).toBe(SECOND);
      await desk.advance(MINUTE);
      expect(desk.reader.sent.length).toBeGreaterThan(begun);
      expect(await waitingOf(journal, context.config, clock.now())).toBeNull();
    },
  );

  test("a clock that was set back lengthens no pause; one absurdly long is cut", async () => {
    const { desk } = await aSender();
    const load = {
      kind: "refused" as const,
      pressed: true,
      problem: { code: "ARCHIVE_BUSY", message: "busy" },
    };
    await desk.context.pace.learn({ ...load, retryAfterMs: MINUTE }, 0);
    desk.clock.jump(-HOUR);
    expect(desk.context.pace.pauseMs).toBe(MINUTE);
    expect((await restarted(desk)).pauseMs).toBe(MINUTE);
    await desk.context.pace.learn({ ...load, retryAfterMs: 1e15 }, 0);
    expect(desk.context.pace.pauseMs).toBe(24 * HOUR);
  });

  test("while it is left alone, no list is asked of it either", async () => {
    const { desk } = await aSender();
    const { pace } = desk.context;
    const patient = throttledArchive(desk.archive, pace, desk.clock);
    await patient.folder(undefined, never);
    const problem = { code: "ARCHIVE_BUSY", message: "busy" };
    await pace.learn({ kind: "refused", pressed: true, retryAfterMs: MINUTE, problem }, 0);
    const refused = await patient.folder(undefined, never).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ArchiveError);
    expect(refused).toMatchObject({ kind: "notSent", code: "ARCHIVE_BUSY", retryAfterMs: MINUTE });
    await desk.advance(MINUTE);
    await patient.folder(undefined, never);
  });
});

describe("a ceiling of documents under conversion", () => {
  test("is never passed; below it, it goes on", async () => {
    const { conversion } = aConfig(
      "conversion: { poll: { initial: 1h, max: 1h }, maxOutstanding: 5 }",
    );
    const config = { upload: UPLOAD, conversion };
    const bench = await aSender({ config });
    const { desk } = bench;
    for (let n = 0; n < 12; n++) desk.pending();
    await desk.run(bench.sender);
    expect(statesOf(desk)).toEqual({ uploaded: 5, pending: 7 });
    const { context, journal, clock } = desk;
    expect(await waitingOf(journal, context.config, clock.now())).toMatchObject({
      why: "conversion",
      until: null,
    });
    const uploaded = (await journal.outstandingIn(bench.folderId, 2)).map(({ id }) => id);
    const counted = { at: clock.now(), pages: 1, archiveBytes: 1, digidoc: false, after: null };
    await journal.apply(
      uploaded.map((id) => ({ type: "event", id, event: { type: "converted", ...counted } })),
    );
    await desk.advance(0);
    expect(statesOf(desk)).toEqual({ converted: 2, uploaded: 5, pending: 5 });
  });
});
