/** A share that hangs: its uploads wait for it, and nothing else waits for them. */
import { expect, test } from "vitest";
import { answers, aSender, stalled, stored } from "./a-sender.ts";
import { SECOND } from "./desk.ts";

const twoMirrors = { mirrors: [{}, { source: "/srv/other" }] };

test("uploads stuck with a silent reader take no place from other mirrors", async () => {
  const bench = await aSender(twoMirrors);
  const { desk, sender } = bench;
  const stuck = stalled(bench, 1);
  for (let n = 0; n < 20; n++) desk.pending({ mirrorId: 1 });
  await desk.run(sender);
  expect(stuck).toHaveLength(4);
  const others = Array.from({ length: 20 }, () => desk.pending({ mirrorId: 2 }));
  await desk.advance(SECOND);
  expect(desk.readerOf(2).sent).toHaveLength(0);
  desk.readerOf(1).silent = true;
  sender.rebalance();
  await desk.advance(SECOND);
  for (const other of others) expect((await desk.row(other)).state).toBe("uploaded");
  expect(stuck).toHaveLength(4);
});

test("what was claimed for a silent reader is given back, and goes out when it speaks", async () => {
  const bench = await aSender(twoMirrors);
  const { desk, sender } = bench;
  const stuck = stalled(bench, 1);
  const rows = Array.from({ length: 8 }, () => desk.pending({ mirrorId: 1 }));
  await desk.run(sender);
  desk.readerOf(1).silent = true;
  sender.rebalance();
  await desk.advance(SECOND);
  const states = await Promise.all(rows.map(async (row) => (await desk.row(row)).state));
  expect(states.toSorted()).toEqual([...Array(4).fill("pending"), ...Array(4).fill("uploading")]);
  desk.readerOf(1).silent = false;
  sender.rebalance();
  for (let id = 1; stuck.length > 0; id++) {
    stuck.shift()?.end(stored(id));
    await desk.advance(SECOND);
  }
  for (const row of rows) expect((await desk.row(row)).state).toBe("uploaded");
});

test.for([
  [
    { kind: "lost", trouble: { code: "REPLY_LOST", message: "the reader ended: SIGKILL" } },
    "a reader that died with its uploads says nothing about the archive",
  ],
  [
    {
      kind: "notSent",
      trouble: { code: "FILE_STALLED", message: "the file gave nothing" },
      retryAfterMs: null,
    },
    "a file that stalls is the share's trouble",
  ],
] as const)("%# is no outage: %s", async ([outcome]) => {
  const bench = await aSender();
  const { desk, sender } = bench;
  answers(bench, outcome);
  for (let n = 0; n < 12; n++) desk.pending();
  await desk.run(sender);
  expect(desk.reader.sent.length).toBeGreaterThanOrEqual(12);
  expect(sender.outage).toBeUndefined();
  expect(desk.warnings).toEqual([]);
});
