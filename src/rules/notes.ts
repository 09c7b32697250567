/**
 * Notes: what a sidecar (`x.pdf.yaml`, `.json`) says of its document. Plain texts, never
 * templates. Parsed in the process that read them; they come from anyone.
 */
import { type MetadataField, METADATA_FIELDS } from "../domain/attributes.ts";
import { dayOf, isoDay } from "./dates.ts";

/**
 * What a sidecar is known by, its extension. `xmp` is not read: a document that has one waits for a person rather
 * than go without what it says, and the file itself is not taken for a document.
 */
export const NOTE_FORMS = ["yaml", "yml", "json", "xmp"] as const;

/** `yml` is `yaml`. */
export type NoteForm = (typeof NOTE_FORMS)[number];

/** Larger files are no notes. */
export const NOTES_BYTES_MAX = 64 * 1024;

/** What one file says. Plain data: it crosses processes. */
export type Notes = {
  readonly metadata: { readonly [F in MetadataField]?: string };
  /** The document's own date, `2026-11-20`. */
  readonly date?: string;
  /** When it expires, the same way; `never` for no expiry date. */
  readonly expires?: string;
};

/** What is wrong with a file of notes; line and column are counted from 1. */
export type NotesFault = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
};

/** What a file says, or what is wrong with it. */
export type ReadNotes = { readonly notes: Notes } | { readonly fault: NotesFault };

/** Where a key or value stands; undefined for the file as a whole. */
export type PlaceOf = (key?: string) => { readonly line: number; readonly column: number };

/** A value of notes is no longer than this; what is sent has limits of its own. */
const TEXT_MAX = 10_000;

const KEYS = [...METADATA_FIELDS, "date", "expires"] as const;

class Unfit extends Error {
  readonly key: string | undefined;
  constructor(message: string, key?: string) {
    super(message);
    this.key = key;
  }
}

/**
 * The notes that a parsed file holds. Strict: a key that is not known may be a known one misspelt,
 * and what is archived without it cannot be fixed.
 */
export function notesOf(value: unknown, placeOf: PlaceOf): ReadNotes {
  try {
    return { notes: checked(value) };
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    return { fault: { ...placeOf(error.key), message: error.message } };
  }
}

function checked(value: unknown): Notes {
  if (value === null || value === undefined) return { metadata: {} };
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new Unfit(`must be keys and values: ${KEYS.join(", ")}`);
  }
  const given = new Map<string, unknown>(Object.entries(value));
  for (const key of given.keys()) {
    if (!(KEYS as readonly string[]).includes(key)) {
      throw new Unfit(`unknown key; known: ${KEYS.join(", ")}`, key);
    }
  }
  const metadata: { [F in MetadataField]?: string } = {};
  for (const field of METADATA_FIELDS) {
    const text = textOf(field, given.get(field));
    if (text !== undefined) metadata[field] = text;
  }
  const date = dateOf("date", given.get("date"));
  const expires =
    given.get("expires") === "never" ? "never" : dateOf("expires", given.get("expires"));
  return {
    metadata,
    ...(date === undefined ? {} : { date }),
    ...(expires === undefined ? {} : { expires }),
  };
}

/** Null counts as left out. A list of keywords is one text. */
function textOf(field: MetadataField, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  const items = Array.isArray(value) && field === "keywords" ? value : [value];
  const texts = items.map((item: unknown) => {
    if (typeof item === "string") return item;
    if (typeof item === "number" || typeof item === "boolean") return String(item);
    throw new Unfit(field === "keywords" ? "must be text, or a list of it" : "must be text", field);
  });
  const text = texts.join(", ");
  if (text.length > TEXT_MAX) throw new Unfit(`is longer than ${TEXT_MAX} characters`, field);
  return text;
}

function dateOf(key: string, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  const day =
    typeof value === "string" || typeof value === "number" ? dayOf(String(value)) : undefined;
  if (!day) throw new Unfit("is no date such as 2026-11-20", key);
  return isoDay(day);
}
