/**
 * Reads, and locks, what a group of changes needs to be decided. The statements do not wait for one
 * another's answers, so that a connection that pipelines sends them together; they are run in order,
 * and what a later one sees includes what the locks of an earlier one waited for.
 */
import { type DocumentRow, documentOf } from "../columns.ts";
import { type NumberedLine, RETURNING } from "../history-line.ts";
import type { Change } from "../journal.ts";
import { bytesOf, rawOf } from "../../std/raw-path.ts";
import type { Loaded, LoadedRow } from "./change-set.ts";
import type { Query } from "./query.ts";
import { asRows, bytea, recordset } from "./recordset.ts";
import { directoriesAt, directoryAt } from "./directories.ts";

const PLACES = recordset(3, "p", { mirror_id: "bigint", path: "bytea", name: "bytea" });

/**
 * Rows of these ids; `linked`: and of their predecessors and successors, and of what is at these
 * places. Sub-queries of single values, and not joins, where two columns tell what is meant: of a
 * join, a table that was not analyzed yet may be read by one of them.
 */
const FOUND = {
  byId: "$1::bigint[]",
  linked: `ARRAY(SELECT unnest($1::bigint[])
    UNION SELECT s.supersedes FROM documents s WHERE s.id = ANY($2::bigint[]) AND s.supersedes IS NOT NULL
    UNION SELECT c.id FROM documents c WHERE c.supersedes = ANY($2::bigint[])
    UNION SELECT (SELECT c.id FROM documents c WHERE c.dir_id = ${directoryAt("p")}
      AND c.name = p.name AND c.current = 1) FROM ${PLACES})`,
} as const;

const lockOf = (found: string) =>
  `SELECT n.id FROM documents n WHERE n.id = ANY(${found}) ORDER BY n.id FOR UPDATE`;

/** The columns of a line of history, under names of their own. */
const LINES: Readonly<Record<keyof NumberedLine, string>> = {
  number: "number",
  at: "at",
  from: "from_state",
  to: "to_state",
  event: "event",
  detail: "detail",
  times: "times",
};
const lineOf = (alias: string, as: string) =>
  Object.entries(LINES)
    .map(([name, column]) => `${alias}.${column} AS ${as}_${name}`)
    .join();

/**
 * The last line of history comes with the row, and the one before that where it may come to be counted
 * (`linesFor`); what learns about its mirror; anyone who else has it in hand, by the database's clock.
 */
const ROW = `SELECT n.*, d.path AS dir,
    (SELECT m.tells FROM mirrors m WHERE m.id = n.mirror_id) AS tells,
    ${lineOf("h", "line")}, ${lineOf("b", "before")},
    (n.taken_by IS NOT NULL AND n.taken_until > clock_timestamp() AND EXISTS
      (SELECT 1 FROM instances m WHERE m.id = n.taken_by AND NOT m.lost)) AS is_taken
  FROM documents n JOIN directories d ON d.id = n.dir_id
  LEFT JOIN LATERAL (SELECT * FROM history l WHERE l.document = n.id
    ORDER BY l.number DESC LIMIT 1) h ON true
  LEFT JOIN LATERAL (SELECT * FROM history l WHERE l.document = n.id AND l.number < h.number
    AND h.event IN (${RETURNING.map((event) => `'${event}'`).join()})
    ORDER BY l.number DESC LIMIT 1) b ON true`;
const rowsOf = (found: string) => `${ROW} WHERE n.id = ANY(${found})`;

const CLAIMS = recordset(1, "c", { id: "bigint", folder_id: "bigint", with_content: "smallint" });
/** $2: the ids of the claims' rows. By them rows are found one by one, however few there are. */
const CLAIMED = `${CLAIMS} JOIN documents n ON n.id = c.id AND n.id = ANY($2::bigint[])`;

/** What a row's name and content, and nothing else, have in common: the number of a lock. */
const keyOf = (...parts: string[]) =>
  `hashtextextended(concat_ws(' ', current_schema(), ${parts.join()}), 0)`;

