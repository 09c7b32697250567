/**
 * Writes what the writer made of a change set: one script for SQLite and PostgreSQL. Rows that leave their places go
 * first, and new ones last.
 */
import type { Document } from "../domain/document.ts";
import { invariant } from "../std/invariant.ts";
import { rawOf } from "../std/raw-path.ts";
import type { ChangeSet } from "./change-set.ts";
import { type DirectoryPlace, placeKey } from "./source.ts";
import { columnsOf } from "./columns.ts";
import type { Answer, Script, Statement } from "./driver.ts";
import type { Cells, SetStatement } from "./row-sets.ts";
import type { TidyQueries } from "./tidy.ts";
import type { CellRow, WriteQueries } from "./write-queries.ts";
import { byPlace, lineCells, placeCells, recordsOf } from "./write-records.ts";

/** Numbers of directories by `placeKey`. */
type Numbers = ReadonlyMap<string, number>;

/** A row as it is stored, once it has left its place (the same where it stays there), and as it will be. */
type KeptRow = {
  readonly before: Document;
  readonly left: Document;
  readonly after: Document;
  readonly fields: Partial<Document>;
};

/** The rows of a change set, by what is to be done to them. */
type SortedRows = {
  readonly changed: readonly KeptRow[];
  readonly removed: readonly number[];
  readonly news: readonly Document[];
};

/** The texts that write a change set. */
export type ChangeQueries = {
  readonly write: WriteQueries;
  readonly tidy: Pick<TidyQueries, "lockDirectories" | "dropDirectories">;
};

/** Writes the change set of an instance of the cluster; the numbers of its new rows by those they had in it. */
export function* writeChangeSet(
  queries: ChangeQueries,
  changeSet: ChangeSet,
  instanceId: number,
): Script<ReadonlyMap<number, number>> {
  const { add, each, history, release, remove, sets } = queries.write;
  const { changed, removed, news } = sortedRows(changeSet);
  const numbers = yield* directoriesOf(queries, changeSet, { changed, removed, news });
  const leaving = changed.filter(({ before, left }) => before !== left);
  const moves = [
    ...each(release, leaving.map(releasedCells)),
    ...each(
      remove,
      removed.map((id) => ({ id })),
    ),
  ];
  const changes = changesOf(queries, changed, numbers, instanceId);
  const rows = news.map((row) => newCells(changeSet, row, numbers));
  const additions = rows[0] ? sets.each(add(Object.keys(rows[0])), rows.map(Object.values)) : [];
  const records = recordsOf(queries.write, changeSet, instanceId);
  const answers = yield [...moves, ...changes.statements, ...additions, ...records];
  const addedAt = moves.length + changes.statements.length;
  let count = 0;
  for (let at = moves.length; at < addedAt; at++) count += answers[at]?.count ?? 0;
  invariant(count === changes.count, "a row left its state unseen");
  const ids = newIds(news, answers.slice(addedAt, addedAt + additions.length));
  // Only now the numbers are known.
  const lines = [...changeSet.lines.values()].flatMap(({ document, ...line }) => {
    const id = ids.get(document);
    return id === undefined ? [] : [lineCells({ ...line, document: id })];
  });
  if (lines.length > 0) yield each(history, lines);
  if (changeSet.tidied.size > 0) yield* tidyDirectories(queries, changeSet);
  for (const [id, { after }] of changeSet.rows.entries()) {
    const number = ids.get(id) ?? id;
    changeSet.source.wrote?.(number, after && id !== number ? { ...after, id: number } : after);
  }
  return ids;
}

function sortedRows({ rows }: ChangeSet): SortedRows {
  const [changed, removed, news]: [KeptRow[], number[], Document[]] = [[], [], []];
  for (const { before, after, fields } of rows.values()) {
    if (!before) news.push(...(after ? [after] : []));
    else if (!after) removed.push(before.id);
    else changed.push({ before, left: leftPlace(before, after), after, fields });
  }
  // What superseded a row has a greater number, and goes before it.
  return { changed, removed: removed.sort((a, b) => b - a), news };
}

function leftPlace(before: Document, after: Document): Document {
  const stays = after.current && before.name === after.name && !isMoved(before, after);
  const current = before.current && stays;
  const { supersedes } = after;
  if (current === before.current && supersedes === before.supersedes) return before;
  return { ...before, current, supersedes };
}

function isMoved(before: Document, after: Document): boolean {
  return before.dir !== after.dir || before.mirrorId !== after.mirrorId;
}

