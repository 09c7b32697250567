import { expect, test } from "vitest";
import { stillKnown } from "../../../src/sync/outage.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { MINUTE } from "./desk.ts";

const trouble = { code: "ARCHIVE_UNREACHABLE", message: "no connection" };

test.for([
  [0, true, "it is tried again in a minute"],
  [1.5, true, "it is being tried, and may take its time to fail"],
  [3, false, "nothing had to be tried: who knows"],
] as const)(
  "an outage until the first minute is known after %i: %s, for %s",
  async ([minutes, isKnown]) => {
    const clock = new ManualClock();
    const outage = { tries: 1, until: clock.monotonic() + MINUTE, trouble };
    await clock.advance(minutes * MINUTE);
    expect(stillKnown(outage, clock)).toBe(isKnown ? outage : undefined);
  },
);

test("none is none", () => {
  expect(stillKnown(undefined, new ManualClock())).toBeUndefined();
});
