import { expect, test } from "vitest";
import { Destinations } from "../../../src/report/plan/destinations.ts";
import { Planner } from "../../../src/report/plan/planner.ts";
import type { PlanLine } from "../../../src/report/plan/plan-line.ts";
import { AfterActions } from "../../../src/sync/after-actions.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { never, SyncDesk } from "../sync/desk.ts";

test("each file is looked at once, be its pages counted or not; again only where there was no time to count them", async () => {
  const desk = await SyncDesk.open();
  const lines: PlanLine[] = [];
  const planner = new Planner({
    context: desk.context,
    destinations: new Destinations(desk.context.archive),
    followed: { rows: new Set(), tombstones: new Set(), afterActions: new AfterActions() },
    mirror: desk.mirror(),
    isDecidedOtherwise: false,
    signal: never,
    emit: async (line) => void lines.push(line),
  });
  const seen = { sizeBytes: 9, modifiedAt: 0, stamp: "s" };
  const reader = desk.readerOf(1);
  reader.files.set(rawOfText("damaged.pdf"), { seen, digest: "d1" });
  reader.files.set(rawOfText("whole.pdf"), { seen, digest: "d2", pages: 3 });
  const hurried = { seen, digest: "d3", isUncounted: true };
  reader.files.set(rawOfText("hurried.pdf"), hurried);
  reader.alone.set(rawOfText("hurried.pdf"), { seen, digest: "d3", pages: 7 });
  const names = ["damaged.pdf", "whole.pdf", "hurried.pdf"];
  const files = names.map((name) => ({ name: rawOfText(name), seen }));
  await planner.listing({ dir: rawOfText(""), fingerprint: "f", files });
  expect(lines).toMatchObject([
    { digest: "d1", pages: null },
    { digest: "d2", pages: 3 },
    { digest: "d3", pages: 7 },
  ]);
  expect(reader.inspected).toEqual([...names, "hurried.pdf"]);
});
