import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Document } from "../../../src/domain/document.ts";
import { interleave } from "../../../src/domain/feed.ts";
import { inState } from "../../fixtures/a-document.ts";

const queue = (mirrorId: number, count: number): Document[] =>
  Array.from({ length: count }, (_, n) => inState("pending", { id: mirrorId * 100 + n, mirrorId }));

test("a higher priority goes first, and what it leaves is shared in turn", () => {
  const queues = new Map([1, 2, 3].map((id) => [id, queue(id, 2)]));
  const priorities = new Map([[3, 10]]);
  const chosen = interleave(queues, 1, 5, (id) => priorities.get(id) ?? 0);
  expect(chosen.map(({ id }) => id)).toEqual([300, 301, 200, 100, 201]);
});

test("never more than asked for, never one twice, and never less while there is something", () => {
  const counts = fc.dictionary(fc.constantFrom("1", "2", "3", "4"), fc.nat(5));
  fc.assert(
    fc.property(
      counts,
      fc.nat(20),
      fc.array(fc.integer(), { minLength: 5 }),
      (all, limit, ranks) => {
        const queues = new Map(
          Object.entries(all).map(([id, n]) => [Number(id), queue(Number(id), n)]),
        );
        const chosen = interleave(queues, 2, limit, (id) => ranks[id] ?? 0);
        const there = [...queues.values()].flat().length;
        expect(chosen).toHaveLength(Math.min(limit, there));
        expect(new Set(chosen).size).toBe(chosen.length);
      },
    ),
  );
});
