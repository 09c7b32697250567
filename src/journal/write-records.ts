/** What a change set writes next to the rows of documents: their records, and what many of them share. */
import type { Document } from "../domain/document.ts";
import { bytesOf, joinRaw } from "../std/raw-path.ts";
import type { AttemptEdit, ChangeSet } from "./change-set.ts";
import { namedCells } from "./columns.ts";
import { type DocumentCount, summedCounts } from "./document-counts.ts";
import type { Statement } from "./driver.ts";
import type { NumberedLine } from "./history-line.ts";
import type { DirectoryPlace } from "./source.ts";
import { summed } from "./usage-bucket.ts";
import type { CellRow, WriteQueries } from "./write-queries.ts";

/** A usage bucket or count has at most so many parts; daemons that run at the same time have numbers close together. */
const PARTS = 16;

/** The statements that do it, but for lines of rows that have no numbers yet. */
export function recordsOf(queries: WriteQueries, set: ChangeSet, instanceId: number): Statement[] {
  const { each } = queries;
  const part = instanceId % PARTS;
  const { batches, dropped, forgotten, fingerprints, told } = set;
  const kept = [...set.lines.values()].filter(
    ({ document }) => document > 0 && !dropped.get(document),
  );
  const buckets = summed(set.usageBuckets).sort((a, b) => a.at - b.at || a.mirrorId - b.mirrorId);
  return [
    ...each(
      queries.dropHistory,
      Array.from(dropped.entries(), ([document]) => ({ document })),
    ),
    ...each(queries.history, kept.map(lineCells)),
    ...each(queries.forgotten, Array.from(forgotten.values(), forgottenCells)),
    ...attemptsOf(queries, [...set.attempts.values()]),
    ...each(
      queries.usageBuckets,
      buckets.map((bucket) => ({ ...namedCells(bucket), part })),
    ),
    ...countsIn(queries, set.counts, part),
    ...each(queries.batches, Array.from(batches.values(), namedCells)),
    ...each(
      queries.setFingerprints,
      [...fingerprints.values()]
        .sort(byPlace)
        .map(({ print, ...place }) => ({ ...placeCells(place), fingerprint: print })),
    ),
    ...each(
      queries.outbox,
      Array.from(told.values(), ({ document, outcome, at }) => {
        const { mirrorId } = document;
        return { mirror_id: mirrorId, outcome, at, document: JSON.stringify(document), due_at: at };
      }),
    ),
    ...each(queries.dropTombstones, Array.from(set.droppedTombstones.values(), namedCells)),
  ];
}

function attemptsOf({ each, ...queries }: WriteQueries, edits: readonly AttemptEdit[]) {
  const opened = edits.filter((edit) => edit.opened);
  const ended = edits.filter((edit) => edit.ended && !edit.opened);
  const dropped = edits.filter(({ isDropped }) => isDropped);
  const cells = ({ document, number, opened: open, ended: end }: AttemptEdit) =>
    namedCells({ ...open, ...end, document, number });
  return [
    ...each(queries.dropAttempts, dropped.map(cells)),
    ...each(queries.openAttempts, opened.map(cells)),
    ...each(queries.endAttempts, ended.map(cells)),
  ];
}

/** The statements that add to the counts of documents. */
export function countsIn(
  { each, counts }: WriteQueries,
  added: readonly DocumentCount[],
  part: number,
): Statement[] {
  return each(
    counts,
    summedCounts(added).map((count) => ({ ...namedCells(count), part })),
  );
}

/** The cells of a line of history. */
export function lineCells(line: NumberedLine & { readonly document: number }): CellRow {
  const { from, to, ...cells } = line;
  return { ...cells, from_state: from, to_state: to };
}

function forgottenCells({ id, mirrorId, dir, name }: Document) {
  return { document: id, mirror_id: mirrorId, path: bytesOf(joinRaw(dir, name)) };
}

/** The cells of a directory. */
export function placeCells({ mirrorId, dir }: DirectoryPlace): CellRow {
  return { mirror_id: mirrorId, path: bytesOf(dir) };
}

/** Directories in one order for all who lock them. */
export function byPlace(a: DirectoryPlace, b: DirectoryPlace): number {
  return a.mirrorId - b.mirrorId || bytesOf(a.dir).compare(bytesOf(b.dir));
}
