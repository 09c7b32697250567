import type { Random } from "../std/clock.ts";
import type { Document, Problem } from "./document.ts";

/** How a wait grows: from `initialMs`, never past `maxMs`. */
export type Backoff = { readonly initialMs: number; readonly maxMs: number };

/**
 * How long to wait before try number `tries` + 1 (`tries` ≥ 1): it doubles with each.
 *
 * Jittered over the upper half, so that many that failed together do not come back together, and
 * none comes back at once.
 */
export function backoffMs({ initialMs, maxMs }: Backoff, tries: number, random: Random): number {
  const full = Math.min(maxMs, initialMs * 2 ** Math.min(Math.max(tries, 1) - 1, 40));
  return Math.round(full * (0.5 + random() / 2));
}

/**
 * How long to wait for what may be over in seconds or last for weeks, where no try is counted: a quarter of the
 * time for which it has lasted already.
 */
export function lastingMs({ initialMs, maxMs }: Backoff, lastedMs: number): number {
  return Math.min(maxMs, Math.max(initialMs, Math.round(lastedMs / 4)));
}

/** How patient a row is that meets `problem`: what repeats is waited out longer; new problem starts over. */
export function failuresInARow(
  document: Pick<Document, "problem" | "consecutiveFailures">,
  problem: Pick<Problem, "code">,
): number {
  return document.problem?.code === problem.code ? document.consecutiveFailures + 1 : 1;
}
