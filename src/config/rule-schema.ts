/** What goes with a mirror's documents, key by key; part of `mirror-schema.ts`. */
import { z } from "zod";
import { ORDERS } from "../domain/feed.ts";
import { METADATA_FIELDS, METADATA_LIMITS, type MetadataField } from "../domain/slip.ts";
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
    const meaning =
      `The document's ${field}, at most ${METADATA_LIMITS[field]} characters. ` +
      "Unset: the archive keeps the file's own.";
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
      meaning: "What becomes of a value that is too long: it is cut, or the document is held.",
      example: "hold",
    }),
    sidecar: setting(choice("none", "optional", "required").prefault("none"), {
      meaning:
        "Whether a file beside each document (`x.pdf.yaml`, `.json`) says what goes with it. " +
        "`required` waits for it. Such a file is never sent; the one that was read goes where its document goes.",
      example: "required",
    }),
  },
  "What the archive is told of a document beside its name: templates, which the path and a sidecar may " +
    "override, in this order. See [rules.md](rules.md).",
);

const expiry = {
  after: setting(expiryPeriod().optional(), {
    meaning: "How long a document is kept: `7y`, `6mo`, `2w`, `30d`; `never` for no expiry date.",
    example: "7y",
    without: "no expiry date, but what a sidecar says where `from` is `sidecar`",
  }),
  from: setting(expiryFrom().optional(), {
    meaning:
      "What that is counted from: when it was `uploaded`, when its file was `modified`, a date in its " +
      "`name` (a pattern over the relative path with a group `date`, or `year`, `month`, `day`), or " +
      "what its `sidecar` says.",
    example: "'name((?<date>\\d{4}-\\d\\d-\\d\\d))'",
    without: "`uploaded`",
  }),
};

/** Expiry dates of a mirror. */
const expireSection = section(
  {
    ...expiry,
    minimum: setting(period().prefault("1d"), {
      meaning: "A date sooner than this from now holds the document: it could not be taken back.",
      example: "1y",
    }),
    unknown: setting(choice("hold", "upload-without").prefault("hold"), {
      meaning: "What becomes of a document whose date cannot be told.",
      example: "upload-without",
    }),
    withoutPlugin: setting(choice("hold", "upload-without").prefault("hold"), {
      meaning: "What becomes of it where the account has no expiry-reminder plugin.",
      example: "upload-without",
    }),
    format: setting(choice("ms", "date", "datetime", "dmy").prefault("ms"), {
      meaning:
        "How the date is sent, which the interface leaves open: milliseconds since 1970, " +
        "`2033-11-20`, `2033-11-20T12:00:00.000Z`, `20.11.2033`.",
      example: "date",
    }),
  },
  "When documents expire. Their dates are shown by `scanferry plan` before anything is sent.",
);

const ruleSection = section(
  {
    name: setting(givenName(), {
      meaning: "What the rule is called in `plan`, `explain` and `rules test`.",
      example: "invoices",
      required: true,
    }),
    match: setting(pattern(), {
      meaning: "The rule is for paths that this pattern matches; its named groups serve templates.",
      example: "'^Invoices/(?<year>\\d{4})/'",
      required: true,
    }),
    target: setting(targetTemplate().optional(), {
      meaning: "The archive folder; the tree is not mirrored unless the template has `{dir}`.",
      example: '"/Invoices/{group.year}"',
      without: "the mirror's",
    }),
    metadata: section(fields(), "Templates that come before the mirror's."),
    expire: section(expiry, "In place of the mirror's; its guards apply."),
  },
  "Rules: the first one whose pattern matches the relative path applies, the mirror's own settings " +
    "where none does, or where it is silent.",
);

/** The keys of a mirror that are about what goes with its documents. */
export const ruleKeys = {
  priority: setting(wholeNumber(-100, 100).prefault(0), {
    meaning:
      "Mirrors with a higher priority are sent first, as long as they have something to send; those with " +
      "the same take turns.",
    example: "10",
  }),
  order: setting(choice(...ORDERS).prefault("oldest"), {
    meaning:
      "Which of the mirror's own documents goes first: the one that has been ready for longest, the one " +
      "that became ready last, or the one of the fewest bytes. With `newest` and `smallest` the others " +
      "wait for as long as such ones keep coming.",
    example: "newest",
  }),
  ready: setting(choice("quiet", "marker", "rename").prefault("quiet"), {
    meaning:
      "When a file is ready, beside its quiet time: at once, when a `marker` stands beside it (`x.pdf.done` " +
      "for `x.pdf`), or only when it was written under another name and then took this one by `rename`.",
    example: "marker",
  }),
  duplicates: setting(choice("upload", "skip").prefault("upload"), {
    meaning:
      "What becomes of a file whose content another file of the mirror has in the archive: it is sent " +
      "all the same, or `skip`: not sent, and an hour later treated as the archived one (`after`).",
    example: "skip",
  }),
  minAge: setting(duration("0", "365d").prefault("0"), {
    meaning: "A file is not sent before its modification is this old.",
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
      "A pattern over the relative path: its named groups serve every template of the mirror, and one " +
      "that is named like a field of metadata is that field.",
    example: "'^(?<department>[^/]+)/(?<year>\\d{4})/'",
  }),
  metadata: metadataSection,
  expire: expireSection,
  rules: setting(z.array(ruleSection).prefault([]), {
    meaning: "Rules for some of the files.",
    example: "[{ name: invoices, match: '^Invoices/', target: /Invoices }]",
  }),
};
