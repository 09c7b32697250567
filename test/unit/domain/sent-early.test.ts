import { expect, test } from "vitest";
import { isAppended, longerSettleMs, suspectPause } from "../../../src/domain/sent-early.ts";

const SENT = {
  state: "converted",
  doubtAt: null,
  goneAt: null,
  changedAt: 1_000_000,
  digest: "d1",
  seen: { sizeBytes: 100, modifiedAt: 1_000_000, stamp: "a" },
} as const;

const NEWER = {
  firstSeenAt: 1_014_000,
  seen: { sizeBytes: 200, modifiedAt: 1_040_000, stamp: "b" },
} as const;

test.for([
  [{}, {}, 14_000, "the next page came 14 s later, and two more by now"],
  [{}, { firstSeenAt: 1_010_000 }, 10_000, "just as long as was waited"],
  [{}, { firstSeenAt: 1_009_999 }, undefined, "so short a pause is waited for anyway"],
  [{}, { firstSeenAt: 1_600_000 }, 40_000, "rarely looked at: its own times tell more"],
  [{}, { seen: { ...NEWER.seen, modifiedAt: 0 } }, 14_000, "its own times tell nothing"],
  [
    {},
    { firstSeenAt: 1_300_000, seen: { ...NEWER.seen, modifiedAt: 1_300_000 } },
    undefined,
    "after five minutes it is added to, not unfinished",
  ],
  [{}, { seen: { ...NEWER.seen, sizeBytes: 100 } }, undefined, "nothing was appended"],
  [{ digest: null }, {}, undefined, "it never settled"],
  [{ state: "held" }, {}, undefined, "it was not sent"],
  [{ state: "held", doubtAt: 5 }, {}, 14_000, "it may have been sent"],
  [{ goneAt: 5 }, {}, undefined, "the name was free in between: it is another file"],
] as const)("%o, then %o: %s, because %s", ([sent, newer, pauseMs]) => {
  expect(suspectPause({ ...SENT, ...sent }, { ...NEWER, ...newer }, 10_000)).toBe(pauseMs);
});

test.for([
  [1, 2, true, "a page more"],
  [2, 2, false, "a note that an editor saved behind what was there"],
  [undefined, 2, true, "the pages could not be counted"],
  [1, undefined, true, "they cannot be any more"],
] as const)("%s pages, then %s: appended is %s, because %s", ([sent, pages, is]) => {
  expect(isAppended(sent, pages)).toBe(is);
});

test.for([
  [10_000, 20_000],
  [14_001, 29_000],
  [299_999, 300_000],
])("after a pause of %i ms, %i ms are waited: always longer than it was", ([pauseMs, settleMs]) => {
  expect(longerSettleMs(pauseMs as number)).toBe(settleMs);
});
