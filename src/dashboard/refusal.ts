/** An answer other than the one that was asked for: a status, a stable code, and the fix. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** HTTP status. */
  readonly status: number;
  readonly code: string;
  /** What the caller can do about it: one sentence. */
  readonly hint: string;

  constructor(status: number, code: string, message: string, hint: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}
