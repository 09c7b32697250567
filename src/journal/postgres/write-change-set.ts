/** Writes what the writer made of a change set: a few statements, however many rows they are about. */
import type { Document } from "../../domain/document.ts";
import { invariant } from "../../std/fault.ts";
import { bytesOf, joinRaw, rawOf } from "../../std/raw-path.ts";
import { columnsOf } from "../columns.ts";
import { seenFields } from "../revision.ts";
import { type ChangeSet, type Loaded, type DirectoryPlace, placeKey } from "./change-set.ts";
import type { Query } from "./query.ts";
import { asRows, bytea, type RecordsetCell } from "./recordset.ts";
import { insertOf, updateOf, WRITE_QUERIES } from "./write-queries.ts";

type Row = Record<string, RecordsetCell>;

/** Runs a statement on a set of rows, its first parameter, where there are any. */
type Run = (text: string, rows: readonly Row[], ...more: readonly unknown[]) => void;

/** A usage bucket or count has at most so many parts; daemons that run at the same time have numbers close together. */
const PARTS = 16;

/** Numbers of directories by `placeKey`. */
type Numbers = Map<string, number>;

/**
 * Writes the change set; the numbers of its new rows by those they had in it. The statements do not wait
 * for one another's answers, but for those that make directories.
 */
export async function writeChangeSet(
  query: Query,
  changeSet: ChangeSet,
  loaded: Loaded,
  instanceId: number,
): Promise<Map<number, number>> {
  const numbers: Numbers = new Map([
    ...[...changeSet.loaded.values()].map(
      ({ document: { mirrorId, dir }, dirId }) => [placeKey(mirrorId, dir), dirId] as const,
    ),
    ...loaded.directories.map(({ id, mirrorId, dir }) => [placeKey(mirrorId, dir), id] as const),
  ]);
  const news = changeSet.news.entries();
  await makeDirectories(
    query,
    numbers,
    news.map(([, document]) => document),
  );
  const running: Promise<unknown>[] = [];
  const run: Run = (text, rows, ...more) => {
    if (rows.length > 0) running.push(query(text, [asRows(rows), ...more]));
  };
  writeRows(query, changeSet, numbers, instanceId, running);
  const made = insertNews(query, changeSet, numbers);
  running.push(made);
  const part = instanceId % PARTS;
  writeRecords(changeSet, part, run);
  run(
    WRITE_QUERIES.documentCounts,
    changeSet.counts.map(({ mirrorId, ...count }) => ({ ...count, mirror_id: mirrorId, part })),
  );
  writeDirectories(changeSet, run);
  await Promise.all(running);
  const ids = new Map<number, number>();
  for (const { ord, id } of await made) {
    const provisional = news[ord]?.[0];
    if (provisional !== undefined) ids.set(provisional, id);
  }
  invariant(ids.size === news.length, "a new row has no number");
  if (changeSet.tidied.keys().length > 0) await tidyDirectories(query, changeSet.tidied.values());
  return ids;
}

/** Makes the directories that have no row yet; anyone who else makes one at the same time is waited for. */
async function makeDirectories(
  query: Query,
  numbers: Numbers,
  places: readonly DirectoryPlace[],
): Promise<void> {
  const missing = () => {
    const wanted = new Map(
      places.map(({ mirrorId, dir }) => [placeKey(mirrorId, dir), { mirrorId, dir }]),
    );
    return [...wanted].flatMap(([key, { mirrorId, dir }]) =>
      numbers.has(key) ? [] : [{ mirror_id: mirrorId, path: bytea(bytesOf(dir)) }],
    );
  };
  for (let rows = missing(); rows.length > 0; rows = missing()) {
    const values = [asRows(rows)];
    for (const text of [WRITE_QUERIES.makeDirectories, WRITE_QUERIES.lockDirectories]) {
      const found = await query<{ id: number; mirrorId: number; path: Buffer }>(text, values);
      for (const { id, mirrorId, path } of found.rows)
        numbers.set(placeKey(mirrorId, rawOf(path)), id);
      if (found.rows.length === rows.length) break;
    }
  }
}

