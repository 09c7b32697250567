import type { Document } from "../../domain/document.ts";
import { InvariantError } from "../../std/fault.ts";
import type { Cluster } from "../cluster.ts";
import type { Applied, Change, DueQuery, Journal } from "../journal.ts";
import type { Driver, Values } from "../driver.ts";
import { FIRST_ARCHIVE_ID } from "../rows.ts";
import { SqlJournal } from "../sql-journal.ts";
import type { Tidied, TidyRequest } from "../tidiness.ts";
import { type Script, tidy, tidyQueriesIn } from "../tidy.ts";
import { ApplyGroups, breachOf } from "./apply-groups.ts";
import { dueDocuments, SELECT_DOCUMENT, takeDue } from "./due-documents.ts";
import { kept } from "./recordset.ts";
import { PgSession, type PgSessionOptions, type Query } from "./session.ts";
import { POSTGRES } from "../dialect.ts";
import { queriesIn } from "../queries.ts";

/** How a journal in PostgreSQL is opened. */
export type PostgresJournalOptions = PgSessionOptions & {
  /** Told what each call of `apply` did once it is durable; must not throw. */
  readonly onApplied?: (applied: Applied[]) => void;
};

/**
 * The journal in a schema of a PostgreSQL database, shared by as many daemons as have it configured
 * (docs/adr/0017). What is resolved is committed there. Writes of one daemon are committed in groups,
 * in the order in which they were issued; reads see those that were issued before.
 */
export class PostgresJournal extends SqlJournal implements Journal {
  readonly #session: PgSession;
  readonly #groups: ApplyGroups;

  private constructor(session: PgSession, groups: ApplyGroups, archiveId: number) {
    super(driverOf(session, groups), archiveId);
    this.#session = session;
    this.#groups = groups;
  }

  /**
   * Opens the journal; `prepare` is to make the tables, or to look whether they fit. Rejects with a
   * `Fault`, as `PgSession.open` and it do.
   */
  static async open(options: PostgresJournalOptions): Promise<PostgresJournal> {
    const { onApplied = () => undefined, ...rest } = options;
    const session = await PgSession.open(rest);
    return new PostgresJournal(session, new ApplyGroups(session, onApplied), FIRST_ARCHIVE_ID);
  }

  get cluster(): Cluster {
    return this.#session.cluster;
  }

  of(archiveId: number): PostgresJournal {
    if (archiveId === this.archiveId) return this;
    return new PostgresJournal(this.#session, this.#groups, archiveId);
  }

  due(query: DueQuery): Promise<Document[]> {
    return dueDocuments(this.#session, this.archiveId, query);
  }

  take(query: DueQuery): Promise<Document[]> {
    return takeDue(this.#session, this.archiveId, query);
  }

  underWay(limit: number): Promise<Document[]> {
    return this.documents(OWN_QUERIES.underWay, [this.archiveId, limit]);
  }

  apply(changes: readonly Change[]): Promise<Applied[]> {
    return this.#groups.apply(changes).catch((error: unknown) => {
      throw asInvariant(error);
    });
  }

  tidy(request: TidyRequest): Promise<Tidied> {
    return written(this.#session, this.#groups, (query) =>
      resultOf(tidy(TIDY_QUERIES, request), query),
    );
  }

  /** Commits of others that were heard of. */
  async outsideWrites(): Promise<number> {
    return this.#session.outsideWrites;
  }

  /** Commits what is queued, and closes. Later calls reject with `JOURNAL_CLOSED`. */
  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function driverOf(session: PgSession, groups: ApplyGroups): Driver {
  const rows: Driver["rows"] = <Row extends object>(text: string, values: Values) =>
    session.read(async (query) => (await query<Row>(text, values)).rows);
  return {
    queries: QUERIES,
    isCopy: false,
    rows,
    // What is read was committed.
    durableRows: rows,
    write: (...statements) =>
      written(session, groups, async (query) => {
        let changed = 0;
        for (const [text, values] of statements)
          changed = (await query(text, values.map(keptCell))).count;
        return changed;
      }),
  };
}

/** Runs a script whole. */
async function resultOf<T>(script: Script<T>, query: Query): Promise<T> {
  let step = script.next([]);
  while (step.done !== true) {
    const answers = step.value.map(([text, values]) => query(text, values));
    step = script.next((await Promise.all(answers)).map(({ rows }) => rows));
  }
  return step.value;
}

/** Takes effect after all that was applied before, and before all that is applied from now on. */
async function written<T>(
  session: PgSession,
  groups: ApplyGroups,
  run: (query: Query) => Promise<T>,
): Promise<T> {
  groups.seal();
  try {
    return await session.write(run);
  } catch (error) {
    throw asInvariant(error);
  }
}

function keptCell(value: unknown): unknown {
  return typeof value === "string" ? kept(value) : value;
}

/** A rule of the tables is a rule of the journal: breaking it is a bug of the caller. */
function asInvariant(error: unknown): unknown {
  if (!(error instanceof Error) || breachOf(error) === undefined) return error;
  return error instanceof InvariantError
    ? error
    : new InvariantError(error.message, { cause: error });
}

/** The texts, by the question they answer. */
export const QUERIES = queriesIn(POSTGRES);

/** Those of retention, by what they are for. */
export const TIDY_QUERIES = tidyQueriesIn(POSTGRES);

/** Those that SQLite answers in another way. */
export const OWN_QUERIES = {
  // Whose sender is there is being sent; a sender without a row is not.
  underWay: `${SELECT_DOCUMENT} WHERE n.archive_id = $1 AND n.state = 'uploading'
    AND NOT EXISTS (SELECT 1 FROM instances m WHERE m.id = n.sender AND NOT m.lost)
    ORDER BY n.id LIMIT $2`,
} as const;
