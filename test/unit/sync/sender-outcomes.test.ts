import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { Settler } from "../../../src/sync/settler.ts";
import { answers, aSender, refusal, statesOf, stored } from "./a-sender.ts";
import { settling } from "./a-settler.ts";
import { HOUR, MINUTE, SECOND } from "./desk.ts";

describe("what an outcome means for its document", () => {
  const lost: Outcome = { kind: "lost", trouble: { code: "REPLY_LOST", message: "cut" } };
  const changed: Outcome = {
    kind: "changed",
    seen: {
      sizeBytes: 5,
      modifiedAt: 5,
      stamp: "b",
    },
  };
  const unreadable: Outcome = {
    kind: "unreadable",
    trouble: {
      code: "FILE_UNREADABLE",
      message: "no right",
    },
  };

  test.for([
    [stored(9), "uploaded", "the archive has it"],
    [lost, "inDoubt", "it may have it"],
    [changed, "settling", "the quiet time starts over"],
    [unreadable, "held", "a person gives the right; time is waited for"],
    [refusal("FILE_SIZE_TOO_BIG"), "failed", "it will never take it"],
    [refusal("INVALID_FILENAME"), "failed", "it will never take it"],
    [refusal("PLUGIN_REMINDER_NOT_INSTALLED"), "held", "it waits for the plugin"],
    [refusal("FOLDER_NOT_EXISTS"), "held", "it waits for the folder"],
    [refusal("ODD_CODE"), "held", "time may tell"],
    [refusal("QUOTA_LIMIT"), "held", "the gate is closed"],
  ] as const)("%o: %s, because %s", async ([outcome, state]) => {
    const bench = await aSender();
    const { id } = bench.desk.pending();
    answers(bench, outcome);
    await bench.desk.run(bench.sender);
    const row = await bench.desk.row(id);
    expect(row).toMatchObject({ state, attempts: 1 });
    const [attempt] = await bench.desk.journal.attempts(id);
    // What became of an attempt that is in doubt is not known yet.
    expect(attempt?.endedAt).toBe(state === "inDoubt" ? null : bench.desk.clock.now());
  });

  test("gone: it is inspected once more, and then forgotten", async () => {
    const bench = await aSender();
    const { desk } = bench;
    const { id } = desk.pending({ path: "scan.pdf" });
    answers(bench, { kind: "gone" });
    await desk.run(bench.sender, new Settler(desk.context));
    expect(await desk.journal.document(id)).toBeUndefined();
    expect(desk.reader.inspected).toEqual(["scan.pdf"]);
  });

  test("gone, but back by then: it is sent", async () => {
    const bench = await aSender();
    const { desk } = bench;
    const { id, seen } = desk.pending({ path: "scan.pdf" });
    desk.reader.files.set("scan.pdf", { seen, digest: "d2" });
    const outcomes: Outcome[] = [{ kind: "gone" }, stored(9)];
    answers(bench, () => outcomes.shift() ?? { kind: "gone" });
    await desk.run(bench.sender, new Settler(desk.context));
    // It was not there a moment ago: it has to be quiet like any other.
    expect(await desk.row(id)).toMatchObject({ state: "settling" });
    await desk.advance(3 * SECOND);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", digest: "d2" });
  });

  test("refused for its folder: the tree is read anew for the next", async () => {
    const bench = await aSender();
    const { desk } = bench;
    desk.pending();
    answers(bench, refusal("FOLDER_NOT_EXISTS"));
    await desk.run(bench.sender);
    desk.archive.forgetAsked();
    desk.pending();
    desk.context.bells.sending.ring();
    await desk.advance(0);
    expect(desk.archive.count("folders")).toBe(1);
  });

  test("a missing folder holds its own documents alone", async () => {
    const bench = await aSender();
    const { desk } = bench;
    for (let n = 0; n < 10; n++) desk.pending({ targetPath: n % 2 === 0 ? "/Scans" : "/Nowhere" });
    await desk.run(bench.sender);
    expect(statesOf(desk)).toEqual({ uploaded: 5, held: 5 });
    expect(await desk.journal.waitingFolders()).toMatchObject([
      { targetPath: "/Nowhere", code: "FOLDER_MISSING", documents: 5 },
    ]);
  });
});

test("a file that is torn by each attempt, and found whole by each look, is sent ever more rarely", async () => {
  const bench = await aSender();
  const { desk, sender } = bench;
  answers(bench, { kind: "changed", seen: null });
  const { id } = settling(desk, "scan.pdf", "d1");
  await desk.clock.advance(MINUTE);
  await desk.run(sender, new Settler(desk.context));
  await desk.advance(6 * HOUR);
  const { attempts } = await desk.row(id);
  expect(attempts).toBeGreaterThan(60);
  expect(attempts).toBeLessThan(90);
});
