import { describe, expect, test } from "vitest";
import { unauthorized, unreachable } from "../../fakes/scripted-archive.ts";
import { answers, aSender, oneAtATime, refusal, stalled, statesOf, stored } from "./a-sender.ts";
import { HOUR, MINUTE } from "./desk.ts";

const quota = { code: "QUOTA_LIMIT", message: "used up" };

describe("the gate", () => {
  test("closes for all at the first QUOTA_LIMIT; what was claimed is given back", async () => {
    const bench = await aSender();
    const { desk } = bench;
    const open = stalled(bench);
    for (let n = 0; n < 30; n++) desk.pending();
    await desk.run(bench.sender);
    open[0]?.end(refusal("QUOTA_LIMIT"));
    await desk.advance(0);
    expect(open).toHaveLength(4);
    for (const { end } of open.slice(1)) end(refusal("QUOTA_LIMIT"));
    await desk.advance(0);
    expect(statesOf(desk)).toEqual({ held: 30 });
    expect(bench.keeper.gate).toMatchObject({ probes: 0 });
    expect((await desk.row(30)).trouble?.code).toBe("QUOTA_LIMIT");
  });

  test("is probed by one document at a time, ever more rarely", async () => {
    const bench = await aSender();
    const { desk } = bench;
    for (let n = 0; n < 10; n++) desk.pending();
    answers(bench, refusal("QUOTA_LIMIT"));
    await desk.run(bench.sender);
    desk.reader.sent.splice(0);
    const probes = [];
    for (let quarter = 0; quarter < 8; quarter++) {
      await desk.advance(5 * MINUTE);
      probes.push(desk.reader.sent.splice(0).length);
    }
    expect(probes).toEqual([1, 0, 1, 0, 0, 0, 1, 0]);
  });

  test("lets everything go once a probe gets through", async () => {
    const bench = await aSender();
    const { desk } = bench;
    for (let n = 0; n < 10; n++) desk.pending();
    answers(bench, refusal("QUOTA_LIMIT"));
    await desk.run(bench.sender);
    let documentId = 100;
    answers(bench, () => stored(documentId++));
    await desk.advance(5 * MINUTE);
    expect(statesOf(desk)).toEqual({ uploaded: 10 });
  });

  test("closed by credentials it is probed by a question, not by a document", async () => {
    const bench = await aSender();
    const { desk } = bench;
    desk.pending();
    desk.archive.fail("folder", unauthorized());
    await desk.run(bench.sender);
    expect(statesOf(desk)).toEqual({ held: 1 });
    await desk.advance(5 * MINUTE);
    expect(desk.reader.sent).toHaveLength(1);
    expect(statesOf(desk)).toEqual({ uploaded: 1 });
  });

  test("closed by three documents in a row that met an unknown code", async () => {
    const bench = await aSender({ config: { upload: oneAtATime() } });
    const { desk } = bench;
    for (let n = 0; n < 10; n++) desk.pending();
    answers(bench, refusal("ODD_CODE"));
    await desk.run(bench.sender);
    expect(desk.reader.sent).toHaveLength(3);
    expect(bench.keeper.gate.trouble?.code).toBe("SAME_CODE_REPEATS");
    expect(statesOf(desk)).toEqual({ held: 10 });
  });

  test("behind it nothing is probed while paused", async () => {
    const bench = await aSender();
    const { desk, sender } = bench;
    desk.pending();
    await bench.keeper.refused(quota, false);
    await desk.journal.setPaused(true);
    await sender.reread();
    await desk.run(sender);
    await desk.advance(HOUR);
    expect(desk.reader.sent).toEqual([]);
    expect(statesOf(desk)).toEqual({ held: 1 });
  });

  test("a probe whose folder is missing answers nothing; the next one goes in its place", async () => {
    const bench = await aSender();
    const { desk } = bench;
    const small = { seen: { sizeBytes: 1, modifiedAt: 0, stamp: "a" } };
    desk.pending({ ...small, targetPath: "/Nowhere" });
    const other = desk.pending();
    await bench.keeper.refused(quota, false);
    await desk.run(bench.sender);
    await desk.advance(5 * MINUTE);
    expect(desk.reader.sent).toHaveLength(1);
    expect((await desk.row(other)).state).toBe("uploaded");
  });

  test("a probe that waits for another of its name, which only a person can tell, keeps no other", async () => {
    const bench = await aSender();
    const { desk, folderId } = bench;
    const trouble = { code: "DOUBT_AMBIGUOUS", message: "so" };
    const named = { sentName: "scan.pdf" };
    desk.put({
      state: "held",
      doubtAt: 1,
      dueAt: null,
      documentId: null,
      folderId,
      trouble,
      ...named,
    });
    const small = { sizeBytes: 1, modifiedAt: 0, stamp: "a" };
    const behind = desk.pending({ seen: small, ...named });
    const other = desk.pending();
    await bench.keeper.refused(quota, false);
    await desk.run(bench.sender);
    await desk.advance(5 * MINUTE);
    expect((await desk.row(other)).state).toBe("uploaded");
    expect((await desk.row(behind)).state).toBe("pending");
    expect(bench.keeper.gate.closedAt).toBeNull();
  });

  test("an archive that cannot be asked for a folder ends the probe: no other is tried", async () => {
    const bench = await aSender();
    const { desk } = bench;
    desk.pending();
    desk.pending();
    await bench.keeper.refused(quota, false);
    await desk.run(bench.sender);
    desk.archive.fail("folders", unreachable());
    await desk.advance(5 * MINUTE);
    expect(desk.reader.sent).toEqual([]);
    expect(statesOf(desk)).toEqual({ held: 2 });
  });
});

describe("a reader that is down", () => {
  test("nothing is claimed for it, others go on; once it is up, its documents go too", async () => {
    const bench = await aSender({ mirrors: [{}, {}] });
    const { desk } = bench;
    desk.reader.pid = undefined;
    const ours = desk.pending();
    const other = desk.pending({ mirrorId: 2 });
    await desk.run(bench.sender);
    await desk.advance(HOUR);
    expect(await desk.row(ours)).toMatchObject({ state: "pending", attempts: 0 });
    expect(await desk.story(ours)).toEqual([]);
    expect((await desk.row(other)).state).toBe("uploaded");
    desk.reader.pid = 4712;
    desk.context.bells.sending.ring();
    await desk.advance(0);
    expect((await desk.row(ours)).state).toBe("uploaded");
  });

  test("the gate is probed by a document of a reader that is up", async () => {
    const bench = await aSender({ mirrors: [{}, {}] });
    const { desk } = bench;
    desk.reader.pid = undefined;
    desk.pending({ seen: { sizeBytes: 1, modifiedAt: 0, stamp: "a" } });
    const other = desk.pending({ mirrorId: 2 });
    await bench.keeper.refused(quota, false);
    await desk.run(bench.sender);
    await desk.advance(5 * MINUTE);
    expect((await desk.row(other)).state).toBe("uploaded");
    expect(bench.keeper.gate.closedAt).toBeNull();
  });
});
