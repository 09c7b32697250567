/** A journal of millions of rows: journaling into it, and what is asked of it all the time. */
import { COUNT_ALL } from "../../src/journal/document-counts.ts";
import type { NewDocument } from "../../src/journal/journal.ts";
import type { RawPath } from "../../src/std/raw-path.ts";
import { aPostgresJournal, type PostgresPlace } from "../../test/fixtures/a-postgres-journal.ts";
import { BIN } from "../../test/fixtures/a-process.ts";
import type { Postgres } from "../../test/fixtures/postgres.ts";
import { type Bench, check, median, rounded } from "../daemon/bench.ts";
import { costOf } from "../daemon/cost.ts";
import { configured, type ClusterCase } from "./case.ts";

const PER_DIRECTORY = 100;
/** One row of that many has failed, and one waits to be sent. */
const FAILED_EVERY = 10_000;
const PENDING_EVERY = 1_000;
/** Directories that a scan journals at once. */
const AT_ONCE = 50;
const TAKES = 50;

export const large: ClusterCase = {
  name: "large",
  async run(bench, postgres, rows) {
    for (const each of rows) await ask(bench, postgres, each);
  },
};

async function ask(bench: Bench, postgres: Postgres, rows: number): Promise<void> {
  const place = aPostgresJournal(postgres);
  // Makes the tables.
  await (await place.open("owner")).close();
  const count = rows.toLocaleString("en");
  const journaled = Math.min(rows, bench.quick ? 10_000 : 100_000);
  bench.say(`(making ${count} rows)`);
  await grow(postgres, place, rows);
  await journaling(bench, place, rows, journaled);
  const dir = bench.place("large", place.schema);
  const config = configured(dir, "large", {
    journal: `${place.url}?schema=${place.schema}`,
    source: bench.place("large", "source"),
  });
  await command(bench, config, count, ["status"], (text) => text.includes("converted"));
  await command(bench, config, count, ["list", "--state", "failed", "--json"], (text) => {
    return text.trim().split("\n").length === rows / FAILED_EVERY;
  });
  await taking(bench, place, count);
  await postgres.ask(`DROP SCHEMA ${place.schema} CASCADE`);
}

/**
 * As after a long time: nearly all CONVERTED, some failed, some to be sent. By SQL, past the
 * journal's own door, which would take an hour.
 */
async function grow(postgres: Postgres, place: PostgresPlace, rows: number): Promise<void> {
  const directories = Math.ceil(rows / PER_DIRECTORY);
  await postgres.ask(`
    SET search_path TO ${place.schema};
    UPDATE archives SET url = 'http://127.0.0.1:9';
    INSERT INTO mirrors (name, source, device, first_run_over_at) VALUES ('scans', '/srv', '1', 1);
    INSERT INTO directories (mirror_id, path, fingerprint)
      SELECT 1, convert_to('d' || at, 'UTF8'), 'f' FROM generate_series(1, ${directories}) at;
    INSERT INTO documents (mirror_id, dir_id, name, state, size_bytes, modified_at, stamp,
        first_seen_at, changed_at, due_at, digest, sent_name, folder_id, batch, attempts,
        document_id, uploaded_at, converted_at, pages, archive_bytes, problem_code,
        problem_message, current)
      SELECT 1, at / ${PER_DIRECTORY} + 1, convert_to('scan-' || at || '.pdf', 'UTF8'), state,
        20000, 1e12, at::text, 1.7e12 + at, 1.7e12 + at,
        CASE WHEN state = 'pending' THEN 1.7e12 + at END,
        lpad(to_hex(at), 64, '0'), 'scan-' || at || '.pdf', 2, 'bench-' || at / 200,
        CASE WHEN state = 'pending' THEN 0 ELSE 1 END,
        CASE WHEN state = 'converted' THEN at END,
        CASE WHEN state = 'converted' THEN 1.7e12 + at END,
        CASE WHEN state = 'converted' THEN 1.7e12 + at END,
        CASE WHEN state = 'converted' THEN 1 END,
        CASE WHEN state = 'converted' THEN 20000 END,
        CASE WHEN state = 'failed' THEN 'FILE_CORRUPT' END,
        CASE WHEN state = 'failed' THEN 'refused' END,
        1
      FROM (SELECT at, CASE WHEN at % ${FAILED_EVERY} = ${FAILED_EVERY - 1} THEN 'failed'
                            WHEN at % ${PENDING_EVERY} = 0 THEN 'pending'
                            ELSE 'converted' END AS state
              FROM generate_series(0, ${rows - 1}) at) AS made;
  `);
  await postgres.ask(`SET search_path TO ${place.schema}; ${COUNT_ALL}`);
  // By itself the server does it minutes after so many rows; not while it is measured.
  await postgres.ask(`VACUUM ANALYZE ${place.schema}.documents`);
  await postgres.ask(`VACUUM ANALYZE ${place.schema}.directories`);
  await postgres.ask("CHECKPOINT");
}

