/**
 * Opens a journal wherever it is. Each kind's driver is loaded only where it is used: better-sqlite3
 * is a native module, and PostgreSQL's client a third of what a command loads.
 */
import { hostname } from "node:os";
import { type JournalPlace, type PostgresPlace, shownJournal } from "../network/journal-place.ts";
import { type Clock, systemClock } from "../std/clock.ts";
import { codeOf, Fault } from "../std/fault.ts";
import type { Applied, Journal } from "./journal.ts";
import type { Owner } from "./owner-lock.ts";
import type { Patience } from "./postgres/session.ts";
import type { Config } from "../config/config.ts";

/**
 * `owner`: a daemon, which makes the journal when missing and brings it up to date; `guest`: a
 * command that writes next to daemons, or without one; `reader`: only looks.
 */
export type JournalRole = "owner" | "guest" | "reader";

/** How a journal is opened. */
export type OpenJournalOptions = {
  /** Told what each call of `apply` did once it is durable; must not throw. */
  readonly onApplied?: (applied: Applied[]) => void;
  /** What others learn about a daemon; an `owner` without it works on nothing. */
  readonly owner?: Owner;
  /** An `owner` waits until its database can be reached, or until this aborts; see `PgSession`. */
  readonly patience?: Patience;
  readonly clock?: Clock;
};

/** A journal, and what is next to the reading and writing of it. */
export type OpenedJournal = Journal & {
  /** True when this opening made the journal: of what was sent before, nothing is known. */
  readonly isNew: boolean;
  /** How this opening changed the tables; versions; undefined: they were up to date. */
  readonly migrated: { readonly from: number; readonly to: number } | undefined;
  /** Tells `status`, and the other daemons where there are any, where this one's page is. */
  announcePage(web: string): Promise<void>;
  /** Writes a whole copy of the journal to a file. Rejects with `JOURNAL_ELSEWHERE` in PostgreSQL. */
  backup(to: string): Promise<void>;
};

/** Opens the journal. Rejects with a `Fault`; see `SqliteJournal.open` and `PgSession.open`. */
export async function openJournal(
  place: JournalPlace,
  role: JournalRole,
  options: OpenJournalOptions = {},
): Promise<OpenedJournal> {
  if (typeof place !== "string") return openPostgres(place, role, options);
  const { SqliteJournal } = await import("./sqlite-journal.ts");
  const { patience, ...rest } = options;
  const { owner } = options;
  // Without a listener for waits nothing waits.
  const waits = patience?.onAway && { patience };
  const journal = await SqliteJournal.open({ path: place, role, ...rest, ...waits });
  return Object.assign(journal, {
    announcePage: async (web: string) => {
      if (owner) await journal.announce({ ...owner, web });
    },
  });
}

/** The daemon that works on the journal now, of several the first; undefined when there is none. */
export async function ownerOf(
  place: JournalPlace,
  clock: Clock = systemClock,
): Promise<Owner | undefined> {
  if (typeof place === "string") {
    return (await import("./owner-lock.ts")).ownerOf(place);
  }
  const { PgSession } = await import("./postgres/session.ts");
  const { databaseTime, living } = await import("./postgres/cluster-statements.ts");
  const session = await PgSession.open({ ...serverOf(place), role: "reader", clock });
  try {
    const instances = await session.read(async (query) => {
      // Before the first start there is no table of instances.
      const { rows } = await query<{ there: boolean }>(
        "SELECT to_regclass('instances') IS NOT NULL AS there",
        [],
      );
      return rows[0]?.there === true ? living(query) : [];
    });
    const now = await session.read(databaseTime);
    const instance = instances.find(({ leaseUntil }) => leaseUntil > now);
    if (!instance) return undefined;
    const { pid, startedAt, version, web } = instance;
    return { pid, startedAt, version, ...(web === null ? {} : { web }) };
  } finally {
    await session.close();
  }
}

/** What PostgreSQL's own tools do better. */
export function elsewhereFault(place: PostgresPlace, what: "backup" | "restore"): Fault {
  const tool = what === "backup" ? "pg_dump" : "pg_restore";
  return new Fault(
    "JOURNAL_ELSEWHERE",
    `journal ${shownJournal(place)}: the database's own tools do this`,
    `Use ${tool} --schema=${place.schema}; docs/postgres.md.`,
  );
}

async function openPostgres(
  place: PostgresPlace,
  role: JournalRole,
  { owner, patience, ...options }: OpenJournalOptions,
): Promise<OpenedJournal> {
  const { PostgresJournal } = await import("./postgres/postgres-journal.ts");
  const { bringUpToDate } = await import("./postgres/migrate.ts");
  const { PgCluster } = await import("./postgres/cluster.ts");
  const opening = { schema: place.schema, shown: shownJournal(place), mayChange: role === "owner" };
  let migrated: OpenedJournal["migrated"];
  const journal = await PostgresJournal.open({
    ...serverOf(place),
    ...options,
    role,
    ...(patience && { patience }),
    ...(owner && {
      instance: {
        name: place.instance ?? hostname(),
        pid: owner.pid,
        version: owner.version,
        web: owner.web ?? null,
      },
    }),
    // Asked again while the database is away: what an earlier try did is done.
    prepare: async (query) => {
      migrated = (await bringUpToDate(query, opening)) ?? migrated;
    },
  });
  return Object.assign(journal, {
    isNew: migrated?.from === 0,
    migrated,
    announcePage: async (web: string) => {
      if (journal.cluster instanceof PgCluster) await journal.cluster.announce(web);
    },
    backup: () => Promise.reject(elsewhereFault(place, "backup")),
  });
}

function serverOf({ server, schema, password, leaseMs }: PostgresPlace) {
  return {
    url: server,
    schema,
    leaseMs,
    ...(password !== undefined && { password: () => password }),
  };
}

/** Opens the journal to look at it; undefined while there is none yet. */
export async function readJournal({ journal }: Config): Promise<OpenedJournal | undefined> {
  try {
    return await openJournal(journal, "reader");
  } catch (error) {
    if (codeOf(error) === "JOURNAL_MISSING") return undefined;
    throw error;
  }
}

/** Opens the journal to write to it next to a daemon, or without one. Throws JOURNAL_MISSING. */
export function writeJournal({ journal }: Config): Promise<OpenedJournal> {
  return openJournal(journal, "guest");
}

/** The daemon that works on the journal now; undefined when there is none. */
export async function runningDaemon({ journal }: Config): Promise<Owner | undefined> {
  return ownerOf(journal);
}
