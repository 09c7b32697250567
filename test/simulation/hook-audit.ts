/** Whether `after` hooks are told what became of documents: all of it, the truth, and not too soon. */
import type { OutboxEntry } from "../../src/journal/outbox-entry.ts";
import { QUERIES } from "../../src/journal/documents-table.ts";
import { TRIES_MAX } from "../../src/sync/after-hooks.ts";
import { type News, newsKey } from "./simulated-hook.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

const ALL = 1_000;

/** What is wrong with news, as a hook gets them. */
export function mistold({ archive, clock, rows }: SimulatedWorld, news: News): string[] {
  const row = rows.find(({ id }) => id === news.id);
  const key = newsKey(news);
  if (row?.after === "due" && row.afterMessage === null)
    return [`${key}: a hook is told before its file is moved or deleted`];
  const isThere = archive.stored.some(
    ({ id, convertedAt }) => id === row?.documentId && convertedAt <= clock.monotonic(),
  );
  return news.outcome !== "converted" || row?.state !== "converted" || isThere
    ? []
    : [`${key}: a hook is told, and the archive has not converted it`];
}

/** Outcomes that their hooks never got, though they were not given up. */
export function unheard(world: SimulatedWorld): string[] {
  return [...world.news].flatMap(([key, mirrorId]) => {
    const { hook } = world.placeOf(mirrorId)?.source ?? {};
    if (!hook || !hears(world, mirrorId)) return [];
    const isGivenUp = (hook.missed.get(key) ?? 0) >= TRIES_MAX;
    return isGivenUp || hook.got.has(key) ? [] : [`${key}: its hook was never told`];
  });
}

/** Outcomes that are still to be told. */
export function untold(world: SimulatedWorld): string[] {
  const { statements } = world.store.tables;
  return world.places.flatMap(({ mirrorId }) => {
    if (!hears(world, mirrorId)) return [];
    const all = [mirrorId, Number.MAX_SAFE_INTEGER, ALL];
    const left = statements.rows<OutboxEntry>(QUERIES.outboxEntries, all);
    return left.map(({ number, outcome }) => `entry ${number}, ${outcome}: left untold`);
  });
}

function hears(world: SimulatedWorld, mirrorId: number): boolean {
  const place = world.placeOf(mirrorId);
  return place?.isOut === false && place.settings.hooks?.after !== undefined;
}