function writeRows(
  query: Query,
  changeSet: ChangeSet,
  numbers: Numbers,
  instanceId: number,
  running: Promise<unknown>[],
): void {
  const removed: number[] = [];
  const relinked: Row[] = [];
  const changed: Row[] = [];
  const columns = new Set<string>();
  for (const [id, after] of changeSet.rows.entries()) {
    const before = changeSet.loaded.get(id)?.document;
    if (!before || before === after) continue;
    if (!after) {
      removed.push(id);
      continue;
    }
    const { supersedes } = after;
    if (supersedes !== before.supersedes) relinked.push({ id, supersedes });
    const row = changedColumns(before, after, numbers);
    for (const column of Object.keys(row)) columns.add(column);
    changed.push({ id, ...row });
  }
  const idsOf = (some: readonly Row[]) => some.map(({ id }) => id);
  if (relinked.length > 0)
    running.push(query(WRITE_QUERIES.relink, [asRows(relinked), idsOf(relinked)]));
  if (removed.length > 0) running.push(query(WRITE_QUERIES.remove, [removed]));
  if (changed.length === 0) return;
  const names = [...columns].sort();
  const rows = changed.map((row) => ({ ...allColumns(row, names, changeSet), ...row }));
  const sender = instanceId === 0 ? null : instanceId;
  const done = query(updateOf(names), [asRows(rows), sender, idsOf(rows)]);
  running.push(
    done.then(({ count }) => invariant(count === rows.length, "a row left its state unseen")),
  );
}

/** The columns of the fields that differ; `state` is always among them. */
function changedColumns(before: Document, after: Document, numbers: Numbers): Row {
  const fields = (Object.keys(after) as (keyof Document)[]).filter(
    (field) => after[field] !== before[field] && field !== "supersedes",
  );
  const set = Object.fromEntries(fields.map((field) => [field, after[field]]));
  const columns = cellsOf({ ...set, state: after.state });
  if (after.dir !== before.dir || after.mirrorId !== before.mirrorId) {
    const dirId = numbers.get(placeKey(after.mirrorId, after.dir));
    invariant(dirId !== undefined, `document ${after.id}: no number for its directory`);
    columns["dir_id"] = dirId;
  }
  return { ...columns, was: before.state };
}

/** The columns that others of the statement change, as they are in this row. */
function allColumns(row: Row, names: readonly string[], changeSet: ChangeSet): Row {
  const loaded = changeSet.loaded.get(row["id"] as number);
  if (!loaded || names.every((name) => name in row)) return {};
  const all: Row = { ...cellsOf(loaded.document), dir_id: loaded.dirId };
  return Object.fromEntries(names.map((name) => [name, all[name] ?? null]));
}

function cellsOf(fields: Partial<Document>): Row {
  return Object.fromEntries(
    Object.entries(columnsOf(fields)).map(([column, cell]) => [
      column,
      Buffer.isBuffer(cell) ? bytea(cell) : cell,
    ]),
  );
}

async function insertNews(
  query: Query,
  changeSet: ChangeSet,
  numbers: Numbers,
): Promise<readonly { ord: number; id: number }[]> {
  const columns = new Set<string>();
  const rows = changeSet.news.entries().map(([id, seen], ord) => {
    const line = changeSet.lines.get(`${id}:1`);
    const row = changeSet.rows.get(id);
    invariant(row && row.ordinary === !line, `the new document ${id} has no history`);
    const { current, supersedes, ordinary } = row;
    const cells = {
      // What it was to supersede may be forgotten by the same changes.
      ...cellsOf({ ...seenFields(seen), current, supersedes, ordinary }),
      dir_id: numbers.get(placeKey(seen.mirrorId, seen.dir)) ?? null,
    };
    for (const column of Object.keys(cells)) columns.add(column);
    return { ord, ...cells, event: line?.event ?? null, detail: line?.detail ?? null };
  });
  if (rows.length === 0) return [];
  return (await query<{ ord: number; id: number }>(insertOf([...columns]), [asRows(rows)])).rows;
}

