/**
 * Reads, and locks, what a group of changes needs to be decided. The statements do not wait for one
 * another's answers, so that a connection that pipelines sends them together; they are run in order,
 * and what a later one sees includes what the locks of an earlier one waited for.
 */
import { type DocumentRow, documentOf } from "../columns.ts";
import { type NumberedLine, RETURNING } from "../history-line.ts";
import { placeKey, type Source } from "../source.ts";
import { isInTheWay } from "../conflict.ts";
import type { Answer, Script, Statement } from "../driver.ts";
import type { Change } from "../journal.ts";
import { bytesOf, rawOf } from "../../std/raw-path.ts";
import { directoriesAt, directoryAt } from "./directories.ts";
import { asRows, bytea, recordset } from "./recordset.ts";

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
export function* loadFor(changes: readonly Change[], instanceId: number): Script<Source> {
  const { ids, linked, places, documentIds, claims, withMirrors } = needsOf(changes);
  const isSimple = linked.length === 0 && places.length === 0;
  const found = isSimple ? [ids] : [ids, linked, asRows(places)];
  const claiming = [asRows(claims), claims.map(({ id }) => id)];
  const mirrorIds = [...new Set(places.map(({ mirror_id }) => mirror_id))];
  const hasRows = ids.length > 0 || !isSimple;
  const { lock, lockLinked, rows, rowsLinked } = LOAD_QUERIES;
  const asked: readonly (readonly [as: keyof Loaded, isNeeded: boolean, ...Statement])[] = [
    ["locks", places.length > 0, LOAD_QUERIES.lockMirrors, [mirrorIds]],
    ["locked", hasRows, isSimple ? lock : lockLinked, found],
    ["directories", places.length > 0, LOAD_QUERIES.lockDirectories, [asRows(places)]],
    ["locks", claims.length > 0, LOAD_QUERIES.lockClaims, claiming],
    ["rows", hasRows, isSimple ? rows : rowsLinked, found],
    // Else those of the rows, which come with them.
    ["mirrors", withMirrors, LOAD_QUERIES.mirrors, []],
    ["owned", documentIds.length > 0, LOAD_QUERIES.owned, [documentIds]],
    ["inTheWay", claims.length > 0, LOAD_QUERIES.inTheWay, claiming],
  ];
  const needed = asked.filter(([, isNeeded]) => isNeeded);
  const answers: readonly Answer[] = yield needed.map(([, , ...statement]) => statement);
  const read = new Map(needed.map(([as], at) => [as, answers[at]?.rows ?? []]));
  const of = <As extends keyof Loaded>(as: As) => (read.get(as) ?? []) as Loaded[As];
  // What came to be found in between is not locked; a key of the tables keeps us from writing over it.
  const isLocked = new Set(of("locked").map(({ id }) => id));
  const own = of("rows").filter((row) => isLocked.has(row["id"] as number));
  const others = of("inTheWay").filter((row) => !isLocked.has(row["id"] as number));
  return sourceOf(
    [...own, ...others],
    [...[...own, ...others].map(mirrorOf), ...of("mirrors")],
    of("owned"),
    of("directories"),
    instanceId,
  );
}

type Row = DocumentRow & { readonly is_taken: never };
type Mirror = { readonly id: number; readonly archiveId: number; readonly tells: number };
type Owned = {
  readonly id: number | null;
  readonly documentId: number;
  readonly archiveId: number;
};
type Directory = { readonly id: number; readonly mirrorId: number; readonly path: Buffer };

/** What the statements answer. */
type Loaded = {
  readonly locks: readonly object[];
  readonly locked: readonly { readonly id: number }[];
  readonly directories: readonly Directory[];
  readonly rows: readonly Row[];
  readonly mirrors: readonly Mirror[];
  readonly owned: readonly Owned[];
  readonly inTheWay: readonly Row[];
};

/** What was read, as the writer asks for it. */
function sourceOf(
  rows: readonly Row[],
  mirrors: readonly Mirror[],
  owned: readonly Owned[],
  directories: readonly Directory[],
  instanceId: number,
): Source {
  const documents = new Map(rows.map((row) => [row["id"] as number, documentOf(row)]));
  const byId = new Map(rows.map((row) => [row["id"], row]));
  const all = [...documents.values()];
  const archives = new Map(
    mirrors.map(({ id, archiveId, tells }) => [id, { archiveId, tells: tells === 1 }]),
  );
  const current = all.filter((row) => row.current);
  const places = new Map(
    current.map(({ id, mirrorId, dir, name }) => [placeKey(mirrorId, dir, name), id]),
  );
  const originals = all.filter((row) => row.duplicateOf === null);
  const owners = new Map([
    ...owned.map(({ id, documentId, archiveId }) => [`${archiveId}:${documentId}`, id] as const),
    ...originals.map(({ id, mirrorId, documentId }) => {
      return [`${archives.get(mirrorId)?.archiveId}:${documentId}`, id] as const;
    }),
  ]);
  const numbers = new Map([
    ...rows.map((row) => {
      const path = row["dir"] as Buffer;
      return [placeKey(row["mirror_id"] as number, rawOf(path)), row["dir_id"] as number] as const;
    }),
    ...directories.map(({ id, mirrorId, path }) => [placeKey(mirrorId, rawOf(path)), id] as const),
  ]);
  return {
    row: (id) => documents.get(id),
    isTaken: (id) => {
      const row = byId.get(id);
      return Boolean(row?.["is_taken"]) && row?.["taken_by"] !== instanceId;
    },
    currentAt: (mirrorId, dir, name) => places.get(placeKey(mirrorId, dir, name)),
    successors: (id) => all.filter((row) => row.supersedes === id).map((row) => row.id),
    ownerOf: (documentId, archiveId) => owners.get(`${archiveId}:${documentId}`) ?? undefined,
    hasTombstone: (documentId, archiveId) =>
      owned.some(
        (one) => one.id === null && one.documentId === documentId && one.archiveId === archiveId,
      ),
    lastLines: (id) => {
      const row = byId.get(id);
      return row ? [...lineIn(row, "line"), ...lineIn(row, "before")] : [];
    },
    mirror: (id) => archives.get(id),
    inTheWay: (document, folderId, alone) =>
      all.filter((other) => isInTheWay(other, document, folderId, alone)).map(({ id }) => id),
    directory: (mirrorId, dir) => numbers.get(placeKey(mirrorId, dir)),
  };
}

function mirrorOf(row: Row): Mirror {
  const { mirror_id: id, archive_id: archiveId, tells } = row;
  return { id, archiveId, tells } as Mirror;
}

function lineIn(row: Row, as: "line" | "before"): NumberedLine[] {
  if (row[`${as}_number`] === null) return [];
  const cells = Object.keys(LINES).map((name) => [name, row[`${as}_${name}`]]);
  return [Object.fromEntries(cells) as NumberedLine];
}
