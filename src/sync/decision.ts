import type { Mirror } from "../config/config.ts";
import type { ClockGap } from "../domain/clock-gaps.ts";
import type { Problem } from "../domain/document.ts";
import { type Ripeness, ripeness, unfitSize } from "../domain/settle.ts";
import type { HookAnswer } from "../rules/answer.ts";
import { type RulesDecision, decide } from "../rules/apply-rules.ts";
import type { Inspection } from "../source/source.ts";
import type { RawPath } from "../std/raw-path.ts";

type Whole = Extract<Inspection, { kind: "whole" }>;

/** How long a file has been as it is, epoch milliseconds, and whether a person asked that it be sent as it is. */
type Standing = {
  readonly now: number;
  readonly changedAt: number;
  readonly anyway: boolean;
  /** What our clock skipped while we ran. */
  readonly skipped?: readonly ClockGap[];
};

/** Whether a file that was found whole may be sent, before any rule is asked: settling and `plan` judge alike. */
export function judge(
  { settleMs, incompleteMs, stillIncomplete, rules: { ready } }: Mirror,
  { seen, completeness, why }: Whole,
  standing: Standing,
): Ripeness | { readonly kind: "unfit"; readonly problem: Problem } {
  const unfit = unfitSize(seen, ready);
  if (unfit) return { kind: "unfit", problem: unfit };
  const { minAgeMs } = ready;
  const quiet = { ...standing, settleMs, incompleteMs, stillIncomplete, minAgeMs };
  return ripeness(seen, completeness, quiet, why);
}

/**
 * What the rules of a mirror decide of a file that was found whole, and a hook that was asked.
 * `at`: epoch milliseconds.
 */
export function decisionOn(
  { name, rules, target }: Mirror,
  path: RawPath,
  { seen, notes }: Whole,
  at: number,
  answer?: HookAnswer,
): RulesDecision {
  return decide(rules, target, {
    mirror: name,
    path,
    modifiedAt: seen.modifiedAt,
    at,
    sidecar: notes?.sidecar ?? null,
    ...(notes?.sidecarRead ? { sidecarRead: notes.sidecarRead } : {}),
    ...(answer ? { answer } : {}),
  });
}
