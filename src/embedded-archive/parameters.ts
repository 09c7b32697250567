import { z } from "zod";
import type { WireCode } from "../wire/codes.ts";
import {
  DIGIDOC_SORTS,
  DOCUMENT_SORTS,
  FOLDER_SORTS,
  FORBIDDEN_IN_FILENAME,
  LIMITS,
  type Operation,
} from "../wire/shapes.ts";
import { Refusal } from "./refusal.ts";

// How the text of one field becomes a value. The interface leaves open which texts stand for
// booleans and dates; what is read here is this archive's choice, and it is strict: a blank or
// padded value is malformed, so that a client's mistake shows.

/** A whole number that a double holds exactly. */
export const integer = z
  .string()
  .regex(/^-?\d{1,16}$/)
  .transform(Number)
  .pipe(z.int());

/** A whole number from `min` to `max`, both inclusive. */
function within(min: number, max: number) {
  return integer.pipe(z.number().min(min).max(max));
}

/** `true`, `false`, `1` or `0`, in any case. */
const boolean = z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] });

const DAY_MS = 86_400_000;
/** The farthest moment that a Date holds, either way from the epoch. */
const EPOCH_MS_MAX = 8.64e15;

const EPOCH_MS = within(-EPOCH_MS_MAX, EPOCH_MS_MAX);
const DAY = z.iso.date().transform((day) => Date.parse(day));
const TIME = z
  .string()
  .regex(/^.{10}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?$/)
  // Date.parse takes the 30th of February for the 2nd of March.
  .refine((time) => DAY.safeParse(time.slice(0, 10)).success)
  .transform((time) => Date.parse(/Z|[+-]/.test(time.slice(10)) ? time : `${time}Z`))
  .pipe(z.int());

/** Epoch milliseconds, or ISO 8601: a day (its first moment, UTC) or a time (UTC unless it says). */
const date = z.union([EPOCH_MS, DAY, TIME]);

/** As `date`, but a bare day means its last moment: both ends of a range are inclusive. */
const endDate = z.union([EPOCH_MS, DAY.transform((ms) => ms + DAY_MS - 1), TIME]);

/** Text of at most `max` characters. A character is a Unicode code point: an emoji counts once. */
function atMost(max: number) {
  return z.string().refine((text) => {
    // No text has more code points than UTF-16 units: the cheap count settles nearly all.
    if (text.length <= max || text.length > max * 2) return text.length <= max;
    return Array.from(text).length <= max;
  });
}

/** `/` or `/A/B`: no empty names, no control characters. */
export const folderPath = z.string().regex(/^(?:\/|(?:\/[^/\p{Cc}]+)+)$/u);

/** One parameter of an operation: what it may be, and the error code when it is malformed; some cannot be. */
type Parameter = { readonly code: WireCode | undefined; readonly type: z.ZodType };

/** The page size where none is asked for: the interface leaves it open, this is our choice. */
const PAGINATION_SIZE_DEFAULT = 100;

const parameter = <T extends z.ZodType>(code: WireCode, type: T) => ({ code, type });
const optional = <T extends z.ZodType>(code: WireCode, type: T) => parameter(code, type.optional());
const text = { code: undefined, type: z.string().optional() };
const limited = (code: WireCode, max: number) => optional(code, atMost(max));

function paging(sizeMax: number) {
  const sizeDefault = Math.min(sizeMax, PAGINATION_SIZE_DEFAULT);
  const index = within(0, Number.MAX_SAFE_INTEGER);
  return {
    sortDesc: parameter("INVALID_SORT_DESC", boolean.default(false)),
    paginationIndex: parameter("INVALID_PAGINATION_INDEX", index.default(0)),
    paginationSize: parameter("INVALID_PAGINATION_SIZE", within(1, sizeMax).default(sizeDefault)),
  };
}

const filename = atMost(LIMITS.filename)
  .min(1)
  .refine((sent) => !FORBIDDEN_IN_FILENAME.test(sent));

/** By what a list is sorted. */
function sort<const Names extends readonly string[]>(names: Names, usual: Names[number]) {
  return parameter("INVALID_SORT_BY", z.enum(names).default(usual as never));
}

/**
 * Section Endpoints, row for row: every parameter of every operation with its type, its default,
 * its limit and its code. They are checked in this order; the first malformed one is reported.
 */
