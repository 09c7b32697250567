import { describe, expect, test } from "vitest";
import { LookAhead } from "../../../src/domain/look-ahead.ts";

/** As many times as asked, the line runs dry although there is enough to send. */
function starved(concurrency: number, times: number): LookAhead {
  const ahead = new LookAhead(concurrency);
  for (let time = 0; time < times; time++) {
    ahead.found(100, 100, 1, concurrency - 1);
  }
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
    expect(starved(8, times).slots(0)).toBe(documents);
  });

  test("starts over as soon as fewer are found than there was room for", () => {
    const ahead = starved(8, 3);
    ahead.found(99, 100, 90, 8);
    expect(ahead.slots(0)).toBe(16);
  });

  test.for([
    [0, 0, "nothing was under way yet"],
    [20, 8, "the line is busy"],
  ] as const)("%i under way, %i being sent, it does not: %s", ([underWay, sending]) => {
    const ahead = new LookAhead(8);
    ahead.found(100, 100, underWay, sending);
    expect(ahead.slots(0)).toBe(16);
  });

  test.for([
    [16, 0, "nothing is free"],
    [13, 0, "less than a quarter is free: not worth a commit"],
    [12, 4, "a quarter is free"],
  ] as const)("with %i under way there are %i slots: %s", ([underWay, slots]) => {
    expect(new LookAhead(8).slots(underWay)).toBe(slots);
  });
});
