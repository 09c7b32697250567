/**
 * A connection to PostgreSQL that is replaced when it breaks. It breaks on its own, or because
 * nobody answers for too long: a server that is stopped, or cut off, keeps its connections open.
 */
import { Client, DatabaseError, escapeLiteral } from "pg";
import type { Clock } from "../../std/clock.ts";
import {
  BrokenLink,
  DistrustedLink,
  endsLink,
  isAboutTrust,
  NONE_FREE,
  whyOf,
} from "./postgres-fault.ts";
import { type Query, queryOn, quoted } from "./query.ts";

/** Where the database is, and how its connections are set up. */
export type Way = {
  /** `postgres://…`, without a password and without `schema`. */
  readonly url: string;
  /** Asked for whenever a connection is made; undefined: none is needed. */
  readonly password?: (() => string) | undefined;
  readonly schema: string;
  readonly clock: Clock;
  /** True once it was reached: whatever keeps a connection from being made later on may pass. */
  readonly wasReached: () => boolean;
};

/** How one link is used. */
export type Use = {
  /** Tells it from every other link: the server shows it, and ends what is left of it by it. */
  readonly name: string;
  /** Nobody answers for so long: broken; milliseconds. */
  readonly patienceMs: number;
  /** A transaction that stands still for so long is ended by the server, milliseconds. */
  readonly idleMs: number;
  /**
   * Every statement finds its rows by their keys. Then one plan is as good as another one made again
   * for each run, and no table is so small that to read all of it is better: it may have grown by the
   * time that plan is used.
   */
  readonly byKeys?: boolean;
  /** A channel to listen on: called when listening began, and with each message. */
  readonly listen?: {
    readonly channel: string;
    readonly began: () => void;
    readonly heard: (payload: string) => void;
  };
};

/** How long a connection may take to be made, milliseconds. */
const CONNECT_MS = 5_000;

/** And so long until it is set up: a pooler without a free connection lets its callers wait there. */
const SET_UP_MS = 10_000;

/** The settings of `Use.byKeys`. What is left of plans that read a whole table must not be compiled. */
export const BY_KEYS = `SET plan_cache_mode TO force_generic_plan; SET enable_seqscan TO off;
  SET jit TO off;`;

/** One connection. */
export type Connection = {
  readonly query: Query;
  /** A pooler is in between, which gives the session another number than the server's. */
  readonly isPooled: boolean;
  /** True once it is of no use any more. */
  readonly broken: boolean;
  /** Breaks it. */
  end(why: string): void;
};

export class Link {
  readonly #way: Way;
  readonly #use: Use;
  #connection: Connection | undefined;
  #making: Promise<Connection> | undefined;
  #client: Client | undefined;
  #isCut = false;

  constructor(way: Way, use: Use) {
    this.#way = way;
    this.#use = use;
  }

