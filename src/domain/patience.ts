import type { Document, Problem } from "./document.ts";

/** How patient a row is that meets `problem`: what repeats is waited out longer; new problem starts over. */
export function patienceOf(
  document: Pick<Document, "problem" | "patience">,
  problem: Pick<Problem, "code">,
): number {
  return document.problem?.code === problem.code ? document.patience + 1 : 1;
}