/** Rows that a scan finds, one promise for a group of directories as the daemon has it. */
async function journaling(
  bench: Bench,
  place: PostgresPlace,
  rows: number,
  files: number,
): Promise<void> {
  await using journal = await place.open("owner");
  const at = Date.now();
  const begun = performance.now();
  for (let from = 0; from < files; from += AT_ONCE * PER_DIRECTORY) {
    const directories = Array.from({ length: AT_ONCE }, (_, n) => from / PER_DIRECTORY + n);
    await Promise.all(
      directories.map(async (directory) => {
        const dir = `new${directory}` as RawPath;
        const names = Array.from({ length: PER_DIRECTORY }, (_, n) => `scan-${n}.pdf` as RawPath);
        await journal.apply([
          ...names.map((name) => ({ type: "add", document: newDocument(dir, name, at) }) as const),
          { type: "directory", mirrorId: 1, dir, fingerprint: "f" },
        ]);
      }),
    );
  }
  const seconds = (performance.now() - begun) / 1_000;
  bench.find({
    what: `new files journaled, ${rows.toLocaleString("en")} rows`,
    ours: `${files.toLocaleString("en")} rows in ${rounded(seconds)} s`,
    beside: "",
    value: files / seconds,
    bound: { atLeast: 2_000, unit: "rows/s" },
  });
}

/** Not due for a day. */
function newDocument(dir: RawPath, name: RawPath, at: number): NewDocument {
  const seen = { sizeBytes: 20_000, modifiedAt: at, stamp: "s" };
  return { mirrorId: 1, dir, name, seen, at, dueAt: at + 86_400_000, supersedes: null };
}

async function command(
  bench: Bench,
  config: string,
  count: string,
  words: readonly string[],
  isRight: (text: string) => boolean,
): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < bench.rounds; round++) {
    const { seconds, stdout } = await costOf(BIN, ["--config", config, ...words]);
    check(isRight(stdout), `${words.join(" ")} says ${stdout.slice(0, 500)}`);
    times.push(seconds * 1_000);
  }
  bench.find({
    what: `\`${words.join(" ")}\`, ${count} rows`,
    ours: "",
    beside: "",
    value: median(times),
    bound: { atMost: 1_000, unit: "ms" },
  });
}

/** What a daemon asks for whenever it has something to send. */
async function taking(bench: Bench, place: PostgresPlace, count: string): Promise<void> {
  const instance = { name: "bench", pid: process.pid, version: "0", web: null };
  await using journal = await place.open("owner", { instance });
  const times: number[] = [];
  for (let time = 0; time < TAKES; time++) {
    const begun = performance.now();
    const taken = await journal.take({ state: "pending", now: Date.now(), limit: 64 });
    times.push(performance.now() - begun);
    check(taken.length > 0, "nothing to take");
  }
  bench.find({
    what: `taking the next documents, ${count} rows`,
    ours: `${TAKES} times`,
    beside: "",
    value: median(times),
    bound: { atMost: 20, unit: "ms" },
  });
}
