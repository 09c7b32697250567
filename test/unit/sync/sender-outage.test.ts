import { describe, expect, test } from "vitest";
import { unreachable } from "../../fakes/scripted-archive.ts";
import { answers, aSender, notSent, refusal, statesOf, stored } from "./a-sender.ts";
import { MINUTE, SECOND } from "./desk.ts";

describe("an archive that cannot be reached", () => {
  test("is tried by one document at a time, ever more rarely; said once a try", async () => {
    const bench = await aSender();
    const { desk } = bench;
    for (let n = 0; n < 40; n++) desk.pending();
    answers(bench, notSent());
    await desk.run(bench.sender);
    // Those that were claimed when it was noticed.
    const begun = desk.reader.sent.splice(0).length;
    expect(begun).toBeLessThanOrEqual(8);
    expect(bench.sender.outage).toMatchObject({ tries: 1 });
    const tries = [];
    for (let second = 0; second < 32; second++) {
      await desk.advance(SECOND);
      tries.push(desk.reader.sent.splice(0).length);
    }
    const at = tries.flatMap((count, second) => (count > 0 ? [[second + 1, count]] : []));
    expect(at).toEqual([
      [1, 1],
      [3, 1],
      [7, 1],
      [15, 1],
      [31, 1],
    ]);
    expect(desk.warnings).toHaveLength(6);
    expect(statesOf(desk)).toEqual({ pending: 40 });
  });

  test("once it answers, everything goes on at once", async () => {
    const bench = await aSender();
    const { desk } = bench;
    for (let n = 0; n < 40; n++) desk.pending();
    answers(bench, notSent());
    await desk.run(bench.sender);
    await desk.advance(5 * SECOND);
    let documentId = 100;
    answers(bench, () => stored(documentId++));
    await desk.advance(10 * SECOND);
    expect(bench.sender.outage).toBeUndefined();
    expect(statesOf(desk)).toEqual({ uploaded: 40 });
  });

  test("Retry-After is waited for, by all documents", async () => {
    const bench = await aSender();
    const { desk } = bench;
    for (let n = 0; n < 10; n++) desk.pending();
    answers(bench, refusal("ARCHIVE_BUSY", 2 * MINUTE));
    await desk.run(bench.sender);
    desk.reader.sent.splice(0);
    await desk.advance(2 * MINUTE - 1);
    expect(desk.reader.sent).toHaveLength(0);
    await desk.advance(1);
    expect(desk.reader.sent).toHaveLength(1);
  });

  test("the longest of several Retry-After counts", async () => {
    const bench = await aSender();
    const { desk } = bench;
    for (let n = 0; n < 10; n++) desk.pending();
    const waits = [null, 10 * MINUTE, 5 * SECOND];
    answers(bench, () => refusal("ARCHIVE_BUSY", waits.shift() ?? null));
    await desk.run(bench.sender);
    desk.reader.sent.splice(0);
    await desk.advance(10 * MINUTE - 1);
    expect(desk.reader.sent).toHaveLength(0);
  });

  test("an archive that stays busy is asked ever more rarely", async () => {
    const bench = await aSender();
    const { desk } = bench;
    for (let n = 0; n < 500; n++) desk.pending();
    answers(bench, refusal("ARCHIVE_BUSY"));
    await desk.run(bench.sender);
    await desk.advance(5 * MINUTE);
    expect(desk.reader.sent.length).toBeLessThan(20);
    expect(statesOf(desk)).toEqual({ pending: 500 });
  });

  test("folders that cannot be looked up are an outage too: no document is touched", async () => {
    const bench = await aSender();
    const { desk } = bench;
    const { id } = desk.pending();
    desk.archive.fail("folder", unreachable(), unreachable());
    await desk.run(bench.sender);
    expect(bench.sender.outage?.trouble.code).toBe("ARCHIVE_UNREACHABLE");
    expect(await desk.row(id)).toMatchObject({ state: "pending", attempts: 0 });
    await desk.advance(5 * SECOND);
    expect((await desk.row(id)).state).toBe("uploaded");
  });
});