/** The statements, by what they are for. */
export const LOAD_QUERIES = {
  lock: lockOf(FOUND.byId),
  lockLinked: lockOf(FOUND.linked),
  rows: rowsOf(FOUND.byId),
  rowsLinked: rowsOf(FOUND.linked),
  mirrors: `SELECT id, archive_id AS "archiveId", tells FROM mirrors`,
  // Whom a mirror is carried into may not change while rows are added to it.
  lockMirrors: "SELECT 1 FROM mirrors WHERE id = ANY($1::bigint[]) ORDER BY id FOR KEY SHARE",
  // A directory that rows are added to may not be tidied away meanwhile.
  lockDirectories: `SELECT d.id, d.mirror_id AS "mirrorId", d.path FROM directories d
    WHERE d.id = ANY(${directoriesAt(1)}) ORDER BY d.id FOR KEY SHARE`,
  // Rows that have these documents of archives, and tombstones, which have no row.
  owned: `SELECT n.id, n.document_id AS "documentId", n.archive_id AS "archiveId" FROM documents n
      WHERE n.document_id = ANY($1::bigint[]) AND n.duplicate_of IS NULL
    UNION ALL SELECT NULL, r.document_id, r.archive_id FROM tombstones r
      WHERE r.document_id = ANY($1::bigint[])`,
  // Claims of one name in one folder look at one another one at a time, and so do those of one
  // content. Of rows that are locked: their names and contents do not change any more. In one order
  // for everyone; two keys that are the same number by chance cost a wait.
  lockClaims: `SELECT pg_advisory_xact_lock(k.key) FROM (
    SELECT ${keyOf("'name'", "n.archive_id", "c.folder_id", "n.sent_name")} AS key FROM ${CLAIMED}
    UNION SELECT ${keyOf("'content'", "n.mirror_id", "n.digest")} FROM ${CLAIMED}
      WHERE c.with_content = 1
    ORDER BY key) k`,
  inTheWay: `${ROW} WHERE n.id = ANY(ARRAY(
    SELECT unnest(ARRAY(SELECT r.id FROM documents r WHERE r.folder_id = c.folder_id
        AND r.sent_name = n.sent_name AND r.archive_id = n.archive_id AND r.id <> n.id
        AND (r.state IN ('uploading', 'inDoubt') OR r.doubt_at IS NOT NULL)))
      FROM ${CLAIMED}
    UNION SELECT unnest(ARRAY(SELECT r.id FROM documents r WHERE r.mirror_id = n.mirror_id
        AND substr(r.digest, 1, 12) = substr(n.digest, 1, 12) AND r.digest = n.digest AND r.id <> n.id AND r.state IN ('uploading', 'inDoubt')))
      FROM ${CLAIMED} WHERE c.with_content = 1))`,
} as const;

/** What the changes are about. */
function needsOf(changes: readonly Change[]) {
  const ids = new Set<number>();
  const linked = new Set<number>();
  const places: { mirror_id: number; path: string; name: string }[] = [];
  const documentIds = new Set<number>();
  const claims: { id: number; folder_id: number; with_content: number }[] = [];
  let withMirrors = false;
  for (const change of changes) {
    if ("given" in change && change.given) ids.add(change.given.id);
    switch (change.type) {
      case "add": {
        const { mirrorId, dir, name } = change.document;
        const place = {
          mirror_id: mirrorId,
          path: bytea(bytesOf(dir)),
          name: bytea(bytesOf(name)),
        };
        places.push(place);
        withMirrors = true;
        break;
      }
      case "event": {
        ids.add(change.id);
        const { event, alone, id } = change;
        if ("documentId" in event && event.documentId !== null) documentIds.add(event.documentId);
        if (event.type === "claimed" && alone) {
          const with_content = alone === "nameAndContent" ? 1 : 0;
          claims.push({ id, folder_id: event.folderId, with_content });
        }
        break;
      }
      case "follow":
        for (const id of [change.id, change.successor]) {
          ids.add(id);
          linked.add(id);
        }
        break;
      case "forget":
        linked.add(change.id);
        ids.add(change.id);
        break;
      case "note":
        ids.add(change.id);
        break;
      default:
        withMirrors = true;
    }
  }
  return {
    ids: [...ids],
    linked: [...linked],
    places,
    documentIds: [...documentIds],
    claims,
    withMirrors,
  };
}

