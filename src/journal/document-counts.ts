/**
 * How many documents there are of each mirror and state, and the pages that wait: counted once, and then kept by this
 * connection's own writes, since a count of a large journal holds up the event loop. Counted again after a write that
 * was undone, and after one of another process.
 */
import { type Document, type State, STATES } from "../domain/document.ts";
import type { WaitingPages } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** A queue is left in about the order in which it was joined: the next oldest row is most often near. */
const NEAR_IDS = 2_000;

/** The texts, by the question they answer. */
export const COUNT_QUERIES = {
  // By range of the index: a group of a whole scan compares mirror and state of each row, which takes
  // twice as long. What has no time is the bulk, and stands in the order of its ids. Of the pair that most of
  // some rows belong to, probably the largest, it is what is left of all: to count all rows is a look at
  // pages, and takes a quarter as long.
  counts: `WITH most AS MATERIALIZED (SELECT mirror_id, state FROM documents
        WHERE id IN (SELECT (SELECT n.id FROM documents n
            WHERE n.id >= (SELECT max(id) FROM documents) * eighths.value / 8 ORDER BY n.id LIMIT 1)
          FROM json_each('[1, 2, 3, 4, 5, 6, 7]') AS eighths)
        GROUP BY mirror_id, state ORDER BY count(*) DESC LIMIT 1),
      pairs AS MATERIALIZED (SELECT m.id AS mirrorId, s.value AS state,
      (SELECT json_array(count(*), min(n.id)) FROM documents n
        WHERE n.mirror_id = m.id AND n.state = s.value AND n.due_at >= -9e999) AS timed,
      CASE WHEN (m.id, s.value) = (SELECT mirror_id, state FROM most) THEN NULL
        ELSE (SELECT count(*) FROM documents n
          WHERE n.mirror_id = m.id AND n.state = s.value AND n.due_at IS NULL) END AS untimed,
      (SELECT n.id FROM documents n WHERE n.mirror_id = m.id AND n.state = s.value
        AND n.due_at IS NULL ORDER BY n.id LIMIT 1) AS oldest
      FROM mirrors m NOT INDEXED CROSS JOIN json_each(?) s)
    SELECT p.mirrorId, p.state,
      (p.timed ->> 0) + coalesce(p.untimed, (SELECT count(*) FROM documents)
        - (SELECT sum((timed ->> 0) + coalesce(untimed, 0)) FROM pairs)) AS documents,
      n.id AS oldestId, n.first_seen_at AS oldestAt
    FROM pairs p CROSS JOIN documents n
      ON n.id = coalesce(min(p.timed ->> 1, p.oldest), p.timed ->> 1, p.oldest)`,
  waitingPages: `SELECT m.id AS mirrorId, n.state, count(*) AS documents,
      coalesce(sum(n.estimate), 0) AS pages, count(*) - count(n.estimate) AS unknown
    FROM mirrors m CROSS JOIN documents n ON n.mirror_id = m.id AND n.state IN ('pending', 'held')
    GROUP BY m.id, n.state`,
  // By the primary key, and where nothing is near by the index that counts.
  oldest: `SELECT n.id, n.first_seen_at AS firstSeenAt FROM documents n WHERE n.id = coalesce(
  (SELECT r.id FROM documents r NOT INDEXED WHERE r.id > @after AND r.id <= @after + ${NEAR_IDS}
    AND r.mirror_id = @mirrorId AND r.state = @state ORDER BY r.id LIMIT 1),
  (SELECT min(r.id) FROM documents r INDEXED BY documents_due
    WHERE r.mirror_id = @mirrorId AND r.state = @state))`,
} as const;

type CountRow = {
  readonly mirrorId: number;
  readonly state: State;
  readonly documents: number;
  readonly oldestId: number;
  readonly oldestAt: number;
};

/** What of a row is counted. */
type Counted = Pick<Document, "id" | "mirrorId" | "state" | "firstSeenAt" | "estimate">;

