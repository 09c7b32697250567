/** Where a journal is: in a file, or in a schema of a PostgreSQL database. */
import { type Kind, kind, type Refuse } from "./kind.ts";
import { textIn } from "./kinds.ts";
import { pathIn } from "./places.ts";

/** What is written where the journal's address is. */
export type PostgresUrl = {
  /** `postgres://user@host:port/database` and what else `pg` takes, but no password and no `schema`. */
  readonly server: string;
  /** The namespace of the tables. */
  readonly schema: string;
  /** A secret. */
  readonly password: string | undefined;
};

/** A journal in PostgreSQL, and this daemon there. */
export type PostgresPlace = PostgresUrl & {
  /** It stands in the address, where it is easily copied and shown. */
  readonly hasPasswordInUrl: boolean;
  /** How long this daemon is thought alive without a sign of life, milliseconds. */
  readonly leaseMs: number;
  /** What the other daemons call this one; undefined: by its host's name. */
  readonly instance: string | undefined;
};

/** The length of a lease unless it is configured, milliseconds. */
export const LEASE_MS = 15_000;

/** The absolute path of a file, or a place in PostgreSQL. */
export type JournalPlace = string | PostgresPlace;

/** The journal as people are shown it: without what is secret, or may be. */
export function shownJournal(place: string | Pick<PostgresUrl, "server" | "schema">): string {
  return typeof place === "string" ? place : shownServer(place.server, place.schema);
}

/** The same, of its parts. */
export function shownServer(server: string, schema: string): string {
  const { hostname, port, pathname, username } = new URL(server);
  const who = username === "" ? "" : `${username}@`;
  const where = port === "" ? hostname : `${hostname}:${port}`;
  return `postgres://${who}${where}${pathname}?schema=${schema}`;
}

const SCHEME = /^postgres(?:ql)?:/i;

/** Hosts with a comma between them, as libpq would try one after another. */
const SEVERAL = /^[^:]+:\/\/(?:[^/?#]*@)?[^/?#@]*,/;

const MEND = "write postgres://USER@HOST:5432/DATABASE";

/** `postgres://…`. Whatever is wrong with it, its value is not told: it may hold a password. */
export function postgresUrl(): Kind<PostgresUrl> {
  return kind("PostgreSQL URL", (value, refuse) => urlIn(textIn(value, refuse), refuse));
}

/** A path as written, or `postgres://…`. */
export function journalPlace(): Kind<string | PostgresUrl> {
  return kind("path or PostgreSQL URL", (value, refuse) => {
    const text = textIn(value, refuse);
    return isPostgres(text) ? urlIn(text, refuse) : pathIn(text, refuse);
  });
}

/** True for what is meant as an address, and not as a path. */
export function isPostgres(text: string): boolean {
  return SCHEME.test(text);
}

function urlIn(text: string, refuse: Refuse): PostgresUrl {
  if (!SCHEME.test(text)) return refuse("is not a postgres URL", MEND);
  if (SEVERAL.test(text)) {
    return refuse("names several hosts", "name one address, which leads to the primary");
  }
  if (!URL.canParse(text) || /[\s\\]/.test(text)) return refuse("is not a URL", MEND);
  const url = new URL(text.replace(SCHEME, "postgres:"));
  if (url.hash !== "") return refuse("has a fragment", "write # as %23");
  if (url.pathname.length < 2) return refuse("names no database", MEND);
  const schema = url.searchParams.get("schema") ?? "scanferry";
  // As PostgreSQL has names without quotes; with room for what is made of them.
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema) || schema.startsWith("pg_")) {
    return refuse("has a schema that is no plain name", "write e.g. ?schema=scanferry");
  }
  const password = passwordIn(url);
  url.password = "";
  for (const name of ["schema", "password"]) url.searchParams.delete(name);
  return { server: url.href, schema, password };
}

function passwordIn({ password, searchParams }: URL): string | undefined {
  if (password === "") return searchParams.get("password") ?? undefined;
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
