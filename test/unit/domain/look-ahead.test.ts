import { describe, expect, test } from "vitest";
import { LookAhead } from "../../../src/domain/feed.ts";

/** As many times as asked, the line runs dry although there is enough to send. */
function starved(times: number): LookAhead {
  const ahead = new LookAhead();
  for (let time = 0; time < times; time++) ahead.found(100, 100, true);
  return ahead;
}

describe("how far a sender looks ahead", () => {
  test.for([
    [0, 16, "twice what is sent at once, to begin with"],
    [1, 32, "double when the line ran dry"],
    [2, 64, "and again"],
    [3, 128, "and again"],
    [9, 128, "but no more than sixteen times"],
  ] as const)("starved %i times: %i documents: %s", ([times, documents]) => {
    expect(starved(times).slots(8, 0)).toBe(documents);
  });

  test("starts over as soon as fewer are found than there was room for", () => {
    const ahead = starved(3);
    ahead.found(99, 100, true);
    expect(ahead.slots(8, 0)).toBe(16);
  });

  test("looks no further while the line is busy", () => {
    const ahead = new LookAhead();
    ahead.found(100, 100, false);
    expect(ahead.slots(8, 0)).toBe(16);
  });

  test.for([
    [8, 16, 0, "nothing is free"],
    [8, 13, 0, "less than a quarter is free: not worth a commit"],
    [8, 12, 4, "a quarter is free"],
    [1, 1, 1, "one at a time claims one ahead"],
    [2, 9, 0, "the concurrency fell below what is under way"],
  ] as const)("%i at once, %i under way: %i slots: %s", ([concurrency, underWay, slots]) => {
    expect(new LookAhead().slots(concurrency, underWay)).toBe(slots);
  });
});
