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

/** The text of anything thrown, for a log line or a message. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a Node or SQLite error, where it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The arguments cannot be used; `message` says what is wrong and, behind a semicolon, the fix. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
