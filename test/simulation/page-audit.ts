/** The page budget of a simulated world, in which every document has one page. */
import { periodOf } from "../../src/domain/calendar.ts";
import { QUERIES } from "../../src/journal/documents-table.ts";
import { sumOf, type UsageBucket } from "../../src/journal/usage-bucket.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/** Pages of a month in which nothing more is sent once they are used; undefined: no such limit. */
function limitOf({ config }: SimulatedWorld): number | undefined {
  const { monthlyPages, whenUsedUp } = config.quota.pages ?? {};
  return whenUsedUp === "hold" ? monthlyPages : undefined;
}

/** Pages that were charged, by month; the clock may have been set. */
function months({ store, mirrorIds }: SimulatedWorld): Map<number, number> {
  const groups = Map.groupBy(
    store.tables.statements
      .rows<UsageBucket>(QUERIES.usageBuckets, [0, 9e15])
      .filter(({ mirrorId }) => mirrorIds.has(mirrorId)),
    ({ at }) => periodOf(at, 1).from,
  );
  return new Map([...groups].map(([from, totals]) => [from, sumOf(totals).charged]));
}

/** True when what is ready has to wait for another month: with what is in doubt, all pages are used. */
export function waitsForPages(world: SimulatedWorld): boolean {
  const limit = limitOf(world);
  if (limit === undefined) return false;
  const charged = months(world).get(periodOf(world.clock.now(), 1).from) ?? 0;
  const doubtful = world.rows.filter(({ doubtAt }) => doubtAt !== null).length;
  return charged + doubtful >= limit;
}

function isGateClosed({ store, archiveId }: SimulatedWorld): boolean {
  const [gate] = store.tables.statements.rows<{ code: string | null }>(QUERIES.gate, [archiveId]);
  return gate?.code != null;
}

/** Months in which more was sent than there was, but for probes of a gate that was closed. */
export function overdrawn(world: SimulatedWorld): string[] {
  const limit = limitOf(world);
  if (limit === undefined || isGateClosed(world)) return [];
  return [...months(world).values()]
    .filter((pages) => pages > limit + world.overdraftPages)
    .map((pages) => `${pages} pages in a month of ${limit}`);
}
