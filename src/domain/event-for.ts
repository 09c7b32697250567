import type { Random } from "../std/clock.ts";
import { type Backoff, backoffMs, failuresInARow } from "./backoff.ts";
import type { Document, Problem } from "./document.ts";
import { FOLDER_CODES } from "./code-sets.ts";
import { failureOf } from "./failure.ts";
import type { Event } from "./life.ts";
import type { Outcome, RequestFailure } from "./outcome.ts";
import { withoutExpiry } from "./attributes.ts";
import { OF_ONE_REQUEST } from "./lookup-failures.ts";

/** How long things wait after an attempt. */
export type RetryPolicy = {
  readonly retry: Backoff;
  /** For documents held by a code that only time can fix. */
  readonly hold: Backoff;
  readonly poll: Backoff;
  readonly settleMs: number;
  readonly random: Random;
};

/** What the outcome of an attempt means for its document. Pure. */
export function eventFor(
  document: Document,
  outcome: Outcome,
  at: number,
  policy: RetryPolicy,
): Event {
  switch (outcome.kind) {
    case "accepted":
      return {
        type: "accepted",
        at,
        dueAt: at + backoffMs(policy.poll, 1, policy.random),
        documentId: outcome.documentId,
        status: outcome.status,
        ...(outcome.uploadedDate === undefined ? {} : { uploadedDate: outcome.uploadedDate }),
      };
    case "released":
      return { type: "released", at };
    case "inDoubt":
      return { type: "inDoubt", at, dueAt: at, problem: outcome.problem };
    case "gone":
      // A look at once shows that nothing is there.
      return { type: "changed", at, dueAt: at, seen: document.seen };
    case "changed": {
      const { settleMs, retry, random } = policy;
      // One that is torn each time, as by content that changes and looks the same, must not be sent without end.
      const waitMs = Math.max(settleMs, backoffMs(retry, document.attempts, random));
      // It was not seen since: no later look can take it for the same.
      const seen = { ...document.seen, stamp: "" };
      return { type: "changed", at, dueAt: at + waitMs, seen, settleMs };
    }
    case "unreadable":
      return holdFor(document, outcome.problem, at, policy);
    case "notSent":
      return defer(document, outcome, at, policy);
    case "refused":
      return refusal(document, outcome, at, policy);
  }
}

/** What the archive's refusal means, by the table of failures. */
function refusal(
  document: Document,
  failure: RequestFailure,
  at: number,
  policy: RetryPolicy,
): Event {
  const { problem } = failure;
  const attributes = withoutExpiry(document.attributes);
  if (problem.code === "PLUGIN_REMINDER_NOT_INSTALLED" && attributes) {
    return { type: "deferred", at, dueAt: at, problem, attributes };
  }
  switch (failureOf(problem.code).fate) {
    case "fail":
      return { type: "refused", at, problem };
    case "gate":
      return { type: "heldBack", at, dueAt: null, problem };
    case "retry":
      return defer(document, failure, at, policy);
    case "hold":
      return holdFor(document, sized(problem, document), at, policy);
  }
}

/** What speaks of one request may speak of its size, which nobody has at hand. */
function sized({ code, message }: Problem, { seen }: Document): Problem {
  if (!OF_ONE_REQUEST.includes(code)) return { code, message };
  const megabytes = (seen.sizeBytes / 1e6).toFixed(1);
  return { code, message: `${message}; the file has ${megabytes} MB (${seen.sizeBytes} bytes)` };
}

/** A document that waits; for a folder without a time, else with growing patience. */
function holdFor(document: Document, problem: Problem, at: number, policy: RetryPolicy): Event {
  const byFolder = FOLDER_CODES.includes(problem.code);
  const tries = failuresInARow(document, problem);
  const dueAt = byFolder ? null : at + backoffMs(policy.hold, tries, policy.random);
  return { type: "heldBack", at, dueAt, problem };
}

function defer(
  document: Document,
  { problem, retryAfterMs }: RequestFailure,
  at: number,
  { retry, random }: RetryPolicy,
): Event {
  const tries = failuresInARow(document, problem);
  const wait = Math.max(backoffMs(retry, tries, random), retryAfterMs ?? 0);
  return { type: "deferred", at, dueAt: at + wait, problem };
}
