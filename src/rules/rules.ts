import type { Order } from "../domain/feed.ts";
import type { MetadataField, WithoutPlugin } from "../domain/attributes.ts";
import type { Period } from "./dates.ts";
import type { Template } from "./template.ts";
import type { Problem } from "../domain/document.ts";
import type { FailureCode } from "../domain/failure.ts";

/** The rules of a mirror: what goes with its documents, and where they go. Plain data. */

/** What becomes of a value that is longer than the interface allows. */
export type OverlongValues = "truncate" | "hold";

/** Whether a document waits for its sidecar, takes one that is there, or sends none looked for. */
export type SidecarUse = "required" | "optional" | "none";

/** Templates of the metadata; absent: nothing is said of the field here. */
export type MetadataTemplates = { readonly [F in MetadataField]?: Template };

/** What an expiry date is counted from. */
export type ExpiryFrom =
  | { readonly kind: "uploaded" }
  | { readonly kind: "modified" }
  | { readonly kind: "sidecar" }
  /** The group `date` of a pattern over the relative path, or its groups `year`, `month`, `day`. */
  | { readonly kind: "name"; readonly pattern: string };

/** How the expiry date is sent; the interface leaves the form open. */
export type DateForm = "ms" | "date" | "datetime" | "dmy";

/** `after` never: no expiry date. Null: only what notes say, where `from` is `sidecar`. */
export type ExpiryRule = { readonly after: Period | "never" | null; readonly from: ExpiryFrom };

/** The guards around every expiry date of a mirror. */
export type ExpiryGuards = {
  /** An expiry date sooner than this after now holds the document. */
  readonly minimum: Period;
  /** What becomes of a document whose date cannot be told. */
  readonly unknown: "hold" | "upload-without";
  readonly withoutPlugin: WithoutPlugin;
  readonly form: DateForm;
};

/** One of a mirror's rules: the first whose pattern matches the relative path applies. */
export type Rule = {
  readonly name: string;
  readonly match: string;
  /** Absent: the mirror's own. */
  readonly target?: Template;
  readonly metadata: MetadataTemplates;
  readonly expiry?: ExpiryRule;
};

/**
 * When a file is ready: after its quiet time alone, when a marker `x.pdf.done` stands next to it, or
 * only when it was renamed into place.
 */
export type ReadyBy = "quiet" | "marker" | "rename";

/** What a file must be to be sent at all. */
export type ReadyRule = {
  readonly by: ReadyBy;
  /** Since its modification. */
  readonly minAgeMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
};

/** What becomes of a file whose content another one of the mirror has: it is sent all the same, or treated as archived. */
export type DuplicateUse = "upload" | "skip";

/** All that is decided by, of one mirror. Plain data. */
export type MirrorRules = {
  /** Of several mirrors with something to send, the one with the highest goes first. */
  readonly priority: number;
  /** Which of the mirror's own documents goes first. */
  readonly order: Order;
  readonly duplicates: DuplicateUse;
  readonly ready: ReadyRule;
  /** A pattern over the relative path: its groups serve every template of the mirror. */
  readonly match: string | null;
  /** Absent: the tree is mirrored below the mirror's target. */
  readonly target?: Template;
  readonly metadata: MetadataTemplates;
  readonly limits: OverlongValues;
  readonly sidecar: SidecarUse;
  readonly expiry: ExpiryRule;
  readonly guards: ExpiryGuards;
  readonly rules: readonly Rule[];
};

/** A mirror without rules: files are sent as they are, and the archive keeps what they say. */
export const NO_RULES: MirrorRules = {
  priority: 0,
  order: "oldest",
  duplicates: "upload",
  ready: { by: "quiet", minAgeMs: 0, minBytes: 0, maxBytes: Number.MAX_SAFE_INTEGER },
  match: null,
  metadata: {},
  limits: "truncate",
  sidecar: "none",
  expiry: { after: null, from: { kind: "uploaded" } },
  guards: {
    minimum: { months: 0, days: 1 },
    unknown: "hold",
    withoutPlugin: "hold",
    form: "ms",
  },
  rules: [],
};

/** Ends a decision: the document is held for this. Leaves the room of rules as a problem, never thrown. */
export class Hold extends Error {
  readonly problem: Problem;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.problem = { code, message };
  }
}
