/**
 * How many documents there are of each mirror and state, and the pages that wait. The writer adds to them what each set
 * of changes does, in its transaction. So no question reads all rows, and a crash leaves nothing to count again.
 */
import { type Document, type State, STATES } from "../domain/document.ts";
import type { Dialect } from "./dialect.ts";

/** What there is of a mirror's documents in a state, or what changes add to that (below 0: take away). */
export type DocumentCount = {
  readonly mirrorId: number;
  readonly state: State;
  readonly documents: number;
  /** Of those that have an estimate. */
  readonly pages: number;
  /** Documents without an estimate. */
  readonly unknown: number;
};

/** What a row counts that is there now, less what it counted before. */
export function countsOf(before: Document | undefined, after?: Document): DocumentCount[] {
  const isSame = before?.state === after?.state && before?.mirrorId === after?.mirrorId;
  if (isSame && before?.estimate === after?.estimate) return [];
  const count = ({ mirrorId, state, estimate }: Document, documents: 1 | -1) => {
    const pages = documents * (estimate ?? 0);
    return { mirrorId, state, documents, pages, unknown: estimate === null ? documents : 0 };
  };
  return [...(before ? [count(before, -1)] : []), ...(after ? [count(after, 1)] : [])];
}

/** One sum for each mirror and state; in one order for all who write them. */
export function summedCounts(counts: readonly DocumentCount[]): DocumentCount[] {
  const sums = new Map<string, { -readonly [K in keyof DocumentCount]: DocumentCount[K] }>();
  for (const count of counts) {
    const key = `${count.mirrorId}:${count.state}`;
    const sum = sums.get(key);
    if (sum) {
      sum.documents += count.documents;
      sum.pages += count.pages;
      sum.unknown += count.unknown;
    } else sums.set(key, { ...count });
  }
  return [...sums.values()].sort(
    (a, b) => a.mirrorId - b.mirrorId || STATES.indexOf(a.state) - STATES.indexOf(b.state),
  );
}

/** Adds to the count of a mirror and state; of values such as `countValues` gives. */
export function addCountIn({ countKey }: Dialect): string {
  return `INSERT INTO document_counts AS t (mirror_id, state, documents, pages, unknown)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (${countKey}) DO UPDATE SET documents = t.documents + excluded.documents,
      pages = t.pages + excluded.pages, unknown = t.unknown + excluded.unknown`;
}

/** The values of `addCountIn`. */
export function countValues({ mirrorId, state, documents, pages, unknown }: DocumentCount) {
  return [mirrorId, state, documents, pages, unknown];
}

/** Counts the rows that are there, where the writer did not write them. */
export const COUNT_ALL = `INSERT INTO document_counts (mirror_id, state, documents, pages, unknown)
  SELECT mirror_id, state, count(*), coalesce(sum(estimate), 0), count(*) - count(estimate)
  FROM documents GROUP BY mirror_id, state`;

/** Makes the table, and counts what is there. */
export const DOCUMENT_COUNTS = `
  DROP TABLE IF EXISTS document_counts;
  CREATE TABLE document_counts (
    mirror_id INTEGER NOT NULL, -- mirrors.id
    state     TEXT NOT NULL,
    documents INTEGER NOT NULL, -- count
    pages     INTEGER NOT NULL, -- count, of those that have an estimate
    unknown   INTEGER NOT NULL, -- count of documents without an estimate
    PRIMARY KEY (mirror_id, state)
  ) STRICT, WITHOUT ROWID;
  ${COUNT_ALL};
`;
