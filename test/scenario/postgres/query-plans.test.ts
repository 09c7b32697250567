/**
 * How PostgreSQL answers what it is asked often, in a journal of some size: tables of a few rows are
 * rightly read whole. Each statement is prepared and planned as often as it takes PostgreSQL to
 * settle on a plan, as happens to those of a daemon.
 */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnsOf } from "../../../src/journal/columns.ts";
import { DUE_QUERIES } from "../../../src/journal/postgres/due-documents.ts";
import { BY_KEYS } from "../../../src/journal/postgres/link.ts";
import { LOAD_QUERIES } from "../../../src/journal/postgres/load-change-set.ts";
import {
  OWN_QUERIES,
  QUERIES,
  TIDY_QUERIES,
} from "../../../src/journal/postgres/postgres-journal.ts";
import { insertOf, updateOf, WRITE_QUERIES } from "../../../src/journal/postgres/write-queries.ts";
import { seenFields } from "../../../src/journal/revision.ts";
import { appearing } from "../../contract/journal-desk.ts";
import { aPostgresJournal } from "../../fixtures/a-postgres-journal.ts";
import { NO_POSTGRES } from "../../fixtures/postgres.ts";
import { thePostgres } from "../../fixtures/the-postgres.ts";

const ROWS = 60_000;

/** Many rows in every state, as a journal of some years has them: most are converted. */
const FILL = `
  INSERT INTO archives (name) VALUES ('legal');
  INSERT INTO mirrors (name, source, archive_id) SELECT 'm' || n, '/m' || n, 1 + n % 2
    FROM generate_series(1, 4) n;
  INSERT INTO directories (mirror_id, path, fingerprint)
    SELECT 1 + n % 4, convert_to('d' || n, 'UTF8'), 'f' FROM generate_series(1, 40000) n;
  INSERT INTO documents (mirror_id, archive_id, dir_id, name, state, size_bytes, modified_at, stamp,
      first_seen_at, changed_at, due_at, digest, sent_name, target_path, batch, folder_id, document_id,
      uploaded_at, converted_at, pages, estimate, problem_code, problem_message, current, after_state,
      doubt_at, duplicate_of, moved_from)
    SELECT 1 + n % 4, 1 + (1 + n % 4) % 2, 1 + n % 40000, convert_to('n' || n, 'UTF8'), s.state,
      (n * 7919) % 40000000, n, 's', n, n, CASE WHEN s.state <> 'converted' THEN n END, md5(n::text),
      'n' || n, '/T' || n % 9, md5((n / 50)::text), n % 20,
      CASE WHEN s.state IN ('uploaded', 'converted') THEN n END, n, n, 1, n % 30,
      CASE WHEN s.state = 'held' THEN CASE n % 3 WHEN 0 THEN 'DOUBT_AMBIGUOUS' ELSE 'QUOTA_LIMIT' END END,
      CASE WHEN s.state = 'held' THEN 'm' END,
      (n % 50 <> 0)::int, CASE WHEN n % 500 = 0 THEN 'due' END,
      CASE WHEN s.state = 'inDoubt' THEN n END, CASE WHEN n % 900 = 0 THEN n - 1 END,
      CASE WHEN n % 700 = 0 THEN 'x' END
    FROM generate_series(1, ${ROWS}) n CROSS JOIN LATERAL (SELECT CASE
      WHEN n % 10 < 6 THEN 'converted' WHEN n % 10 = 6 THEN 'pending' WHEN n % 10 = 7 THEN 'held'
      WHEN n % 10 = 8 THEN 'settling' WHEN n % 300 = 9 THEN 'uploading' WHEN n % 300 = 19 THEN 'inDoubt'
      ELSE 'uploaded' END AS state) s;
  INSERT INTO history (document, number, at, event)
    SELECT n, k, n, 'x' FROM generate_series(1, ${ROWS}) n, generate_series(1, 3) k;
  INSERT INTO attempts (document, number, started_at, digest, sent_name, folder_id, batch)
    SELECT n, 1, n, 'd', 'n', 1, 'b' FROM generate_series(1, ${ROWS}) n;
  INSERT INTO forgotten (document, mirror_id, path)
    SELECT ${ROWS} + n, 1, convert_to('p' || n, 'UTF8') FROM generate_series(1, 20000) n;
  INSERT INTO tombstones (document_id, archive_id, mirror_id, folder_id, digest, dropped_at)
    SELECT ${ROWS} + n, 1, 1, 1, decode(md5(n::text), 'hex'), n FROM generate_series(1, 100000) n;
  INSERT INTO batches (id, mirror_id, opened_at, joined_at, documents, receipt_at)
    SELECT md5(n::text), 1 + n % 4, n, n, 50, CASE WHEN n % 9 <> 0 THEN n END
    FROM generate_series(1, 20000) n;
  INSERT INTO outbox (mirror_id, outcome, at, document, due_at)
    SELECT 1 + n % 4, 'converted', n, '{}', n FROM generate_series(1, 20000) n;
  INSERT INTO usage_bucket_parts (at, mirror_id, part, uploaded, uploaded_bytes, converted, pages, charged, saved, failed)
    SELECT n * 900000.0, m, 1, 1, 1, 1, 1, 1, 0, 0 FROM generate_series(1, 5000) n, generate_series(1, 4) m;
  INSERT INTO contents (document, position, document_id, filename, size_bytes, pages)
    SELECT n, 0, n, 'f', 1, 1 FROM generate_series(1, 20000) n;
`;

