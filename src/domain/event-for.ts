import type { Random } from "../std/clock.ts";
import { type Backoff, backoffMs } from "./backoff.ts";
import type { Document, Problem, Seen } from "./document.ts";
import { FOLDER_CODES } from "./code-sets.ts";
import { failureOf } from "./failure.ts";
import type { Event } from "./life.ts";
import type { Outcome } from "./outcome.ts";
import { withoutExpiry } from "./attributes.ts";
import { OF_ONE_REQUEST } from "./status-hints.ts";
import { failuresInARow } from "./consecutive-failures.ts";

/** How long things wait after an attempt. */
export type RetryPolicy = {
  readonly retry: Backoff;
  /** For documents held by a code that only time can fix. */
  readonly hold: Backoff;
  readonly poll: Backoff;
  readonly settleMs: number;
  readonly random: Random;
};

/** What an attempt means for its document. `gone`: the row is to be forgotten. */
export type EventOrGone =
  | { readonly kind: "event"; readonly event: Event }
  | { readonly kind: "gone" };

/** Turns the outcome of an attempt into the event of its document. Pure. */
export function eventFor(
  document: Document,
  outcome: Outcome,
  at: number,
  policy: RetryPolicy,
): EventOrGone {
  switch (outcome.kind) {
    case "stored":
      return event({
        type: "accepted",
        at,
        dueAt: at + backoffMs(policy.poll, 1, policy.random),
        documentId: outcome.documentId,
        status: outcome.status,
        ...(outcome.uploadedDate === undefined ? {} : { uploadedDate: outcome.uploadedDate }),
      });
    case "notBegun":
      return event({ type: "released", at });
    case "gone":
      return { kind: "gone" };
    case "changed": {
      const { settleMs, retry, random } = policy;
      // One that is torn each time, as by content that changes and looks the same, must not be sent without end.
      const waitMs = Math.max(settleMs, backoffMs(retry, document.attempts, random));
      const seen = outcome.seen ?? unknownSeen(document.seen);
      return event({ type: "changed", at, dueAt: at + waitMs, seen, settleMs });
    }
    case "lost":
      return event({ type: "replyLost", at, dueAt: at, problem: outcome.problem });
    case "unreadable":
      return event(holdFor(document, outcome.problem, at, policy));
    case "notSent":
      return event(
        defer(document, outcome.problem, at, policy.retry, policy.random, outcome.retryAfterMs),
      );
    case "refused":
      return event(refusal(document, outcome, at, policy));
  }
}

/** What the archive's refusal means, by the table of failures. */
function refusal(
  document: Document,
  outcome: Extract<Outcome, { kind: "refused" }>,
  at: number,
  policy: RetryPolicy,
): Event {
  const { problem } = outcome;
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
      return defer(document, problem, at, policy.retry, policy.random, outcome.retryAfterMs);
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
  problem: Problem,
  at: number,
  retry: Backoff,
  random: Random,
  retryAfterMs: number | null,
): Event {
  const tries = failuresInARow(document, problem);
  const wait = Math.max(backoffMs(retry, tries, random), retryAfterMs ?? 0);
  return { type: "deferred", at, dueAt: at + wait, problem };
}

function event(event: Event): EventOrGone {
  return { kind: "event", event };
}

/** The file changed and was not seen since: no later look can take it for the same. */
function unknownSeen(seen: Seen): Seen {
  return { ...seen, stamp: "" };
}
