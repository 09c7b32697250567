/** How far batches have come, and which of them are closed. */
import type { Batch, BatchProgress, Unreceipted } from "../journal.ts";
import { type InState, progressOf } from "../row-shapes.ts";
import { QUERIES } from "./queries.ts";
import type { Query } from "./query.ts";

type OfBatch = InState & { readonly batch: string };

/** Documents of these batches by their state. */
async function statesOf(query: Query, ids: readonly string[]): Promise<Map<string, OfBatch[]>> {
  if (ids.length === 0) return new Map();
  const { rows } = await query<OfBatch>(QUERIES.ofBatches, [ids]);
  return Map.groupBy(rows, ({ batch }) => batch);
}

/** See `Journal.latestBatches`. */
export async function latestBatches(query: Query, limit: number): Promise<BatchProgress[]> {
  const { rows } = await query<Batch>(QUERIES.latestBatches, [limit]);
  const ids = rows.map(({ id }) => id);
  const states = await statesOf(query, ids);
  return rows.map((batch) => progressOf(batch, states.get(batch.id) ?? []));
}

/** See `Journal.unreceipted`. */
export async function unreceipted(
  query: Query,
  archiveId: number,
  after: number,
  limit: number,
): Promise<Unreceipted> {
  const values = [after, archiveId, limit];
  const { rows } = await query<Batch & { number: number }>(QUERIES.openBatches, values);
  const ids = rows.map(({ id }) => id);
  const states = await statesOf(query, ids);
  const closed = rows.filter(({ id }) => closedWith(states.get(id)) > 0);
  return {
    batches: closed.map(({ number: _number, ...batch }) => batch),
    next: rows.length < limit ? null : (rows.at(-1)?.number ?? null),
  };
}

/** See `Journal.setReceipt`. */
export async function setReceipt(
  query: Query,
  batch: string,
  documents: number,
  at: number,
): Promise<boolean> {
  // Nobody joins it from here on: who does, writes to its row first.
  const { rows } = await query("SELECT 1 FROM batches WHERE id = $1 FOR UPDATE", [batch]);
  if (rows.length === 0) return false;
  const states = await statesOf(query, [batch]);
  if (closedWith(states.get(batch)) !== documents) return false;
  await query("UPDATE batches SET receipt_at = $1 WHERE id = $2", [at, batch]);
  return true;
}

/** Documents of a batch that is closed; 0 for one that is not. */
function closedWith(rows: readonly OfBatch[] = []): number {
  if (rows.some(({ state }) => state !== "converted")) return 0;
  return rows.reduce((sum, { documents }) => sum + documents, 0);
}