function writeRecords(changeSet: ChangeSet, part: number, run: Run): void {
  const dropped = changeSet.dropped.keys();
  run(
    WRITE_QUERIES.dropHistory,
    dropped.map((document) => ({ document })),
    dropped,
  );
  const lines = changeSet.lines
    .values()
    .filter(({ document }) => document > 0 && !changeSet.dropped.has(document));
  run(
    WRITE_QUERIES.history,
    lines.map(({ document, number, at, from, to, event, detail, times }) => {
      return { document, number, at, from_state: from, to_state: to, event, detail, times };
    }),
  );
  writeAttempts(changeSet, run);
  run(
    WRITE_QUERIES.forgotten,
    changeSet.forgotten.values().map(({ id, mirrorId, dir, name }) => {
      return { document: id, mirror_id: mirrorId, path: bytea(bytesOf(joinRaw(dir, name))) };
    }),
  );
  const usageBuckets = changeSet.usageBuckets.toSorted(
    (a, b) => a.at - b.at || a.mirrorId - b.mirrorId,
  );
  run(
    WRITE_QUERIES.usageBuckets,
    usageBuckets.map(({ mirrorId, uploadedBytes, ...counts }) => {
      return { ...counts, mirror_id: mirrorId, part, uploaded_bytes: uploadedBytes };
    }),
  );
  run(
    WRITE_QUERIES.outboxEntries,
    changeSet.told.values().map(({ document, outcome, at }, ord) => {
      return {
        ord,
        mirror_id: document.mirrorId,
        outcome,
        at,
        document: JSON.stringify(document),
      };
    }),
  );
  run(
    WRITE_QUERIES.dropTombstone,
    changeSet.droppedTombstones.values().map(({ documentId, archiveId }) => {
      return { document_id: documentId, archive_id: archiveId };
    }),
  );
  const batches = changeSet.batches
    .values()
    .map(({ id, mirrorId, openedAt, joinedAt, documents }, ord) => {
      const times = { opened_at: openedAt, joined_at: joinedAt };
      return { ord, id, mirror_id: mirrorId, ...times, documents };
    });
  run(WRITE_QUERIES.batches, batches);
}

function writeAttempts(changeSet: ChangeSet, run: Run): void {
  const edits = changeSet.attempts.values();
  const dropped = edits.filter(({ isDropped }) => isDropped);
  run(
    WRITE_QUERIES.dropAttempts,
    dropped.map(({ document, number }) => ({ document, number })),
    dropped.map(({ document }) => document),
  );
  const opened = edits.flatMap(({ document, number, opened: open, ended }) => {
    if (!open) return [];
    const { startedAt, digest, sentName, folderId, batch } = open;
    const intent = { digest, sent_name: sentName, folder_id: folderId, batch };
    const { at, outcome, documentId } = ended ?? { ...open, at: open.endedAt };
    const end = { ended_at: at, outcome, document_id: documentId };
    return [{ document, number, started_at: startedAt, ...intent, ...end }];
  });
  run(WRITE_QUERIES.openAttempts, opened);
  const ended = edits.flatMap(({ document, number, opened: open, ended: end }) => {
    if (!end || open) return [];
    const { at, outcome, documentId } = end;
    return [{ document, number, ended_at: at, outcome, document_id: documentId }];
  });
  run(
    WRITE_QUERIES.endAttempts,
    ended,
    ended.map(({ document }) => document),
  );
}

function writeDirectories(changeSet: ChangeSet, run: Run): void {
  const all = changeSet.fingerprints.values();
  const rows = (some: typeof all) =>
    some.map(({ mirrorId, dir, print }) => {
      return { mirror_id: mirrorId, path: bytea(bytesOf(dir)), fingerprint: print };
    });
  run(WRITE_QUERIES.setFingerprints, rows(all.filter(({ print }) => print !== null)));
  run(WRITE_QUERIES.dropFingerprints, rows(all.filter(({ print }) => print === null)));
}

/**
 * Removes directories that hold nothing. Locked first and looked at afterwards: anyone who adds a row
 * to one keeps it locked until the row can be seen.
 */
async function tidyDirectories(query: Query, places: readonly DirectoryPlace[]): Promise<void> {
  const rows = places.map(({ mirrorId, dir }) => {
    return { mirror_id: mirrorId, path: bytea(bytesOf(dir)) };
  });
  const values = [asRows(rows)];
  await Promise.all([
    query(WRITE_QUERIES.lockTidied, values),
    query(WRITE_QUERIES.tidyDirectories, values),
  ]);
}
