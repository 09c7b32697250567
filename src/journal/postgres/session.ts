/**
 * One opening of a journal in PostgreSQL: its connections, the queue of writes, and its end. Knows
 * nothing of what is read or written.
 */
import { Client } from "pg";
import { type Clock, systemClock } from "../../std/clock.ts";
import { type Crew, SOLO_CREW } from "../crew.ts";
import { type Query, queryOn } from "./query.ts";

export type { Query } from "./query.ts";

/** `owner`: a daemon; `guest`: a command that writes; `reader`: one that only looks. */
export type PgRole = "owner" | "guest" | "reader";

export type PgSessionOptions = {
  /** `postgres://user@host:port/database`, with what else `pg` takes there, but no `schema`. */
  readonly url: string;
  readonly password?: string;
  /** The namespace that the tables are in. */
  readonly schema: string;
  readonly role: PgRole;
  readonly clock?: Clock;
};

export class PgSession {
  readonly crew: Crew = SOLO_CREW;
  readonly schema: string;
  readonly #writing: Client;
  readonly #reading: Client;
  #tail: Promise<unknown> = Promise.resolve();
  #outside = 0;

  private constructor(options: PgSessionOptions, writing: Client, reading: Client) {
    this.schema = options.schema;
    this.#writing = writing;
    this.#reading = reading;
  }

  static async open(options: PgSessionOptions): Promise<PgSession> {
    const { clock = systemClock } = options;
    void clock;
    const connect = async () => {
      const client = new Client({ connectionString: options.url, password: options.password });
      client.on("error", () => undefined);
      await client.connect();
      await client.query(`SET search_path TO ${client.escapeIdentifier(options.schema)}`);
      return client;
    };
    return new PgSession(options, await connect(), await connect());
  }

  /** Sees all writes issued before it. Repeated while the database is away, so it must only read. */
  async read<T>(ask: (query: Query) => Promise<T>): Promise<T> {
    await this.#tail;
    return ask(queryOn(this.#reading));
  }

  /**
   * Runs in the next group's transaction, in the order issued; one that throws is undone alone. Run
   * again from the start when that was not committed: it may change nothing but the database.
   */
  write<T>(run: (query: Query) => Promise<T>, committed?: (value: T) => void): Promise<T> {
    const done = this.#tail.then(async () => {
      await this.#writing.query("BEGIN");
      try {
        const value = await run(queryOn(this.#writing));
        await this.#writing.query("COMMIT");
        committed?.(value);
        return value;
      } catch (error) {
        await this.#writing.query("ROLLBACK");
        throw error;
      }
    });
    this.#tail = done.catch(() => undefined);
    return done;
  }

  /** See `Journal.outsideWrites`. */
  get outsideWrites(): number {
    return this.#outside;
  }

  async close(): Promise<void> {
    await this.#tail;
    await Promise.all([this.#writing.end(), this.#reading.end()]);
  }
}
