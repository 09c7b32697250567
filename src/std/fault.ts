/**
 * A failure that was expected to be possible: it has a stable code, says what happened and where,
 * and tells the operator the fix. Everything that leaves a room is one of these or a bug.
 */
export class Fault extends Error {
  override readonly name: string = "Fault";
  /** Stable and machine-read, e.g. `JOURNAL_LOCKED`. */
  readonly code: string;
  /** What the operator can do about it: one sentence. */
  readonly hint: string;

  constructor(code: string, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}

/** What Linux answers and Node has no name for, by number: Node calls it "Unknown system error -116". */
const UNNAMED: Readonly<Record<string, string>> = {
  74: "EBADMSG: bad message",
  116: "ESTALE: stale file handle",
  117: "EUCLEAN: structure needs cleaning",
  122: "EDQUOT: disk quota exceeded",
  123: "ENOMEDIUM: no medium found",
  126: "ENOKEY: required key not available",
  127: "EKEYEXPIRED: key has expired",
};

/** The text of anything thrown, for a log line or a message. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/(Unknown system error -(\d+)): \1/, (whole, _, number) => {
    return UNNAMED[String(number)] ?? whole;
  });
}

/** The `code` of a Node or SQLite error, where it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  if (typeof error.code !== "string") return undefined;
  const [, number = ""] = /^Unknown system error -(\d+)$/.exec(error.code) ?? [];
  return UNNAMED[number]?.split(":")[0] ?? error.code;
}

/** The arguments cannot be used; `message` says what is wrong and, behind a semicolon, the fix. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A bug in scanferry itself. Never caught except at the very top, where it ends the process. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/** States what must hold; a breach is a bug, not a failure to be handled. */
export function invariant(holds: unknown, message: string): asserts holds {
  if (!holds) throw new InvariantError(message);
}
