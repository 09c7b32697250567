import type { Document, Problem } from "./document.ts";

/** How patient a row is that meets `problem`: what repeats is waited out longer; new problem starts over. */
export function failuresInARow(
  document: Pick<Document, "problem" | "consecutiveFailures">,
  problem: Pick<Problem, "code">,
): number {
  return document.problem?.code === problem.code ? document.consecutiveFailures + 1 : 1;
}
