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
import * as read from "./reading.ts";
import { Refusal } from "./refusal.ts";

/** One parameter of an operation: what it may be, and the error code when it is malformed. */
type Parameter<T extends z.ZodType = z.ZodType> = {
  /** Parameters that cannot be malformed have none. */
  readonly code: WireCode | undefined;
  readonly type: T;
};

/** The page size where none is asked for: the interface leaves it open, this is our choice. */
const PAGINATION_SIZE_DEFAULT = 100;

const parameter = <T extends z.ZodType>(code: WireCode, type: T): Parameter<T> => ({ code, type });
const optional = <T extends z.ZodType>(code: WireCode, type: T) => parameter(code, type.optional());
const text = { code: undefined, type: z.string().optional() };
const atMost = (code: WireCode, max: number) => optional(code, read.atMost(max));

function paging(sizeMax: number) {
  const sizeDefault = Math.min(sizeMax, PAGINATION_SIZE_DEFAULT);
  const index = read.within(0, Number.MAX_SAFE_INTEGER);
  return {
    sortDesc: parameter("INVALID_SORT_DESC", read.boolean.default(false)),
    paginationIndex: parameter("INVALID_PAGINATION_INDEX", index.default(0)),
    paginationSize: parameter(
      "INVALID_PAGINATION_SIZE",
      read.within(1, sizeMax).default(sizeDefault),
    ),
  };
}

const filename = read
  .atMost(LIMITS.filename)
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
    queryContent: parameter("INVALID_QUERY_CONTENT", read.boolean.default(true)),
    docFilename: text,
    docTitle: text,
    docAuthor: text,
    docSubject: text,
    docKeywords: text,
    docHasExpireDate: optional("INVALID_DOC_HAS_EXPIRE_DATE", read.boolean),
    folderName: text,
    folderIndex: text,
    folderDescription: text,
    folderKeywords: text,
    folderHasExpireDate: optional("INVALID_FOLDER_HAS_EXPIRE_DATE", read.boolean),
    createdDateStart: optional("INVALID_CREATED_DATE_START", read.date),
    createdDateEnd: optional("INVALID_CREATED_DATE_END", read.endDate),
    modifiedDateStart: optional("INVALID_MODIFIED_DATE_START", read.date),
    modifiedDateEnd: optional("INVALID_MODIFIED_DATE_END", read.endDate),
    filesizeStart: optional("INVALID_FILESIZE_START", read.integer),
    filesizeEnd: optional("INVALID_FILESIZE_END", read.integer),
    pagesStart: optional("INVALID_PAGES_START", read.integer),
    pagesEnd: optional("INVALID_PAGES_END", read.integer),
    sortBy: sort(DOCUMENT_SORTS, "NAME"),
    ...paging(LIMITS.paginationSize.search),
  },
  documents: {
    folderId: optional("INVALID_FOLDER_ID", read.integer),
    sortBy: sort(DOCUMENT_SORTS, "UPLOADED_DATE"),
    ...paging(LIMITS.paginationSize.documents),
  },
  digidoc: {
    digidocId: parameter("INVALID_DIGIDOC_ID", read.integer),
    sortBy: sort(DIGIDOC_SORTS, "UPLOADED_DATE"),
    ...paging(LIMITS.paginationSize.digidoc),
  },
  document: { id: parameter("INVALID_DOC_ID", read.integer) },
  folders: {
    folderId: optional("INVALID_FOLDER_ID", read.integer),
    sortBy: sort(FOLDER_SORTS, "NAME"),
    ...paging(LIMITS.paginationSize.folders),
  },
  folder: { id: optional("INVALID_FOLDER_ID", read.integer) },
  upload: {
    folderId: optional("INVALID_FOLDER_ID", read.integer),
    path: optional("INVALID_FOLDER_PATH", read.folderPath),
    filename: parameter("INVALID_FILENAME", filename),
    batch: atMost("INVALID_BATCH", LIMITS.batch),
    expireDate: optional("INVALID_EXPIRE_DATE", read.date),
    metadataTitle: atMost("INVALID_METADATA_TITLE", LIMITS.metadataTitle),
    metadataAuthor: atMost("INVALID_METADATA_AUTHOR", LIMITS.metadataAuthor),
    metadataSubject: atMost("INVALID_METADATA_SUBJECT", LIMITS.metadataSubject),
    metadataKeywords: atMost("INVALID_METADATA_KEYWORD", LIMITS.metadataKeywords),
    metadataProducer: atMost("INVALID_METADATA_PRODUCER", LIMITS.metadataProducer),
    metadataDescription: atMost("INVALID_METADATA_DESCRIPTION", LIMITS.metadataDescription),
  },
} as const satisfies Record<Operation, Record<string, Parameter>>;

type ValueOf<P> = P extends { readonly type: infer T } ? z.output<T> : never;
/** What an operation's parameters mean, once read. */
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