/** A journal as it is on its first day; the server knows nothing of what is in it yet. */
const FEW = `
  INSERT INTO mirrors (name, source) VALUES ('m', '/m');
  INSERT INTO directories (mirror_id, path) VALUES (1, 'd');
  INSERT INTO documents (mirror_id, dir_id, name, state, size_bytes, modified_at, stamp,
      first_seen_at, changed_at, current)
    SELECT 1, 1, convert_to('n' || n, 'UTF8'), 'settling', n, n, 's', n, n, 1
    FROM generate_series(1, 500) n;
  INSERT INTO attempts (document, number, started_at, digest, sent_name, folder_id, batch)
    SELECT n, 1, n, 'd', 'n', 1, 'b' FROM generate_series(1, 500) n;
`;

/** A value for every type of parameter, such as is asked for. */
const SAMPLES: Readonly<Record<string, string>> = {
  bigint: "2",
  integer: "2",
  smallint: "1",
  "double precision": "600",
  text: "'pending'",
  bytea: "'\\x6e31'",
  boolean: "true",
  json: "'[]'",
  "bigint[]": "'{2,3,5}'",
  "text[]": "'{QUOTA_LIMIT,FOLDER_MISSING,pending,converted}'",
};

const INSERT = insertOf(Object.keys({ ...columnsOf(seenFields(appearing(1, "a"))), dir_id: 1 }));
const UPDATE = updateOf(["state", "due_at", "problem_code", "problem_message"]);

/** What a journal's writing connection is asked, which has settings of its own. */
const WRITTEN: ReadonlySet<string> = new Set([
  ...Object.values(LOAD_QUERIES),
  ...Object.values(WRITE_QUERIES),
  ...Object.values(TIDY_QUERIES),
  INSERT,
  UPDATE,
  DUE_QUERIES.take,
]);

const prefixed = (word: string, texts: object) =>
  Object.entries(texts).map(([name, text]) => [`${word} ${name}`, text as string] as const);

const { list, heldWith, heldFor, smallestHeld, ...texts } = QUERIES;

const all: readonly (readonly [name: string, text: string])[] = [
  ...prefixed("ask", texts),
  ...prefixed("ask", OWN_QUERIES),
  ["ask heldWith", heldWith(2)],
  ["ask heldFor", heldFor(2)],
  ["ask smallestHeld", smallestHeld(2)],
  ...prefixed("due", DUE_QUERIES),
  ...prefixed("list", list),
  ...prefixed("tidy", TIDY_QUERIES),
  ...prefixed("load", LOAD_QUERIES),
  ...prefixed("write", WRITE_QUERIES),
  ["write insert", INSERT],
  ["write update", UPDATE],
];

/** Asked once in a mirror's life, or about so many that an index is no shorter way. */
const WHOLE: readonly string[] = [
  "ask bindMirror",
  "ask bindDocuments",
  "ask directories",
  "list ofState",
];

/** Few rows, whatever the journal's size. */
const SMALL =
  "document_counts|mirrors|archives|instances|assignments|account|key_values|usage_bucket_parts|batches|outbox";

type Plan = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Plan[];
};

