import type { Mirror } from "../config/config.ts";
import type { HookAnswer } from "../rules/answer.ts";
import { type RulesDecision, decide } from "../rules/apply-rules.ts";
import type { Inspection } from "../source/source.ts";
import type { RawPath } from "../std/raw-path.ts";

/**
 * What the rules of a mirror decide of a file that was found whole, and a hook that was asked.
 * `at`: epoch milliseconds.
 */
export function decisionOn(
  { name, rules, target }: Mirror,
  path: RawPath,
  { seen, notes }: Extract<Inspection, { kind: "whole" }>,
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
