/** `duplicates: skip`: what is known of a content decides whether it is sent once more. */
import { expect, test } from "vitest";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { aSender } from "./a-sender.ts";
import { sent } from "./a-settler.ts";
import { MINUTE } from "./desk.ts";

const skipping = () => aSender({ mirrors: [{ rules: { ...NO_RULES, duplicates: "skip" } }] });

test("once the file that was sent has been edited, a duplicate of it stands for it", async () => {
  const { desk, sender } = await skipping();
  const original = sent(desk, "original.pdf", "d1", { current: false });
  const { documentId } = original;
  sent(desk, "copy.pdf", "d1", { documentId, duplicateOf: original.id });
  const { id } = desk.pending({ path: "third.pdf", digest: "d1" });
  await desk.run(sender);
  const named = { state: "converted", documentId, duplicateOf: original.id };
  expect(await desk.row(id)).toMatchObject(named);
  expect((await desk.row(id)).remark).toContain("copy.pdf");
  expect(desk.reader.sent).toEqual([]);
});

test("where neither is there as it was sent, it is sent", async () => {
  const { desk, sender } = await skipping();
  const original = sent(desk, "original.pdf", "d1", { current: false });
  const { documentId } = original;
  sent(desk, "copy.pdf", "d1", { documentId, duplicateOf: original.id, current: false });
  desk.pending({ path: "third.pdf", digest: "d1" });
  await desk.run(sender);
  expect(desk.reader.sent.map(({ path }) => path)).toEqual(["third.pdf"]);
});

test("what was claimed by name and size has nobody's content: it is sent", async () => {
  const { desk, sender } = await skipping();
  sent(desk, "claimed.pdf", "d1", { sentBytes: null });
  desk.pending({ path: "copy.pdf", digest: "d1" });
  await desk.run(sender);
  expect(desk.reader.sent.map(({ path }) => path)).toEqual(["copy.pdf"]);
});

test("behind one that is held in doubt it waits for what becomes of that", async () => {
  const { desk, sender } = await skipping();
  const problem = { code: "DOUBT_AMBIGUOUS", message: "so" };
  const held = { state: "held", documentId: null, doubtAt: 1, problem } as const;
  const before = sent(desk, "scan.pdf", "d1", held);
  const { id } = desk.pending({ path: "copy.pdf", digest: "d1" });
  await desk.run(sender);
  expect(await desk.row(id)).toMatchObject({ state: "pending" });
  desk.journal.store.put({ ...before, state: "converted", documentId: 7, doubtAt: null });
  await desk.advance(2 * MINUTE);
  expect(await desk.row(id)).toMatchObject({ state: "converted", duplicateOf: before.id });
  expect(desk.reader.sent).toEqual([]);
});
