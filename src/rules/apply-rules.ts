/**
 * What goes with a document, and where it goes. Pure and total: the same facts give the same
 * answer, and every fault is an answer too, that holds the one document it is about.
 */
import type { Problem } from "../domain/document.ts";
import { type SentName, sentNameOf, type Target } from "../domain/naming.ts";
import type { Attributes } from "../domain/attributes.ts";
import { nameOf, rawOfText } from "../std/raw-path.ts";
import type { HookAnswer } from "./answer.ts";
import { expiryOf, metadataFor } from "./metadata.ts";
import { folderOf, folderSaid } from "./folder.ts";
import { matchPattern } from "./pattern.ts";
import { Hold, type MirrorRules, type Rule } from "./rules.ts";
import { type Facts, type Groups, textPath, valuesOf } from "./values.ts";

/** Everything that is decided of a document that is ready. */
export type Decided = {
  /** The rule that matched; null where the mirror's own settings apply. */
  readonly rule: string | null;
  /** The archive folder path, as `targetPathOf` writes it. */
  readonly folder: string;
  readonly name: SentName;
  /** Null: nothing goes with it. */
  readonly attributes: Attributes | null;
};

/** The problem holds the document. */
export type RulesDecision = { readonly decided: Decided } | { readonly problem: Problem };

/** Decides. Never throws for rules that were checked when they were read. */
export function decide(rules: MirrorRules, target: Target, facts: Facts): RulesDecision {
  try {
    return { decided: decided(rules, target, facts) };
  } catch (error) {
    if (!(error instanceof Hold)) throw error;
    return { problem: error.problem };
  }
}

function decided(rules: MirrorRules, target: Target, facts: Facts): Decided {
  const path = textPath(facts.path);
  const { rule, groups } = matched(rules, path);
  const values = valuesOf(facts, groups);
  const { answer } = facts;
  const said = answer?.name;
  const name = sentNameOf(said === undefined ? nameOf(facts.path) : rawOfText(said));
  const metadata = metadataFor({ rules, rule, groups, facts, name, values });
  const expiry = expiryOf(rules.guards, rule?.expiry ?? rules.expiry, facts, path);
  const attributes: Attributes = {
    ...(rule ? { rule: rule.name } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(expiry ? { expiry } : {}),
    ...hooked(answer),
    ...(facts.sidecarRead ? { sidecar: facts.sidecarRead } : {}),
  };
  const template = rule?.target ?? rules.target;
  return {
    rule: rule?.name ?? null,
    folder:
      answer?.folder === undefined
        ? folderOf(template, target, facts.path, values)
        : folderSaid(answer.folder, template, target),
    name,
    attributes: Object.keys(attributes).length > 0 ? attributes : null,
  };
}

/** Which of name and folder are the hook's. */
function hooked(answer: HookAnswer | undefined): Pick<Attributes, "hook"> {
  const hook = (["name", "folder"] as const).filter((key) => answer?.[key] !== undefined);
  return hook.length > 0 ? { hook } : {};
}

/** The first rule that matches, and the groups of the mirror's pattern and of its own. */
function matched(rules: MirrorRules, path: string): { rule: Rule | null; groups: Groups } {
  const own = rules.match === null ? {} : groupsOf(rules.match, path);
  for (const rule of rules.rules) {
    const groups = groupsOf(rule.match, path);
    if (groups) return { rule, groups: { ...own, ...groups } };
  }
  return { rule: null, groups: own ?? {} };
}

function groupsOf(pattern: string, path: string): Groups | undefined {
  const found = matchPattern(pattern, path);
  if (found.kind === "slow") {
    throw new Hold("PATTERN_SLOW", `the pattern ${pattern} takes too long on this path`);
  }
  return found.kind === "groups" ? found.groups : undefined;
}
