/** What goes with a mirror's documents, and where they go: keys of a mirror, and its `rules`. */
import { z } from "zod";
import { METADATA_FIELDS, METADATA_LIMITS, type MetadataField } from "../domain/attributes.ts";
import { ORDERS } from "../domain/feed.ts";
import { groupNames } from "../rules/pattern.ts";
import {
  type ExpiryRule,
  type MetadataTemplates,
  type MirrorRules,
  NO_RULES,
  type Rule,
} from "../rules/rules.ts";
import { groupsIn, isLive, type Template } from "../rules/template.ts";
import type { Place } from "./config-problems.ts";
import { section, setting, type Sketch } from "./kind.ts";
import { choice, duration, givenName, size, wholeNumber } from "./kinds.ts";
import {
  expiryFrom,
  expiryPeriod,
  pattern,
  period,
  targetTemplate,
  template,
} from "./rule-kinds.ts";

const EXAMPLES: Readonly<Record<MetadataField, string>> = {
  title: "\"{stem | replace _ ' '}\"",
  author: "Accounting",
  subject: '"{group.department}"',
  keywords: '"{group.department}, {year}"',
  producer: "Front desk scanner",
  description: '"Scanned on {modified}"',
};

/** One template a field of metadata. */
function fields() {
  const entries = METADATA_FIELDS.map((field) => {
    const meaning = `At most ${METADATA_LIMITS[field]} characters.`;
    return [field, setting(template().optional(), { meaning, example: EXAMPLES[field] })] as const;
  });
  return Object.fromEntries(entries) as {
    [F in MetadataField]: (typeof entries)[number][1];
  };
}

/** Metadata of a mirror. */
const metadataSection = section(
  {
    ...fields(),
    limits: setting(choice("truncate", "hold").prefault("truncate"), {
      meaning: "If a value is too long: cut it, or hold the document.",
    }),
    sidecar: setting(choice("none", "optional", "required").prefault("none"), {
      meaning:
        "Whether a file next to each document (`x.pdf.yaml`, `.json`) contains its metadata; `required` " +
        "waits for it. Sidecars are never sent.",
    }),
  },
  "Metadata of each document: templates, which the path and a sidecar may override. Without a value the archive keeps the file's own. See " +
    "[rules.md](rules.md).",
);

const expiry = {
  after: setting(expiryPeriod().optional(), {
    meaning: "How long a document is kept: `7y`, `6mo`, `2w`, `30d`, or `never`.",
    example: "7y",
    without: "no expiry date, unless `from` is `sidecar`",
  }),
  from: setting(expiryFrom().optional(), {
    meaning:
      "What it is counted from: when it was `uploaded`, when the file was `modified`, a date in its `name` " +
      "(a pattern with a group `date`, or `year`, `month`, `day`), or its `sidecar`.",
    example: "'name((?<date>\\d{4}-\\d\\d-\\d\\d))'",
    without: "`uploaded`",
  }),
};

/** Expiry dates of a mirror. */
const expireSection = section(
  {
    ...expiry,
    minimum: setting(period().prefault("1d"), {
      meaning: "An earlier date holds the document: it could not be changed later.",
    }),
    unknown: setting(choice("hold", "upload-without").prefault("hold"), {
      meaning: "If the date cannot be found.",
    }),
    withoutPlugin: setting(choice("hold", "upload-without").prefault("hold"), {
      meaning: "If the account has no expiry-reminder plugin.",
    }),
    format: setting(choice("ms", "date", "datetime", "dmy").prefault("ms"), {
      meaning:
        "How the date is sent: milliseconds since 1970, `2033-11-20`, `2033-11-20T12:00:00.000Z`, " +
        "`20.11.2033`.",
    }),
  },
  "When documents expire. `scanferry plan` shows the dates.",
);

const ruleSection = section(
  {
    name: setting(givenName(), {
      meaning: "The rule's name.",
      example: "invoices",
    }),
    match: setting(pattern(), {
      meaning:
        "The rule applies to paths that this pattern matches. Templates can use its named groups.",
      example: "'^Invoices/(?<year>\\d{4})/'",
    }),
    target: setting(targetTemplate().optional(), {
      meaning: "The archive folder; folders below are kept only with `{dir}`.",
      example: '"/Invoices/{group.year}"',
      without: "the mirror's",
    }),
    metadata: section(fields(), "Used before the mirror's."),
    expire: section(
      expiry,
      "Instead of the mirror's. Its `minimum`, `unknown`, `withoutPlugin` and `format` apply.",
    ),
  },
  "The first rule whose pattern matches the relative path applies; for everything else the mirror's " +
    "own settings.",
);

