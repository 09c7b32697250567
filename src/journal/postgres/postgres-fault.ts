/** What an error of PostgreSQL, or of the way to it, means for whoever asked. */
import { DatabaseError } from "pg";
import { Fault, messageOf } from "../../std/fault.ts";
import { InvariantError } from "../../std/invariant.ts";
import { type JournalCode, journalFault } from "../journal-fault.ts";

/** A connection is no longer there, or never was: nothing is known about what was asked last. */
export class BrokenLink extends Error {
  override readonly name = "BrokenLink";
}

/** A connection was not made because one side does not believe the other: a password, a certificate. */
export class DistrustedLink extends Error {
  override readonly name = "DistrustedLink";
}

/** What a network refuses to do; it tells of it with the host's name, which may be any. */
const OF_THE_WAY: ReadonlySet<unknown> = new Set(["getaddrinfo", "connect"]);

/** True where this side ended the making of a connection over a password or a certificate. */
export function isAboutTrust(error: unknown): boolean {
  const syscall = error instanceof Error && "syscall" in error ? error.syscall : undefined;
  if (OF_THE_WAY.has(syscall)) return false;
  return /SASL|password|SSL|certificate/i.test(messageOf(error));
}

/** Begin with one of these: the server cannot do it now, whoever asks for what. */
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

/** Refused as the configuration has it, until somebody mends that or the server. */
const REFUSED: readonly string[] = ["28", "3D000", "42501", "0P000"];

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

/** What people are told about an error: its text, and PostgreSQL's code where it has one. */
export function whyOf(error: unknown): string {
  // Of a host with several addresses, each in vain, Node says nothing by itself.
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map(whyOf).join("; ");
  return error instanceof DatabaseError && error.code !== undefined
    ? `${error.message} (${error.code})`
    : messageOf(error);
}

/** A server's or network's refusal as a fault, a broken rule as a bug, all else as it is. */
export function asJournalFault(error: unknown, shown: string): unknown {
  if (error instanceof Fault) return error;
  const code = codeOf(error);
  if (code) return journalFault(code, shown, whyOf(error), { cause: error });
  if (begins(error, ["23"])) return new InvariantError(whyOf(error), { cause: error });
  return error;
}

function codeOf(error: unknown): JournalCode | undefined {
  if (error instanceof DistrustedLink || begins(error, REFUSED)) return "JOURNAL_REFUSED";
  if (isAway(error)) return "JOURNAL_UNREACHABLE";
  // Tables or columns that are not there, and rows that cannot be read.
  if (begins(error, ["3F000", "42P01", "42703", "XX"])) return "JOURNAL_BROKEN";
  return undefined;
}
