/** What an error of PostgreSQL, or of the way to it, means for anyone who asked. */
import { DatabaseError } from "pg";
import { Fault, InvariantError, messageOf } from "../../std/fault.ts";
import { type JournalCode, journalFault } from "../journal-fault.ts";

/** A connection is no longer there, or never was: nothing is known about what was asked last. */
export class BrokenLink extends Error {
  override readonly name = "BrokenLink";
}

/** A connection was not made because one side does not believe the other: a password, a certificate. */
export class DistrustedLink extends Error {
  override readonly name = "DistrustedLink";
}

/** Said of a connection that was made, and then not served. */
export const NONE_FREE = "the server, or a pooler in between, has no connection to spare";

/** What a network refuses to do; its message has the host's name, which may be any. */
const OF_THE_WAY: ReadonlySet<unknown> = new Set(["getaddrinfo", "connect"]);

/** True where this side ended the making of a connection over a password or a certificate. */
export function isAboutTrust(error: unknown): boolean {
  const syscall = error instanceof Error && "syscall" in error ? error.syscall : undefined;
  if (OF_THE_WAY.has(syscall)) return false;
  return /SASL|password|SSL|certificate/i.test(messageOf(error));
}

/** Begin with one of these: the server cannot do it now, anyone who asks for what. */
const AWAY: readonly string[] = [
  "08", // the connection
  "25006", // read-only: a standby, or set so
  "25P03", // idle in a transaction: this process was stopped in the middle of one
  "25P04", // in a transaction for too long
  "26000", // a statement is not kept: another that was to parse it for this one was cancelled
  "53", // no room on the disk, in memory, for connections
  "55P03", // a lock could not be had in time
  "57", // shut down, starting, cancelled, timed out
  "58", // the operating system below it
];

/** Two transactions were in each other's way, and this one was undone for it. */
const RACE: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** Refused as the configuration has it, until the administrator fixes that or the server. */
const REFUSED: readonly string[] = ["28", "3D000", "3F000", "42501", "0P000"];

function begins(error: unknown, prefixes: readonly string[]): boolean {
  if (!(error instanceof DatabaseError)) return false;
  return prefixes.some((prefix) => error.code?.startsWith(prefix));
}

/** True where the same may succeed later on, and must be asked again then. */
export function isAway(error: unknown): boolean {
  return error instanceof BrokenLink || begins(error, AWAY);
}

/** True where the connection must not be used again. */
export function endsLink(error: unknown): boolean {
  return (
    error instanceof BrokenLink || begins(error, ["08", "25006", "25P03", "25P04", "26000", "57P"])
  );
}

/** True where the same may succeed at once. */
export function isRace(error: unknown): boolean {
  return error instanceof DatabaseError && RACE.has(error.code ?? "");
}

/** What people learn about an error: its text, and PostgreSQL's code where it has one. */
export function whyOf(error: unknown): string {
  // Of a host with several addresses, each in vain, Node says nothing on its own.
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map(whyOf).join("; ");
  if (error instanceof DatabaseError && error.code !== undefined)
    return `${error.message} (${error.code})`;
  // The client library's own words for it, which name a step of the protocol.
  return /client password must be/.test(messageOf(error))
    ? "the server asks for a password, and none is set"
    : messageOf(error);
}

/** A server's or network's refusal as a fault, a broken rule as a bug, all else as it is. */
export function asJournalFault(error: unknown, shown: string): unknown {
  if (error instanceof Fault) return error;
  const code = codeOf(error);
  if (code) return journalFault(code, shown, whyOf(error), { ...hintFor(error), cause: error });
  if (begins(error, ["23"])) return new InvariantError(whyOf(error), { cause: error });
  return error;
}

const OTHER_CERTIFICATE =
  "Name the file of the authority that signed it, `sslrootcert=FILE` in the URL, absolute; every `sslmode` but `disable` and `no-verify` asks for a certificate that holds.";

/** What to do about causes that the code's own hint is too general for; the first match counts. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /asks for a password/,
    "Write the password into a file, and name that as `journal.passwordFile`; or set $SCANFERRY_JOURNAL_PASSWORD.",
  ],
  [
    /\(3F000\)/,
    "Give the role the rights USAGE and CREATE on the schema, or name another one in the URL: `?schema=NAME`.",
  ],
  [
    /\((?:42P01|42703)\)/,
    "Another program removed or changed tables of the journal. Stop every daemon, and restore the schema with pg_restore: docs/postgres.md.",
  ],
  [
    /\(53300\)|max_client_conn|query_wait_timeout|no connection to spare/,
    "End what holds connections, or allow more (max_connections; of a pooler max_client_conn and default_pool_size): each daemon needs 4, a command 2.",
  ],
  [
    /does not support SSL/,
    "Switch TLS on at the server (`ssl = on`, and a pooler's client_tls_sslmode), or write `sslmode=disable` where the way there is private.",
  ],
  [
    /altnames/i,
    "Write a name of the server's certificate as the host in the URL, or have one made for the name that is there.",
  ],
  [
    /certificate (?:has expired|is not yet valid)/,
    "Renew the server's certificate, or set this host's clock.",
  ],
  [
    /client certificate|certificate required/,
    "Name this host's certificate and key in the URL: `sslcert=FILE&sslkey=FILE`, both absolute.",
  ],
  [
    /no encryption|SSL off|SSL required/,
    "Allow this user from this host in the server's pg_hba.conf; where that wants TLS, write `sslmode=verify-full` into the URL.",
  ],
  [
    /^(?:ENOENT|EACCES)\b/,
    "Name in the URL a file that is there, by its absolute path, and give the daemon's user the right to read it.",
  ],
  [/certificate/, OTHER_CERTIFICATE],
];

function hintFor(error: unknown): { readonly hint?: string } {
  const why = whyOf(error);
  const hint = HINTS.find(([cause]) => cause.test(why))?.[1];
  return hint === undefined ? {} : { hint };
}

function codeOf(error: unknown): JournalCode | undefined {
  if (error instanceof DistrustedLink || begins(error, REFUSED)) return "JOURNAL_REFUSED";
  if (isAway(error)) return "JOURNAL_UNREACHABLE";
  // Another session's statement is parsed there: a pooler hands connections on.
  if (begins(error, ["42P05"])) return "JOURNAL_UNFIT";
  // Tables or columns that are not there, and rows that cannot be read.
  if (begins(error, ["42P01", "42703", "XX"])) return "JOURNAL_BROKEN";
  return undefined;
}