type Group = {
  readonly mirrorId: number;
  readonly state: State;
  documents: number;
  pages: number;
  unknown: number;
  /** The one known longest; it may have left, where `hasOldest` is false. */
  oldestId: number;
  oldestAt: number;
  hasOldest: boolean;
};

export class DocumentCounts {
  readonly #sql: Statements;
  #groups: Map<string, Group> | undefined;
  /** SQLite's count of other connections' writes, as it was when this was counted. */
  #version = 0;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  counts(): Omit<CountRow, "oldestId">[] {
    return this.#read().map(({ mirrorId, state, documents, oldestAt }) => {
      return { mirrorId, state, documents, oldestAt };
    });
  }

  waitingPages(): WaitingPages[] {
    return this.#read().flatMap(({ mirrorId, state, documents, pages, unknown }) =>
      state === "pending" || state === "held"
        ? [{ mirrorId, state, documents, pages, unknown }]
        : [],
    );
  }

  joined(row: Counted): void {
    const group = this.#groups && this.#groupOf(this.#groups, row);
    if (!group) return;
    add(group, row, 1);
    // No row of it is older than the one that was the oldest, be that still there or not.
    if (group.documents > 1 && row.id > group.oldestId) return;
    Object.assign(group, { oldestId: row.id, oldestAt: row.firstSeenAt, hasOldest: true });
  }

  left(row: Counted): void {
    const group = this.#groups && this.#groupOf(this.#groups, row);
    if (!group) return;
    add(group, row, -1);
    if (row.id === group.oldestId) group.hasOldest = false;
  }

  /** A write was undone. */
  forget(): void {
    this.#groups = undefined;
  }

  #groupOf(groups: Map<string, Group>, { mirrorId, state }: Counted): Group {
    const key = `${mirrorId} ${state}`;
    const none = { documents: 0, pages: 0, unknown: 0, oldestId: 0, oldestAt: 0 };
    const group = groups.get(key) ?? { mirrorId, state, ...none, hasOldest: false };
    groups.set(key, group);
    return group;
  }

  #read(): Group[] {
    const version = this.#sql.of<number>("PRAGMA data_version").pluck().get() ?? 0;
    if (version !== this.#version) this.forget();
    this.#version = version;
    this.#groups ??= this.#counted();
    const groups = [...this.#groups.values()].filter(({ documents }) => documents > 0);
    for (const group of groups) if (!group.hasOldest) this.#findOldest(group);
    return groups.toSorted((a, b) => a.mirrorId - b.mirrorId || (a.state < b.state ? -1 : 1));
  }

  #counted(): Map<string, Group> {
    const groups = new Map<string, Group>();
    const counted = this.#sql.of<CountRow>(COUNT_QUERIES.counts).all(JSON.stringify(STATES));
    for (const row of counted)
      groups.set(`${row.mirrorId} ${row.state}`, { ...row, pages: 0, unknown: 0, hasOldest: true });
    const waiting = this.#sql.of<WaitingPages>(COUNT_QUERIES.waitingPages).all();
    for (const { mirrorId, state, pages, unknown } of waiting)
      Object.assign(groups.get(`${mirrorId} ${state}`) ?? {}, { pages, unknown });
    return groups;
  }

  #findOldest(group: Group): void {
    const { mirrorId, state, oldestId: after } = group;
    const row = this.#sql
      .of<{ id: number; firstSeenAt: number }>(COUNT_QUERIES.oldest)
      .get({ mirrorId, state, after });
    if (!row) return;
    Object.assign(group, { oldestId: row.id, oldestAt: row.firstSeenAt, hasOldest: true });
  }
}

function add(group: Group, { estimate }: Counted, sign: 1 | -1): void {
  group.documents += sign;
  if (estimate === null) group.unknown += sign;
  else group.pages += sign * estimate;
}