/** Reads what `changes` need; their rows stay locked until the transaction ends. */
export async function loadFor(
  query: Query,
  changes: readonly Change[],
  instanceId: number,
): Promise<Loaded> {
  const { ids, linked, places, documentIds, claims, withMirrors } = needsOf(changes);
  const isSimple = linked.length === 0 && places.length === 0;
  const found = isSimple ? [ids] : [ids, linked, asRows(places)];
  const none = { rows: [], count: 0 };
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- says what the rows are
  const when = <R extends object>(isNeeded: boolean, text: string, values: readonly unknown[]) =>
    isNeeded ? query<R>(text, values) : Promise.resolve(none as { rows: R[]; count: number });
  const claiming = [asRows(claims), claims.map(({ id }) => id)];
  const mirrorIds = [...new Set(places.map(({ mirror_id }) => mirror_id))];
  const hasRows = ids.length > 0 || !isSimple;
  const [, locked, directories, , rows, mirrors, owned, inTheWay] = await Promise.all([
    when(places.length > 0, LOAD_QUERIES.lockMirrors, [mirrorIds]),
    when<{ id: number }>(hasRows, isSimple ? LOAD_QUERIES.lock : LOAD_QUERIES.lockLinked, found),
    when<DirectoryRow>(places.length > 0, LOAD_QUERIES.lockDirectories, [asRows(places)]),
    when(claims.length > 0, LOAD_QUERIES.lockClaims, claiming),
    when<Row>(hasRows, isSimple ? LOAD_QUERIES.rows : LOAD_QUERIES.rowsLinked, found),
    // Else those of the rows, which come with them.
    when<MirrorCells>(withMirrors, LOAD_QUERIES.mirrors, []),
    when<Owned>(documentIds.length > 0, LOAD_QUERIES.owned, [documentIds]),
    when<Row>(claims.length > 0, LOAD_QUERIES.inTheWay, claiming),
  ]);
  // What came to be found in between is not locked; a key of the tables keeps us from writing over it.
  const isLocked = new Set(locked.rows.map(({ id }) => id));
  const own = rows.rows.filter((row) => isLocked.has(row["id"] as number));
  const others = inTheWay.rows.filter((row) => !isLocked.has(row["id"] as number));
  return {
    rows: [...own, ...others].map((row) => loadedRow(row, instanceId)),
    mirrors: new Map([
      ...[...own, ...others].map((row) => mirrorOf(row)),
      ...mirrors.rows.map(
        ({ id, archiveId, tells }) => [id, { archiveId, tells: tells === 1 }] as const,
      ),
    ]),
    owned: owned.rows.flatMap(({ id, ...one }) => (id === null ? [] : [{ id, ...one }])),
    tombstones: owned.rows.filter(({ id }) => id === null),
    directories: directories.rows.map(({ id, mirrorId, path }) => {
      return { id, mirrorId, dir: rawOf(path) };
    }),
  };
}

type Row = DocumentRow & { readonly is_taken: never };
type DirectoryRow = { readonly id: number; readonly mirrorId: number; readonly path: Buffer };
type MirrorCells = { readonly id: number; readonly archiveId: number; readonly tells: number };
type MirrorOfRow = {
  readonly mirror_id: number;
  readonly archive_id: number;
  readonly tells: number;
};
type Owned = {
  readonly id: number | null;
  readonly documentId: number;
  readonly archiveId: number;
};

function mirrorOf(row: Row) {
  const { mirror_id: id, archive_id: archiveId, tells } = row as unknown as MirrorOfRow;
  return [id, { archiveId, tells: tells === 1 }] as const;
}

function loadedRow(row: Row, instanceId: number): LoadedRow {
  return {
    document: documentOf(row),
    dirId: row["dir_id"] as number,
    lines: [...lineIn(row, "line"), ...lineIn(row, "before")],
    isTaken: Boolean(row["is_taken"]) && row["taken_by"] !== instanceId,
  };
}

function lineIn(row: Row, as: "line" | "before"): NumberedLine[] {
  if (row[`${as}_number`] === null) return [];
  const cells = Object.keys(LINES).map((name) => [name, row[`${as}_${name}`]]);
  return [Object.fromEntries(cells) as NumberedLine];
}