/** Finds the directories of new rows and of rows that were moved; those that have no row yet are made. */
function* directoriesOf(
  { write: { each, lockDirectories, makeDirectories } }: ChangeQueries,
  { source }: ChangeSet,
  { changed, news }: SortedRows,
): Script<Numbers> {
  const numbers = new Map<string, number>();
  const missing = new Map<string, DirectoryPlace>();
  const moved = changed.filter(({ before, after }) => isMoved(before, after));
  let last: Document | undefined;
  for (const row of [...moved.map(({ after }) => after), ...news]) {
    const { mirrorId, dir } = row;
    // Files come by the directory.
    if (last && !isMoved(last, row)) continue;
    last = row;
    const key = placeKey(mirrorId, dir);
    if (numbers.has(key) || missing.has(key)) continue;
    const number = source.directory(mirrorId, dir);
    if (number === undefined) missing.set(key, { mirrorId, dir });
    else numbers.set(key, number);
  }
  // Anyone who else makes one at the same time is waited for, and may remove it before it is locked.
  while (missing.size > 0) {
    const places = [...missing.values()].sort(byPlace).map(placeCells);
    yield each(makeDirectories, places);
    for (const [key, number] of numbersIn(yield each(lockDirectories, places))) {
      numbers.set(key, number);
      missing.delete(key);
    }
  }
  return numbers;
}

/** Removes directories that hold nothing. */
function* tidyDirectories({ write, tidy }: ChangeQueries, { tidied }: ChangeSet): Script<void> {
  const places = Array.from(tidied.values(), placeCells);
  const found = numbersIn(yield write.each(write.findDirectories, places));
  const ids = [found.map(([, number]) => number)];
  // Looked into once they are locked: anyone who adds a row to one keeps it locked until it can be seen.
  yield [
    [tidy.lockDirectories, ids],
    [tidy.dropDirectories, ids],
  ];
}

function numbersIn(answers: readonly Answer[]): [key: string, number: number][] {
  const rows = answers.flatMap((answer) => answer.rows) as {
    readonly id: number;
    readonly mirrorId: number;
    readonly path: Buffer;
  }[];
  return rows.map(({ id, mirrorId, path }) => [placeKey(mirrorId, rawOf(path)), id]);
}

/** The statements that change rows, and of how many: those whose columns are the same together. */
function changesOf(
  { write: { change, changedWith, sets } }: ChangeQueries,
  changed: readonly KeptRow[],
  numbers: Numbers,
  instanceId: number,
): { readonly statements: Statement[]; readonly count: number } {
  type Group = { readonly statement: SetStatement; readonly rows: Cells[] };
  // A document of the archive that a row gives up may be another row's afterwards.
  const [giving, others] = [new Map<string, Group>(), new Map<string, Group>()];
  let count = 0;
  for (const { before, left, after, fields } of changed) {
    const cells: CellRow = columnsOf(
      left === before ? fields : { ...fields, current: after.current },
      left,
    );
    if (isMoved(before, after)) cells["dir_id"] = numbers.get(placeKey(after.mirrorId, after.dir));
    changedWith?.(cells, before, after, instanceId);
    const names = Object.keys(cells);
    if (names.length === 0) continue;
    const gives = before.documentId !== null && before.documentId !== after.documentId;
    const alike = gives ? giving : others;
    const key = names.join();
    let group = alike.get(key);
    if (!group) alike.set(key, (group = { statement: change(names), rows: [] }));
    const values: Cells[number][] = Object.values(cells);
    values.push(before.id, before.state);
    group.rows.push(values);
    count += 1;
  }
  const statements = [...giving.values(), ...others.values()].flatMap(({ statement, rows }) =>
    sets.each(statement, rows),
  );
  return { statements, count };
}

/** What a new row says; the tables say the rest. */
function newCells({ source }: ChangeSet, row: Document, numbers: Numbers): CellRow {
  const { mirrorId, dir, name, state, seen, firstSeenAt, changedAt, dueAt } = row;
  // What it was to supersede may be forgotten by the same changes.
  const { current, supersedes, ordinary } = row;
  const fields = {
    mirrorId,
    name,
    state,
    seen,
    firstSeenAt,
    changedAt,
    dueAt,
    current,
    supersedes,
  };
  const cells: CellRow = columnsOf({ ...fields, ordinary });
  if (row.id > 0) cells["id"] = row.id;
  cells["dir_id"] = numbers.get(placeKey(mirrorId, dir));
  cells["archive_id"] = source.mirror(mirrorId)?.archiveId;
  return cells;
}

/** The numbers that new rows were given, in their order, by those they had. */
function newIds(news: readonly Document[], answers: readonly Answer[]): Map<number, number> {
  const unnumbered = news.filter(({ id }) => id < 0);
  if (unnumbered.length === 0) return new Map();
  const rows = answers.flatMap((answer) => answer.rows) as { readonly id: number }[];
  const ids = rows.map(({ id }) => id).sort((a, b) => a - b);
  invariant(ids.length === unnumbered.length, "a new row has no number");
  return new Map(unnumbered.map((row, at) => [row.id, ids[at] ?? 0]));
}

function releasedCells({ left }: KeptRow): CellRow {
  return { id: left.id, supersedes: left.supersedes, current: Number(left.current) };
}
