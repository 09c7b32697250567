import type { Trouble } from "../domain/document.ts";
import type { FailureCode } from "../domain/failure.ts";

/** Ends a decision: the document is held for this. Leaves the room of rules as a trouble, never thrown. */
export class Hold extends Error {
  readonly trouble: Trouble;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.trouble = { code, message };
  }
}