/** The keys of a mirror that are about what goes with its documents. */
export const ruleKeys = {
  priority: setting(wholeNumber(-100, 100).prefault(0), {
    meaning:
      "Mirrors with a higher priority are sent first; mirrors with the same priority take turns.",
  }),
  order: setting(choice(...ORDERS).prefault("oldest"), {
    meaning: "Which document is sent first. With `newest` others may wait for long.",
  }),
  ready: setting(choice("quiet", "marker", "rename").prefault("quiet"), {
    meaning:
      "When a stable file is ready: at once, when a `marker` is next to it (`x.pdf.done`), or only if it " +
      "was written under another name and then renamed.",
  }),
  duplicates: setting(choice("upload", "skip").prefault("upload"), {
    meaning:
      "A file whose content another file of the mirror has in the archive: `upload` it too, or `skip` it.",
  }),
  minAge: setting(duration("0", "365d").prefault("0"), {
    meaning: "A file waits until its modification is this old.",
  }),
  minSize: setting(size().prefault("0"), { meaning: "A smaller file is held." }),
  maxSize: setting(size().optional(), {
    meaning: "A larger file is held.",
    example: "200MB",
    without: "any size",
  }),
  match: setting(pattern().optional(), {
    meaning:
      "A pattern for the relative path. Templates of the mirror can use its named groups; a group with the " +
      "name of a metadata field sets that field.",
    example: "'^(?<department>[^/]+)/(?<year>\\d{4})/'",
  }),
  metadata: metadataSection,
  expire: expireSection,
  rules: setting(z.array(ruleSection).prefault([]), {
    meaning: "Settings for some of the files.",
    example: "[{ name: invoices, match: '^Invoices/', target: /Invoices }]",
  }),
};

type RuleSketch = Sketch<z.ZodObject<typeof ruleKeys>>;

/** Reports templates that name a group which no pattern has, and rules of one name; `target` is the mirror's. */
export function checkRules(
  mirror: RuleSketch & { target?: Template | undefined },
  at: Place,
): void {
  const { match, target, metadata, rules = [] } = mirror;
  const inRules = rules.flatMap((rule) => groupsOf(rule?.match));
  // A group of a rule's pattern serves the mirror's templates wherever that rule matches.
  reportGroups({ target, metadata }, [...groupsOf(match), ...inRules], at);
  const names = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    if (!rule) continue;
    const own = at.below("rules", index);
    if (rule.name !== undefined && names.has(rule.name))
      own.report("name", "is the name of another rule", "give it its own");
    names.add(rule.name ?? "");
    const groups = groupsOf(rule.match);
    reportGroups(rule, [...groupsOf(match), ...groups], own);
  }
}

type Templates = {
  readonly target?: Template | undefined;
  readonly metadata?: RuleSketch["metadata"];
};

function groupsOf(match: string | undefined): string[] {
  return match === undefined ? [] : groupNames(match);
}

function reportGroups({ target, metadata }: Templates, known: readonly string[], at: Place): void {
  const has = known.length === 0 ? "no pattern has a group" : `groups: ${known.join(", ")}`;
  for (const key of [["target"], ...METADATA_FIELDS.map((field) => ["metadata", field] as const)]) {
    const [, field] = key;
    const template = field === undefined ? target : metadata?.[field as MetadataField];
    const missing = template && groupsIn(template).find((name) => !known.includes(name));
    if (missing === undefined) continue;
    const message = `no pattern has a group named ${missing}; ${has}`;
    at.report(key, message, `write (?<${missing}>…) in match`);
  }
}

type RuleShape = z.output<z.ZodObject<typeof ruleKeys>>;

/** The rules of a mirror in which nothing was found wrong. */
export function rulesOf(mirror: RuleShape & { target?: Template | undefined }): MirrorRules {
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

function ruleOf({ name, match, target, metadata, expire }: RuleShape["rules"][number]): Rule {
  const expiry = expiryOf(expire);
  return {
    name,
    match,
    ...(target ? { target } : {}),
    metadata: templatesOf(metadata),
    ...(expiry ? { expiry } : {}),
  };
}

function expiryOf({ after, from }: Pick<RuleShape["expire"], "after" | "from">) {
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