export const PARAMETERS = {
  search: {
    query: text,
    queryContent: parameter("INVALID_QUERY_CONTENT", boolean.default(true)),
    docFilename: text,
    docTitle: text,
    docAuthor: text,
    docSubject: text,
    docKeywords: text,
    docHasExpireDate: optional("INVALID_DOC_HAS_EXPIRE_DATE", boolean),
    folderName: text,
    folderIndex: text,
    folderDescription: text,
    folderKeywords: text,
    folderHasExpireDate: optional("INVALID_FOLDER_HAS_EXPIRE_DATE", boolean),
    createdDateStart: optional("INVALID_CREATED_DATE_START", date),
    createdDateEnd: optional("INVALID_CREATED_DATE_END", endDate),
    modifiedDateStart: optional("INVALID_MODIFIED_DATE_START", date),
    modifiedDateEnd: optional("INVALID_MODIFIED_DATE_END", endDate),
    filesizeStart: optional("INVALID_FILESIZE_START", integer),
    filesizeEnd: optional("INVALID_FILESIZE_END", integer),
    pagesStart: optional("INVALID_PAGES_START", integer),
    pagesEnd: optional("INVALID_PAGES_END", integer),
    sortBy: sort(DOCUMENT_SORTS, "NAME"),
    ...paging(LIMITS.paginationSize.search),
  },
  documents: {
    folderId: optional("INVALID_FOLDER_ID", integer),
    sortBy: sort(DOCUMENT_SORTS, "UPLOADED_DATE"),
    ...paging(LIMITS.paginationSize.documents),
  },
  digidoc: {
    digidocId: parameter("INVALID_DIGIDOC_ID", integer),
    sortBy: sort(DIGIDOC_SORTS, "UPLOADED_DATE"),
    ...paging(LIMITS.paginationSize.digidoc),
  },
  document: { id: parameter("INVALID_DOC_ID", integer) },
  folders: {
    folderId: optional("INVALID_FOLDER_ID", integer),
    sortBy: sort(FOLDER_SORTS, "NAME"),
    ...paging(LIMITS.paginationSize.folders),
  },
  folder: { id: optional("INVALID_FOLDER_ID", integer) },
  upload: {
    folderId: optional("INVALID_FOLDER_ID", integer),
    path: optional("INVALID_FOLDER_PATH", folderPath),
    filename: parameter("INVALID_FILENAME", filename),
    batch: limited("INVALID_BATCH", LIMITS.batch),
    expireDate: optional("INVALID_EXPIRE_DATE", date),
    metadataTitle: limited("INVALID_METADATA_TITLE", LIMITS.metadataTitle),
    metadataAuthor: limited("INVALID_METADATA_AUTHOR", LIMITS.metadataAuthor),
    metadataSubject: limited("INVALID_METADATA_SUBJECT", LIMITS.metadataSubject),
    metadataKeywords: limited("INVALID_METADATA_KEYWORD", LIMITS.metadataKeywords),
    metadataProducer: limited("INVALID_METADATA_PRODUCER", LIMITS.metadataProducer),
    metadataDescription: limited("INVALID_METADATA_DESCRIPTION", LIMITS.metadataDescription),
  },
} as const satisfies Record<Operation, Record<string, Parameter>>;

type ValueOf<P> = P extends { readonly type: infer T } ? z.output<T> : never;
/** What an operation's parameters mean, once  */
export type ParameterValues<O extends Operation> = {
  readonly [K in keyof (typeof PARAMETERS)[O]]: ValueOf<(typeof PARAMETERS)[O][K]>;
};

/** Reads an operation's parameters; refuses with the code of the first malformed one. */
export function valuesOf<O extends Operation>(operation: O, fields: Fields): ParameterValues<O> {
  const values: Record<string, unknown> = {};
  for (const [name, { code, type }] of Object.entries<Parameter>(PARAMETERS[operation])) {
    const { success, data } = type.safeParse(fieldOf(fields, name));
    if (!success) throw new Refusal(code ?? "MALFORMED_REQUEST");
    values[name] = data;
  }
  // The loop has read each name of the table with the schema that gives its type.
  return values as ParameterValues<O>;
}

/** A request's fields in the order in which they came, names as often as they were sent. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** The first value of `name`; undefined when it was not sent. */
export function fieldOf(fields: Fields, name: string): string | undefined {
  return fields.find(([sent]) => sent === name)?.[1];
}
