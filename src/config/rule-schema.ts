/** What goes with a mirror's documents, key by key; part of `mirror-schema.ts`. */
import { z } from "zod";
import { ORDERS } from "../domain/feed.ts";
import { METADATA_FIELDS, METADATA_LIMITS, type MetadataField } from "../domain/attributes.ts";
import { section, setting } from "./kind.ts";
import { choice, duration, givenName, wholeNumber } from "./kinds.ts";
import {
  expiryFrom,
  expiryPeriod,
  pattern,
  period,
  size,
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
      example: "hold",
    }),
    sidecar: setting(choice("none", "optional", "required").prefault("none"), {
      meaning:
        "Whether a file next to each document (`x.pdf.yaml`, `.json`) contains its metadata; `required` " +
        "waits for it. Sidecars are never sent.",
      example: "required",
    }),
  },
  "Metadata of each document: templates, which the path and a sidecar may override. Without a value the archive keeps the file's own. See " +
    "[rules.md](rules.md).",
);

const expiry = {
  after: setting(expiryPeriod().optional(), {
    meaning: "How long a document is kept: `7y`, `6mo`, `2w`, `30d`, or `never`.",
    example: "7y",
    without: "no expiry date, unless a sidecar has one",
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
      example: "1y",
    }),
    unknown: setting(choice("hold", "upload-without").prefault("hold"), {
      meaning: "If the date cannot be found.",
      example: "upload-without",
    }),
    withoutPlugin: setting(choice("hold", "upload-without").prefault("hold"), {
      meaning: "If the account has no expiry-reminder plugin.",
      example: "upload-without",
    }),
    format: setting(choice("ms", "date", "datetime", "dmy").prefault("ms"), {
      meaning:
        "How the date is sent: milliseconds since 1970, `2033-11-20`, `2033-11-20T12:00:00.000Z`, " +
        "`20.11.2033`.",
      example: "date",
    }),
  },
  "When documents expire. `scanferry plan` shows the dates.",
);

const ruleSection = section(
  {
    name: setting(givenName(), {
      meaning: "The rule's name.",
      example: "invoices",
      required: true,
    }),
    match: setting(pattern(), {
      meaning:
        "The rule applies to paths that this pattern matches. Templates can use its named groups.",
      example: "'^Invoices/(?<year>\\d{4})/'",
      required: true,
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
    example: "10",
  }),
  order: setting(choice(...ORDERS).prefault("oldest"), {
    meaning: "Which document is sent first. With `newest` others may wait for long.",
    example: "newest",
  }),
  ready: setting(choice("quiet", "marker", "rename").prefault("quiet"), {
    meaning:
      "When a stable file is ready: at once, when a `marker` is next to it (`x.pdf.done`), or only if it " +
      "was written under another name and then renamed.",
    example: "marker",
  }),
  duplicates: setting(choice("upload", "skip").prefault("upload"), {
    meaning:
      "A file whose content another file of the mirror has in the archive: `upload` it too, or `skip` it.",
    example: "skip",
  }),
  minAge: setting(duration("0", "365d").prefault("0"), {
    meaning: "A file waits until its modification is this old.",
    example: "1h",
  }),
  minSize: setting(size().prefault("0"), {
    meaning: "A smaller file is held.",
    example: "1KB",
  }),
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
