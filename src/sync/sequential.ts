import { ArchiveError } from "../archive/archive-error.ts";
import { isPressed } from "../archive/pressure.ts";

/** Questions in one row that the archive may fail to answer before the row is given up. A guess. */
const UNANSWERED_MAX = 10;

/**
 * One after another. A question that the archive cannot answer keeps none behind it waiting: what it
 * failed with is thrown at the end. Where no other question would fare better it is thrown at once.
 */
export async function inTurn<T>(all: Iterable<T>, ask: (each: T) => Promise<void>): Promise<void> {
  const failed: ArchiveError[] = [];
  for (const each of all) {
    try {
      await ask(each);
    } catch (error) {
      if (!(error instanceof ArchiveError) || !isOfOneQuestion(error)) throw error;
      if (failed.push(error) >= UNANSWERED_MAX) break;
    }
  }
  if (failed[0]) throw failed[0];
}

/** The archive answered, and neither with a refusal of us nor asking for patience. */
function isOfOneQuestion(error: ArchiveError): boolean {
  const isAnswered = error.kind === "refused" || error.httpStatus !== undefined;
  return isAnswered && !error.credentials && !isPressed(error);
}
