/** Rules as a person would write them in YAML, and what they decide of a path. */
import { METADATA_FIELDS, type MetadataField } from "../../../src/domain/attributes.ts";
import { decide, type RulesDecision } from "../../../src/rules/apply-rules.ts";
import type { Notes } from "../../../src/rules/notes.ts";
import { type MirrorRules, NO_RULES, type Rule } from "../../../src/rules/rules.ts";
import { parseTemplate } from "../../../src/rules/template.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import type { Facts } from "../../../src/rules/values.ts";

/** The moment at which everything is decided: noon of a Friday. */
export const NOW = Date.UTC(2026, 10, 20, 12);

type Texts = { readonly [F in MetadataField]?: string };

export type Written = Partial<Omit<MirrorRules, "target" | "metadata" | "rules">> & {
  readonly target?: string;
  readonly metadata?: Texts;
  readonly rules?: readonly (Omit<Rule, "target" | "metadata"> & {
    readonly target?: string;
    readonly metadata?: Texts;
  })[];
};

export function rulesOf({ target, metadata, rules = [], ...rest }: Written): MirrorRules {
  return {
    ...NO_RULES,
    ...rest,
    ...(target === undefined ? {} : { target: parseTemplate(target) }),
    metadata: templatesOf(metadata),
    rules: rules.map(({ target: own, metadata: texts, ...rule }) => ({
      ...rule,
      ...(own === undefined ? {} : { target: parseTemplate(own) }),
      metadata: templatesOf(texts),
    })),
  };
}

function templatesOf(texts: Texts = {}) {
  return Object.fromEntries(
    METADATA_FIELDS.flatMap((field) =>
      texts[field] === undefined ? [] : [[field, parseTemplate(texts[field])]],
    ),
  );
}

export function decisionOn(
  path: string,
  written: Written,
  set: Partial<Facts> = {},
): RulesDecision {
  const facts: Facts = {
    mirror: "scans",
    path: rawOfText(path),
    modifiedAt: NOW,
    at: NOW,
    sidecar: null,
    ...set,
  };
  return decide(rulesOf(written), { path: "/Scans" }, facts);
}

/** What was decided; fails the test when the document is held. */
export function decidedOn(...given: Parameters<typeof decisionOn>) {
  const decision = decisionOn(...given);
  if ("problem" in decision) throw new Error(decision.problem.message);
  return decision.decided;
}

export function notes(metadata: Texts, more: Partial<Notes> = {}): Notes {
  return { metadata, ...more };
}
