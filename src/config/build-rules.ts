/** From the keys of a mirror to its rules. */
import { METADATA_FIELDS, type MetadataField } from "../domain/attributes.ts";
import {
  type ExpiryRule,
  type MetadataTemplates,
  type MirrorRules,
  NO_RULES,
  type Rule,
} from "../rules/rules.ts";
import { isLive, type Template } from "../rules/template.ts";
import type { FileShape } from "./file-schema.ts";

type MirrorShape = FileShape["mirrors"][number];

/** The rules of a mirror in which nothing was found wrong. */
export function rulesOf(mirror: MirrorShape): MirrorRules {
  const { metadata, expire, match, target, rules } = mirror;
  return {
    priority: mirror.priority,
    order: mirror.order,
    duplicates: mirror.duplicates,
    ready: {
      by: mirror.ready,
      minAgeMs: mirror.minAge,
      minBytes: mirror.minSize,
      maxBytes: mirror.maxSize ?? NO_RULES.ready.maxBytes,
    },
    match: match ?? null,
    ...(target && isLive(target) ? { target } : {}),
    metadata: templatesOf(metadata),
    limits: metadata.limits,
    sidecar: metadata.sidecar,
    expiry: expiryOf(expire) ?? NO_RULES.expiry,
    guards: {
      minimum: expire.minimum,
      unknown: expire.unknown,
      withoutPlugin: expire.withoutPlugin,
      form: expire.format,
    },
    rules: rules.map(ruleOf),
  };
}

function ruleOf({ name, match, target, metadata, expire }: MirrorShape["rules"][number]): Rule {
  const expiry = expiryOf(expire);
  return {
    name,
    match,
    ...(target ? { target } : {}),
    metadata: templatesOf(metadata),
    ...(expiry ? { expiry } : {}),
  };
}

function expiryOf({ after, from }: Pick<MirrorShape["expire"], "after" | "from">) {
  if (after === undefined && from === undefined) return undefined;
  return { after: after ?? null, from: from ?? NO_RULES.expiry.from } satisfies ExpiryRule;
}

function templatesOf(
  given: { readonly [F in MetadataField]?: Template | undefined },
): MetadataTemplates {
  return Object.fromEntries(
    METADATA_FIELDS.flatMap((field) => (given[field] ? [[field, given[field]]] : [])),
  );
}
