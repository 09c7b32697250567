/**
 * What goes with a document when it is sent, and where each value came from: decided once, when
 * the document becomes ready, and journaled before anything leaves, so that every attempt sends
 * the same and `explain` can tell why.
 */
import { LIMITS } from "../wire/shapes.ts";

/** The metadata an upload may carry, and how many characters each may have. */
export const METADATA_LIMITS = {
  title: LIMITS.metadataTitle,
  author: LIMITS.metadataAuthor,
  subject: LIMITS.metadataSubject,
  keywords: LIMITS.metadataKeywords,
  producer: LIMITS.metadataProducer,
  description: LIMITS.metadataDescription,
} as const;

/** What the upload (endpoint 7) calls `metadataTitle` is `title` here, and so on. */
export type MetadataField = keyof typeof METADATA_LIMITS;

/** In the order in which they are shown. */
export const METADATA_FIELDS = Object.keys(METADATA_LIMITS) as readonly MetadataField[];

/**
 * Where a value came from, the weakest first: the configuration as it stands there, the path, a
 * directory's file (in old journals), the sidecar, a hook. `name`: the file's own name, kept because it was fixed.
 */
export const ORIGINS = ["name", "static", "path", "directory", "sidecar", "hook"] as const;

/** Stands in journals, within attributes: names may be added, and never changed. */
export type AttributeOrigin = (typeof ORIGINS)[number];

/** One value that is sent. */
export type AttributeField = {
  readonly value: string;
  readonly from: AttributeOrigin;
  /** It was longer than the interface allows, and was cut. */
  readonly cut?: true;
};

/** What becomes of a document with an expiry date where the reminder plugin is not installed. */
export type WithoutPlugin = "hold" | "upload-without";

/** The expiry date of a document. */
export type AttributeExpiry = {
  /** Epoch milliseconds. */
  readonly at: number;
  /** What is sent: the same moment in the form that the archive takes. */
  readonly sent: number | string;
  /** In words, e.g. `7y after it was uploaded`. */
  readonly from: string;
  readonly withoutPlugin: WithoutPlugin;
};

/** Everything that goes with one document next to its name, folder and batch. */
export type Attributes = {
  /** The rule that matched; absent where the mirror's own settings apply. */
  readonly rule?: string;
  readonly metadata?: { readonly [F in MetadataField]?: AttributeField };
  readonly expiry?: AttributeExpiry;
  /** It is sent without its expiry date, as the archive has no reminder plugin. */
  readonly withoutExpiry?: true;
  /** What next to these the `before` hook has said. */
  readonly hook?: readonly ("name" | "folder")[];
  /** The file was unfinished by its format, and was sent all the same. */
  readonly unfinished?: true;
  /** Absent: none was read. */
  readonly sidecar?: SidecarRead;
};

/** The sidecar that was read for a document: only this very file may be moved or deleted with it. */
export type SidecarRead = {
  /** What its name has beyond the document's, without the dot: `yaml`. */
  readonly ending: string;
  /** SHA-256 of its content, hex. */
  readonly digest: string;
  /** When it was last written, epoch milliseconds: the next document's may say the same. */
  readonly modifiedAt: number;
};

/** The metadata as it is sent; absent fields are not. */
export function metadataOf(attributes: Attributes | null): { [F in MetadataField]?: string } {
  const sent: { [F in MetadataField]?: string } = {};
  for (const field of METADATA_FIELDS) {
    const value = attributes?.metadata?.[field]?.value;
    if (value !== undefined) sent[field] = value;
  }
  return sent;
}

/** Refused for its expiry date, and to have one again: whether the plugin is there shows only when it is sent. */
export function asksAgain(
  attributes: Attributes | null | undefined,
  problem: { readonly code: string } | null,
): boolean {
  return problem?.code === "PLUGIN_REMINDER_NOT_INSTALLED" && attributes?.expiry !== undefined;
}

/** The attributes of a document that goes on without its expiry date; undefined where that is not wanted. */
export function withoutExpiry(attributes: Attributes | null): Attributes | undefined {
  if (attributes?.expiry?.withoutPlugin !== "upload-without") return undefined;
  const { expiry: _, ...rest } = attributes;
  return { ...rest, withoutExpiry: true };
}
