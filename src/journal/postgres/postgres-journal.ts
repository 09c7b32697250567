import { InvariantError } from "../../std/invariant.ts";
import type { Cluster } from "../cluster.ts";
import type {
  Applied,
  ArchiveRow,
  Change,
  Content,
  GateRow,
  Journal,
  MirrorRow,
  PaceRow,
  WarnedRow,
} from "../journal.ts";
import { FIRST_ARCHIVE_ID } from "../rows.ts";
import type { Tidied, TidyRequest } from "../tidiness.ts";
import {
  ACCOUNT_QUERIES,
  archives,
  gate,
  mirrorOf,
  pace,
  setArchive,
  setContents,
  setGate,
  setMirror,
  setPace,
} from "./account.ts";
import { ApplyGroups, breachOf } from "./apply-groups.ts";
import { setReceipt } from "./batches.ts";
import { PostgresReading } from "./postgres-reading.ts";
import { QUERIES } from "./queries.ts";
import { kept } from "./recordset.ts";
import { PgSession, type PgSessionOptions, type Query } from "./session.ts";
import { tidy } from "./tidy.ts";

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
export class PostgresJournal extends PostgresReading implements Journal {
  readonly #session: PgSession;
  readonly #groups: ApplyGroups;

  private constructor(session: PgSession, groups: ApplyGroups, archiveId: number) {
    super(session, archiveId);
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

  archives(): Promise<ArchiveRow[]> {
    return this.#session.read(archives);
  }

  archive(name: string, url: string): Promise<ArchiveRow> {
    return this.#write((query) => setArchive(query, name, url));
  }

  retireArchive(archiveId: number, suffix: string): Promise<void> {
    const text = `WITH archive AS (
        UPDATE archives SET name = name || $2::text, url = NULL WHERE id = $1)
      UPDATE mirrors SET name = name || $2::text WHERE archive_id = $1`;
    return this.#run(text, [archiveId, suffix]);
  }

  async mirror(name: string, source: string): Promise<MirrorRow> {
    const known = await this.#session.read((query) => mirrorOf(query, name));
    if (known?.source === source && known.archiveId === this.archiveId) return known;
    return this.#write((query) => setMirror(query, name, source, this.archiveId));
  }

  mirrors(): Promise<MirrorRow[]> {
    return this.#session.read(async (query) => (await query<MirrorRow>(QUERIES.mirrors, [])).rows);
  }

  renameMirror(mirrorId: number, name: string): Promise<void> {
    return this.#run("UPDATE mirrors SET name = $2 WHERE id = $1", [mirrorId, name]);
  }

  setDevice(mirrorId: number, device: string): Promise<void> {
    return this.#run("UPDATE mirrors SET device = $2 WHERE id = $1", [mirrorId, device]);
  }

  async firstRuns(): Promise<number[]> {
    const { rows } = await this.#session.read((query) =>
      query<{ id: number }>(ACCOUNT_QUERIES.firstRuns, [this.archiveId]),
    );
    return rows.map(({ id }) => id);
  }

  endFirstRun(mirrorId: number, at: number): Promise<void> {
    return this.#run("UPDATE mirrors SET first_run_over_at = $2 WHERE id = $1", [mirrorId, at]);
  }

  apply(changes: readonly Change[]): Promise<Applied[]> {
    return this.#groups.apply(changes).catch((error: unknown) => {
      throw asInvariant(error);
    });
  }

  keepOutboxEntries(mirrorIds: readonly number[]): Promise<void> {
    const text = "UPDATE mirrors SET tells = CASE WHEN id = ANY($1::bigint[]) THEN 1 ELSE 0 END";
    return this.#run(text, [mirrorIds]);
  }

  endOutboxEntry(number: number): Promise<void> {
    return this.#run("DELETE FROM outbox WHERE number = $1", [number]);
  }

  putOffOutboxEntry(number: number, tries: number, dueAt: number): Promise<void> {
    const text = "UPDATE outbox SET tries = $2, due_at = $3 WHERE number = $1";
    return this.#run(text, [number, tries, dueAt]);
  }

  pullInOutboxEntries(mirrorId: number, laterThan: number, dueAt: number): Promise<void> {
    const text = "UPDATE outbox SET due_at = $3 WHERE mirror_id = $1 AND due_at > $2";
    return this.#run(text, [mirrorId, laterThan, dueAt]);
  }

  gate(): Promise<GateRow> {
    return this.#session.read((query) => gate(query, this.archiveId));
  }

  setGate(row: GateRow): Promise<void> {
    return this.#write((query) => setGate(query, this.archiveId, row));
  }

  pace(): Promise<PaceRow> {
    return this.#session.read((query) => pace(query, this.archiveId));
  }

  setPace(row: PaceRow): Promise<void> {
    return this.#write((query) => setPace(query, this.archiveId, row));
  }

  setWarned({ from, level }: WarnedRow): Promise<void> {
    return this.#run(ACCOUNT_QUERIES.setWarned, [this.archiveId, from, level]);
  }

  async paused(): Promise<boolean> {
    const { rows } = await this.#session.read((query) =>
      query<{ paused: number }>("SELECT paused FROM account", []),
    );
    return rows[0]?.paused === 1;
  }

  setPaused(paused: boolean): Promise<void> {
    return this.#run("UPDATE account SET paused = $1", [Number(paused)]);
  }

  async keyValue(name: string): Promise<string | null> {
    const { rows } = await this.#session.read((query) =>
      query<{ text: string }>("SELECT text FROM key_values WHERE name = $1", [name]),
    );
    return rows[0]?.text ?? null;
  }

  setKeyValue(name: string, text: string): Promise<void> {
    return this.#run(ACCOUNT_QUERIES.setKeyValue, [name, kept(text)]);
  }

  setContents(id: number, contents: readonly Content[]): Promise<void> {
    return this.#write((query) => setContents(query, id, contents));
  }

  setReceipt(batch: string, documents: number, at: number): Promise<boolean> {
    return this.#write((query) => setReceipt(query, batch, documents, at));
  }

  tidy(request: TidyRequest): Promise<Tidied> {
    return this.#write((query) => tidy(query, request));
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

  #run(text: string, values: readonly unknown[]): Promise<void> {
    return this.#write(async (query) => void (await query(text, values)));
  }

  /** Takes effect after all that was applied before, and before all that is applied from now on. */
  async #write<T>(run: (query: Query) => Promise<T>): Promise<T> {
    this.#groups.seal();
    try {
      return await this.#session.write(run);
    } catch (error) {
      throw asInvariant(error);
    }
  }
}

/** A rule of the tables is a rule of the journal: breaking it is a bug of the caller. */
function asInvariant(error: unknown): unknown {
  if (!(error instanceof Error) || breachOf(error) === undefined) return error;
  return error instanceof InvariantError
    ? error
    : new InvariantError(error.message, { cause: error });
}
