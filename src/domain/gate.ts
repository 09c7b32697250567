/**
 * The gate of an account. Closed, it stops all sending; one document at a time probes it.
 *
 * The gate remembers its last problem after it opens, so that the documents it held can be told
 * from those that wait for something else.
 */
import type { Random } from "../std/clock.ts";
import { type Backoff, backoffMs } from "./backoff.ts";
import type { Problem } from "./document.ts";

/** Open while `closedAt` is null. Times are epoch milliseconds. */
export type Gate = {
  readonly closedAt: number | null;
  readonly problem: Problem | null;
  /** Probes that found it still closed. */
  readonly probes: number;
  readonly nextProbeAt: number | null;
};

/** A gate that has never been closed. */
export const OPEN_GATE: Gate = { closedAt: null, problem: null, probes: 0, nextProbeAt: null };

/** When to probe: by backoff, or at the next moment of `quota.retryAt`, whichever is sooner. */
export type ProbePolicy = {
  readonly retry: Backoff;
  readonly random: Random;
  /** The next moment of the schedule after `at`; null without one. */
  readonly scheduledAfter: (at: number) => number | null;
};

/** What a question that costs nothing tells, and no upload has to probe. */
export const ASKED_FREE: readonly string[] = ["CREDENTIALS_REFUSED", "ARCHIVE_CHANGED"];

/** True when nothing may be sent but a probe. */
export function isClosed(gate: Gate): boolean {
  return gate.closedAt !== null;
}

/** True when the closed gate wants a probe. */
export function mayProbe(gate: Gate, now: number): boolean {
  return gate.closedAt !== null && (gate.nextProbeAt ?? now) <= now;
}

/**
 * The archive refused the account. A gate that is closed already stays as it is: the replies of
 * requests that were under way must not lengthen its wait.
 */
export function close(gate: Gate, problem: Problem, at: number, policy: ProbePolicy): Gate {
  if (isClosed(gate)) return gate;
  return { closedAt: at, problem, probes: 0, nextProbeAt: nextProbe(1, at, policy) };
}

/** A probe was refused: wait longer. */
export function probeRefused(gate: Gate, problem: Problem, at: number, policy: ProbePolicy): Gate {
  const probes = gate.probes + 1;
  return { ...gate, problem, probes, nextProbeAt: nextProbe(probes + 1, at, policy) };
}

/** A probe did not get as far as an answer: come back soon, without growing the wait. */
export function probeUnanswered(gate: Gate, at: number, policy: ProbePolicy): Gate {
  return { ...gate, nextProbeAt: nextProbe(1, at, policy) };
}

/** Something got through. */
export function open(gate: Gate): Gate {
  return { ...OPEN_GATE, problem: gate.problem };
}

function nextProbe(tries: number, at: number, policy: ProbePolicy): number {
  const byBackoff = at + backoffMs(policy.retry, tries, policy.random);
  return Math.min(byBackoff, policy.scheduledAfter(at) ?? Number.POSITIVE_INFINITY);
}
