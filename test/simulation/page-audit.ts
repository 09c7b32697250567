/** The page budget of a simulated world, in which every document has one page. */
import { periodOf } from "../../src/domain/calendar.ts";
import { sumOf } from "../../src/journal/tally.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/** Pages of a month in which nothing more is sent once they are used; undefined: no such limit. */
function limitOf({ config }: SimulatedWorld): number | undefined {
  const { monthlyPages, whenUsedUp } = config.quota.pages ?? {};
  return whenUsedUp === "hold" ? monthlyPages : undefined;
}

/** Pages that were charged, by month; the clock may have been set. */
function months({ store }: SimulatedWorld): number[] {
  const groups = Map.groupBy(store.tallies.values(), ({ at }) => periodOf(at, 1).from);
  return [...groups.values()].map((tallies) => sumOf(tallies).charged);
}

/** True when what is ready may have to wait for another month. */
export function waitsForPages(world: SimulatedWorld): boolean {
  const limit = limitOf(world);
  return limit !== undefined && months(world).some((pages) => pages >= limit);
}

/** Months in which more was sent than there was, but for probes of a gate that was closed. */
export function overdrawn(world: SimulatedWorld): string[] {
  const limit = limitOf(world);
  if (
    limit === undefined ||
    [...world.store.gates.values()].some(({ trouble }) => trouble !== null)
  )
    return [];
  return months(world)
    .filter((pages) => pages > limit)
    .map((pages) => `${pages} pages in a month of ${limit}`);
}
