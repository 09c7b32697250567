/** Where a journal is: in a file, or in a schema of a PostgreSQL database. */

type Refuse = (message: string, fix: string) => never;

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

/** libpq takes a URL with a user and no host, where that is among the parameters. */
const HOSTLESS = /^([^:]+:\/\/[^/?#]*@)(?=[:/])/;

/** What may stand behind a `?`: anything else would do nothing, a misspelt `sslmode` too. */
const PARAMETERS =
  "schema, sslmode, sslrootcert, sslcert, sslkey, options, host, port, user, password";

/** The modes of libpq, and `pg`'s own for TLS without a look at the certificate. */
const SSL_MODES = [
  "disable",
  "allow",
  "prefer",
  "require",
  "verify-ca",
  "verify-full",
  "no-verify",
];

/** Hosts with a comma between them, as libpq would try one after another. */
const SEVERAL = /^[^:]+:\/\/(?:[^/?#]*@)?[^/?#@]*,/;

const FIX = "write postgres://USER@HOST:5432/DATABASE";

/** True for what is meant as an address, and not as a path. */
export function isPostgres(text: string): boolean {
  return SCHEME.test(text);
}

/** The address, or what `refuse` is given: what is wrong with it, and never its text, which may hold a password. */
export function postgresUrlIn(text: string, refuse: Refuse): PostgresUrl {
  if (!SCHEME.test(text)) return refuse("is not a postgres URL", FIX);
  if (SEVERAL.test(text)) {
    return refuse("names several hosts", "name one address, which leads to the primary");
  }
  const whole = text.replace(SCHEME, "postgres:").replace(HOSTLESS, "$1%2F");
  if (!URL.canParse(whole) || /[\s\\]/.test(text)) return refuse("is not a URL", FIX);
  const url = new URL(whole);
  const isKnown = (name: string) => PARAMETERS.split(", ").includes(name);
  if (![...url.searchParams.keys()].every(isKnown)) {
    return refuse("has an unknown parameter", `write none but ${PARAMETERS}`);
  }
  settleHost(url, refuse);
  settleTls(url, refuse);
  if (url.hash !== "") return refuse("has a fragment", "write # as %23");
  if (url.pathname.length < 2) return refuse("names no database", FIX);
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

/** What libpq also takes as parameters stands in one place, and a socket's directory as a host, encoded. */
function settleHost(url: URL, refuse: Refuse): void {
  const taken = (name: string): string | undefined => {
    const value = url.searchParams.get(name);
    url.searchParams.delete(name);
    return value === null || value === "" ? undefined : value;
  };
  const host = taken("host");
  if (host?.includes(",") === true) {
    refuse("names several hosts", "name one address, which leads to the primary");
  }
  const encoded = host?.startsWith("/") === true ? encodeURIComponent(host) : host;
  if (encoded !== undefined) url.hostname = encoded;
  if (url.hostname === "%2F" || (encoded !== undefined && url.hostname !== encoded)) {
    refuse("is not a URL", FIX);
  }
  url.port = taken("port") ?? url.port;
  url.username = taken("user") ?? url.username;
  // As libpq has it: nobody listens in between.
  if (/^%2f/i.test(url.hostname)) {
    for (const name of ["sslmode", "sslrootcert", "sslcert", "sslkey"]) {
      url.searchParams.delete(name);
    }
  }
}

/** Every mode that encrypts asks for a certificate that holds, as `pg` has it: more than libpq does. */
function settleTls({ searchParams }: URL, refuse: Refuse): void {
  const mode = searchParams.get("sslmode");
  if (mode !== null && !SSL_MODES.includes(mode)) {
    refuse("has an unknown sslmode", `write one of ${SSL_MODES.join(", ")}`);
  }
  // The host's own authorities, which are asked where no file is named.
  if (searchParams.get("sslrootcert") === "system") searchParams.delete("sslrootcert");
  if (mode !== null && !["disable", "no-verify"].includes(mode)) {
    searchParams.set("sslmode", "verify-full");
  }
}

function passwordIn({ password, searchParams }: URL): string | undefined {
  if (password === "") return searchParams.get("password") ?? undefined;
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