  /** The connection; a new one where there is none, or it broke. Rejects when none can be made. */
  async connection(): Promise<Connection> {
    if (this.#isCut) throw new BrokenLink("the session ends");
    if (this.#connection?.broken === false) return this.#connection;
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  /** Ends the connection in good order; it is not to be used any more. */
  async close(): Promise<void> {
    await this.#making?.catch(() => undefined);
    const client = this.#client;
    const connection = this.#connection;
    if (!client || connection?.broken !== false) return;
    const { clock } = this.#way;
    const cancel = clock.alarm(CONNECT_MS, () => connection.end("no answer to its end"));
    await client.end().catch(() => undefined);
    cancel();
  }

  /** Breaks the connection, also one that is being made, anyone who waits for an answer; there is none any more. */
  cut(): void {
    this.#isCut = true;
    this.#connection?.end("the session ends");
    this.#client?.connection.stream.destroy();
  }

  async #make(): Promise<Connection> {
    const client = this.#newClient();
    this.#client = client;
    const { listen, patienceMs } = this.#use;
    const { clock } = this.#way;
    const made = connectionOf(client, clock, patienceMs);
    if (listen) client.on("notification", ({ payload }) => listen.heard(payload ?? ""));
    let cancel = () => {};
    let pid: number | undefined;
    try {
      await client.connect();
      cancel = clock.alarm(SET_UP_MS, () => made.end(NONE_FREE));
      pid = await this.#setUp(made.query);
    } catch (error) {
      made.end(whyOf(error));
      if (error instanceof DatabaseError && !this.#way.wasReached()) throw error;
      throw this.#unmade(error, isAboutTrust(error));
    } finally {
      cancel();
    }
    const connection = Object.assign(made, { isPooled: pid !== pidOf(client) });
    listen?.began();
    this.#connection = connection;
    return connection;
  }

  #newClient(): Client {
    const { url, password } = this.#way;
    try {
      const client = new Client({
        connectionString: url,
        application_name: this.#use.name,
        connectionTimeoutMillis: CONNECT_MS,
        keepAlive: true,
        pipeline: true,
      });
      // Not among the options, where what the URL says would win, also that there is none.
      if (password) client.password = password();
      return client;
    } catch (error) {
      // Files that the URL names are read here: certificates, keys.
      throw this.#unmade(error, true);
    }
  }

  /** Why there is no connection; over trust nobody waits, but for a database that was reached before. */
  #unmade(error: unknown, overTrust: boolean): Error {
    const Unmade = overTrust && !this.#way.wasReached() ? DistrustedLink : BrokenLink;
    return new Unmade(whyOf(error), { cause: error });
  }

  /** Resolves with the number that the server has for the session. */
  async #setUp(query: Query): Promise<number | undefined> {
    const { schema } = this.#way;
    const { name, patienceMs, idleMs, byKeys, listen } = this.#use;
    await query(`
      SET search_path TO ${quoted(schema)};
      SET default_transaction_isolation TO 'read committed';
      SET statement_timeout TO ${Math.ceil(patienceMs)};
      SET idle_in_transaction_session_timeout TO ${Math.ceil(idleMs)};
      SELECT set_config('transaction_timeout', '0', false)
        WHERE current_setting('transaction_timeout', true) IS NOT NULL;
      SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') = 'off';
      ${byKeys ? BY_KEYS : ""}
      ${listen ? `LISTEN ${quoted(listen.channel)};` : ""}
    `);
    // What a broken connection left may hold locks until the server hears of the break.
    const { rows } = await query<{ pid: number }>(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = ${escapeLiteral(name)} AND pid <> pg_backend_pid() AND usename = current_user;
       SELECT pg_backend_pid() AS pid`,
    );
    return rows[0]?.pid;
  }
}

/** The number of the session as the other side of this connection has it. */
function pidOf(client: Client): unknown {
  return "processID" in client ? client.processID : undefined;
}

/** The connection over this client, which need not be connected yet; see `Use.patienceMs`. */
function connectionOf(
  client: Client,
  clock: Clock,
  patienceMs: number,
): Omit<Connection, "isPooled"> {
  let why: string | undefined;
  const broken = (what: string) => {
    why ??= what;
  };
  client.on("error", (error) => broken(whyOf(error)));
  client.on("end", () => broken("the connection ended"));
  const end = (what: string) => {
    broken(what);
    client.connection.stream.destroy();
  };
  const ask = queryOn(client);
  const gather = gathering(client);
  return {
    get broken() {
      return why !== undefined;
    },
    end,
    query: async (text, values) => {
      const cancel = clock.alarm(patienceMs, () => end(`no answer within ${patienceMs / 1000} s`));
      try {
        gather();
        return await ask(text, values);
      } catch (error) {
        if (error instanceof DatabaseError) {
          if (endsLink(error)) end(error.message);
          throw error;
        }
        if (why !== undefined) throw new BrokenLink(why, { cause: error });
        throw error;
      } finally {
        cancel();
      }
    },
  };
}

/** Called before each question: what is asked in one go leaves in one go, and wakes the server once. */
function gathering(client: Client): () => void {
  let isGathering = false;
  return () => {
    if (isGathering) return;
    isGathering = true;
    const { stream } = client.connection;
    stream.cork();
    process.nextTick(() => {
      isGathering = false;
      stream.uncork();
    });
  };
}
