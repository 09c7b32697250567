import { describe, expect, test } from "vitest";
import { behindMs } from "../../../src/sync/waits.ts";
import { HOUR, MINUTE, SECOND } from "./desk.ts";

describe("a row that waits for another is looked at again", () => {
  test.each([
    ["soon: most are settled within seconds", 0, SECOND],
    ["soon as well when the clock was set back", -HOUR, SECOND],
    ["by a quarter of the time it took so far", 20 * SECOND, 5 * SECOND],
    ["no more often than a person can act", 14 * 24 * HOUR, MINUTE],
  ])("%s", (_why, underWayMs, waitMs) => {
    expect(behindMs({ sentAt: 1_000_000 }, 1_000_000 + underWayMs)).toBe(waitMs);
  });

  test("soon when it was not sent yet", () => {
    expect(behindMs({ sentAt: null }, 1_000_000)).toBe(SECOND);
  });
});
