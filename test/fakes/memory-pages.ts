import type { Document } from "../../src/domain/document.ts";
import type { WaitingPages } from "../../src/journal/journal.ts";
import type { UsageBucket } from "../../src/journal/usage-bucket.ts";

/** What is settled and waits to be sent, by mirror and state. */
export function waitingPagesOf(rows: readonly Document[]): WaitingPages[] {
  const waits = rows.flatMap((row) => {
    const { state } = row;
    return state === "pending" || state === "held" ? [{ ...row, state }] : [];
  });
  return [...Map.groupBy(waits, ({ mirrorId, state }) => `${mirrorId} ${state}`).values()]
    .flatMap(([first, ...rest]) => {
      if (!first) return [];
      const group = [first, ...rest];
      const { mirrorId, state } = first;
      const pages = group.reduce((sum, { estimate }) => sum + (estimate ?? 0), 0);
      const unknown = group.filter(({ estimate }) => estimate === null).length;
      return [{ mirrorId, state, documents: group.length, pages, unknown }];
    })
    .sort((a, b) => a.mirrorId - b.mirrorId || (a.state < b.state ? -1 : 1));
}

/** Pages that were charged, and those that may be any moment, by mirror. */
export function pagesUsedOf(
  usageBuckets: readonly UsageBucket[],
  rows: readonly Document[],
): { mirrorId: number; pages: number }[] {
  const charging = rows
    .filter(
      ({ state, doubtAt }) => state === "uploading" || state === "inDoubt" || doubtAt !== null,
    )
    .map(({ mirrorId, charge }) => ({ mirrorId, pages: charge ?? 0 }));
  const charged = usageBuckets.map(({ mirrorId, charged: pages }) => ({ mirrorId, pages }));
  return [...Map.groupBy([...charging, ...charged], ({ mirrorId }) => mirrorId)].map(
    ([mirrorId, group]) => ({ mirrorId, pages: group.reduce((sum, { pages }) => sum + pages, 0) }),
  );
}
