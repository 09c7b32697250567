import { describe, expect, test } from "vitest";
import { headOf, HealthWatch, type Work } from "../../../src/daemon/health.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { inState } from "../../fixtures/a-document.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";
import { noDocuments } from "../../../src/report/status.ts";
import { NO_ALLOWANCE } from "../../fixtures/a-config.ts";
import { noPages } from "../../../src/report/page-report.ts";

const MINUTE = 60_000;
const gate = { closedAt: 0, code: "QUOTA_LIMIT", message: "", hint: "", nextProbeAt: null };
const head = (id: number, mirrorId = 1) => ({ id, mirrorId });

function workAt(minutes: number, work: Partial<Work> = {}): Work {
  const none = { heads: [], underWay: 0, isOut: false, started: true };
  return { status: reportOf(), ...none, ...work, now: minutes * MINUTE };
}

/** Healthy at the last of these looks? */
function healthAfter(...looks: Work[]) {
  const watch = new HealthWatch();
  return looks.map((work) => watch.look(work)).at(-1);
}

describe("work is moving", () => {
  test.for([
    // looks, because
    [[workAt(0), workAt(60)], "nothing is ready"],
    [[workAt(0, { heads: [head(1)] })], "it may have become ready just now"],
    [
      [workAt(0, { heads: [head(1)] }), workAt(14, { heads: [head(1)] })],
      "a quarter of an hour is no stop",
    ],
    [
      [
        workAt(0, { heads: [head(1)] }),
        workAt(14, { heads: [head(2)] }),
        workAt(28, { heads: [head(2)] }),
      ],
      "behind a long queue, but the queue moves",
    ],
    [
      [
        workAt(0, { heads: [head(1), head(9, 2)] }),
        workAt(10, { heads: [head(1), head(10, 2)] }),
        workAt(20, { heads: [head(1), head(10, 2)] }),
      ],
      "one mirror waits, another moves",
    ],
    [
      [workAt(0, { heads: [head(1)] }), workAt(10), workAt(20, { heads: [head(1)] })],
      "it was not due in between: it was tried",
    ],
    [
      [workAt(0, { heads: [head(1)] }), workAt(30, { heads: [head(1)], underWay: 2 })],
      "large files take longer",
    ],
    [
      [
        workAt(0, { heads: [head(1)] }),
        workAt(60, { heads: [head(1)], status: reportOf({ paused: true }) }),
      ],
      "a person has paused it",
    ],
    [
      [
        workAt(0, { heads: [head(1)] }),
        workAt(60, { heads: [head(1)], status: reportOf({ gate }) }),
      ],
      "the archive rejects the account",
    ],
    [
      [workAt(0, { heads: [head(1)] }), workAt(60, { heads: [head(1)], isOut: true })],
      "the archive is down: a restart would not fix that",
    ],
    [
      [
        workAt(0, { heads: [head(1)] }),
        workAt(60, { heads: [head(1)], isOut: true }),
        workAt(70, { heads: [head(1)] }),
      ],
      "back for ten minutes only",
    ],
  ] as [Work[], string][])("history %#", ([looks, because]) => {
    expect(healthAfter(...looks), because).toMatchObject({ healthy: true, ready: true });
  });
});

describe("work has stopped", () => {
  test.for([
    [[workAt(0, { heads: [head(1)] }), workAt(16, { heads: [head(1)] })], 16, "nobody takes it"],
    [
      [workAt(0, { heads: [head(1)] }), workAt(61, { heads: [head(1)], underWay: 2 })],
      61,
      "nor does what is being sent come to an end",
    ],
    [
      [
        workAt(0, { heads: [head(1), head(9, 2)] }),
        workAt(5, { heads: [head(2), head(9, 2)] }),
        workAt(21, { heads: [head(2), head(9, 2)] }),
      ],
      16,
      "it is the last move that counts",
    ],
  ] as [Work[], number, string][])("history %#", ([looks, minutes, because]) => {
    expect(healthAfter(...looks), because).toEqual({
      healthy: false,
      ready: true,
      why: `nothing has moved for ${minutes} minutes, and documents are ready`,
    });
  });
});

test("a daemon that has heard of no source yet is not ready, and well", () => {
  const starting = workAt(0, { started: false });
  expect(healthAfter(starting)).toEqual({ healthy: true, ready: false, why: "starting" });
});

test.for([
  // order, what was taken up, kept for pages, head, because
  ["oldest", 5, undefined, 7, "it is the next one"],
  ["newest", 5, undefined, -6, "it may rightly wait, as long as others are taken up"],
  ["newest", 6, undefined, -7, "another one was taken up"],
  ["oldest", 5, [], -6, "with an allowance another may be the next one"],
  ["oldest", 5, ["scans"], undefined, "it waits for pages"],
] as const)(
  "order %s, %i taken up, kept for pages %j: head %j, as %s",
  ([order, taken, kept, id]) => {
    const report = reportOf();
    const [mirror] = report.mirrors;
    const documents = { ...noDocuments(), converted: taken - 1, held: 1, pending: 3, settling: 9 };
    const policy = { monthlyPages: 9, monthBegins: 1 };
    const pages = noPages(kept ? { ...policy, whenUsedUp: "hold" } : NO_ALLOWANCE, 0);
    const allowance = pages.allowance && {
      ...pages.allowance,
      keeps: { documents: 1, mirrors: kept ?? [] },
    };
    const status = {
      mirrors: mirror ? [{ ...mirror, documents }] : [],
      pages: { ...pages, allowance },
    };
    const settings = { name: "scans", rules: { ...NO_RULES, order } };
    const heads = headOf(inState("pending", { id: 7, mirrorId: 3 }), settings, status);
    expect(heads).toMatchObject(id === undefined ? [] : [{ id, mirrorId: 3 }]);
    expect(heads).toHaveLength(id === undefined ? 0 : 1);
  },
);
