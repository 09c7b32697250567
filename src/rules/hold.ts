import type { Problem } from "../domain/document.ts";
import type { FailureCode } from "../domain/failure.ts";

/** Ends a decision: the document is held for this. Leaves the room of rules as a problem, never thrown. */
export class Hold extends Error {
  readonly problem: Problem;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.problem = { code, message };
  }
}