describe.skipIf(NO_POSTGRES)("with many rows", () => {
  const postgres = thePostgres();
  let client: Client;
  let schema: string;

  beforeAll(async () => {
    const place = aPostgresJournal(postgres);
    await (await place.open("owner")).close();
    schema = place.schema;
    const { url } = place;
    client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`SET search_path TO ${schema}`);
    await client.query(FILL);
    await client.query("VACUUM ANALYZE");
  });
  afterAll(async () => {
    await client.end();
  });

  async function planOf(text: string): Promise<Plan[]> {
    await client.query("RESET ALL; DEALLOCATE ALL");
    await client.query(`SET search_path TO ${schema}`);
    if (WRITTEN.has(text)) await client.query(BY_KEYS);
    await client.query(`PREPARE asked AS ${text}`);
    const { rows } = await client.query<{ type: string }>(
      "SELECT unnest(parameter_types)::text AS type FROM pg_prepared_statements WHERE name = 'asked'",
    );
    const values = rows.map(({ type }) => {
      const sample = SAMPLES[type];
      if (sample === undefined) throw new Error(`no sample of ${type}`);
      return sample;
    });
    const call = values.length > 0 ? `asked(${values.join()})` : "asked";
    let plan: Plan | undefined;
    for (let times = 0; times < 7; times++) {
      const explained = await client.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
        `EXPLAIN (FORMAT JSON) EXECUTE ${call}`,
      );
      plan = explained.rows[0]?.["QUERY PLAN"][0]?.Plan;
    }
    return plan ? flat(plan) : [];
  }

  const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)];
  const shown = (plan: Plan) =>
    [plan["Node Type"], plan["Relation Name"], plan["Index Name"]].filter(Boolean).join(" ");

  test.for(all.filter(([name]) => !WHOLE.includes(name)))(
    "%s never reads a whole table that grows",
    async ([, text]) => {
      const small = new RegExp(`^(?:${SMALL})$`);
      const scans = (await planOf(text)).filter(
        (step) => step["Node Type"] === "Seq Scan" && !small.test(step["Relation Name"] ?? ""),
      );
      expect(scans.map(shown)).toEqual([]);
    },
  );

  test.for([
    ["due any", "documents_due"],
    ["due large", "documents_large"],
    ["due newest", "documents_due"],
    ["due newestLarge", "documents_large"],
    ["ask sentWith", "documents_sent"],
    ["ask sentWith", "documents_held_by_size"],
    ["ask ignoredWith", "documents_ignored"],
    ["ask conflicts", "documents_conflicts"],
    ["ask conflictsAnywhere", "documents_conflicts"],
    ["ask underWay", "documents_sending"],
    ["ask outstanding", "documents_outstanding"],
    ["ask outstandingIn", "documents_outstanding"],
    ["ask afterDue", "documents_after"],
    ["ask claimed", "documents_archived"],
    ["ask smallestHeld", "documents_held_by_size"],
    ["ask moved", "documents_moved_last"],
    ["ask movedAway", "documents_moved"],
    ["ask afterFailed", "documents_after_failed"],
    ["ask duplicates", "documents_duplicates"],
    ["list uploaded", "documents_uploaded"],
    ["ask inBatch", "documents_batch"],
    ["ask rowsIn", "directories_path"],
    ["ask rowsBelow", "directories_path"],
    ["ask currentAt", "directories_path"],
    ["ask forgotten", "forgotten_path"],
    ["ask heldFor", "documents_waiting"],
    ["ask heldFor", "documents_waiting_long"],
    ["list directories", "directories_path"],
    ["list directory", "directories_path"],
    ["ask ofBatches", "documents_batch"],
    ["ask pendingOver", "documents_due"],
    ["ask counts", "documents_due"],
    ["ask pagesUsed", "documents_conflicts"],
    ["load rows", "documents_pkey"],
    ["load inTheWay", "documents_conflicts"],
    ["load owned", "documents_archived"],
    ["load lockDirectories", "directories_path"],
    ["write update", "documents_pkey"],
  ] as const)("%s is served by %s", async ([name, index]) => {
    const text = all.find(([each]) => each === name)?.[1] ?? "";
    expect((await planOf(text)).map((step) => step["Index Name"])).toContain(index);
  });

  test("a place is found by its directory and its name, whatever is known of the tables", async () => {
    for (const name of ["load lockLinked", "load rowsLinked"]) {
      const text = all.find(([each]) => each === name)?.[1] ?? "";
      const conditions = (await planOf(text)).flatMap((step) =>
        step["Index Name"] === "documents_current" ? [step["Index Cond"]] : [],
      );
      expect(conditions).toEqual([expect.stringMatching(/dir_id = .*name = /)]);
    }
  });

  test.for([
    ["write update", "documents_pkey"],
    ["write endAttempts", "attempts_pkey"],
    ["due take", "documents_pkey"],
    ["load lock", "documents_pkey"],
    ["load rows", "documents_pkey"],
    ["load lockClaims", "documents_pkey"],
  ] as const)("%s finds few rows by their keys, too: they become more", async ([name, index]) => {
    const place = aPostgresJournal(postgres);
    await (await place.open("owner")).close();
    const text = all.find(([each]) => each === name)?.[1] ?? "";
    const many = schema;
    try {
      schema = place.schema;
      await client.query(`SET search_path TO ${schema}; ${FEW}`);
      const steps = await planOf(text);
      expect(steps.filter((step) => step["Node Type"] === "Seq Scan").map(shown)).toEqual([]);
      const conditions = steps
        .filter((step) => step["Index Name"] === index)
        .map((step) => step["Index Cond"]);
      expect(conditions.length).toBeGreaterThan(0);
      expect(conditions.every((condition) => condition !== undefined)).toBe(true);
    } finally {
      schema = many;
    }
  });
});
