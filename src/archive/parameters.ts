import {
  DIGIDOC_SORTS,
  DOCUMENT_SORTS,
  FOLDER_SORTS,
  FORBIDDEN_IN_FILENAME,
  LIMITS,
} from "../wire/shapes.ts";
import type {
  DigidocQuery,
  DocumentsQuery,
  FoldersQuery,
  SearchQuery,
  Upload,
  UploadMetadata,
} from "./archive.ts";
import { ArchiveError, CLIENT_CODES } from "./archive-error.ts";
import type { RequestField } from "./credentials.ts";

/** Turns a parameter into its text on the wire, or throws `invalid`. */
type Rule = (name: string, value: unknown) => string;
type Rules<Query> = { readonly [Name in keyof Required<Query>]: Rule };

function invalid(code: string, message: string): ArchiveError {
  return new ArchiveError("invalid", code, message, {
    hint: CLIENT_CODES.INVALID_PARAMETER,
  });
}

/** Text that UTF-8 can hold; half a surrogate pair would silently become another character. */
const text = (code = "INVALID_PARAMETER", charactersMax = Number.POSITIVE_INFINITY): Rule => {
  return (name, value) => {
    if (typeof value !== "string") throw invalid(code, `${name} is not text`);
    if (!value.isWellFormed()) throw invalid(code, `${name} holds half a surrogate pair`);
    // Whether the archive counts characters or UTF-16 units is not known: only what is too long
    // either way is refused here.
    const characters = value.length > charactersMax ? Array.from(value).length : value.length;
    if (characters > charactersMax) {
      throw invalid(code, `${name} has ${characters} characters, ${charactersMax} are allowed`);
    }
    return value;
  };
};

const integer = (code: string, min = 0, max = Number.MAX_SAFE_INTEGER): Rule => {
  return (name, value) => {
    if (!Number.isSafeInteger(value))
      throw invalid(code, `${name} is not an integer: ${shown(value)}`);
    const number = value as number;
    if (number < min) throw invalid(code, `${name} is ${number}, at least ${min} is allowed`);
    if (number > max) throw invalid(code, `${name} is ${number}, at most ${max} is allowed`);
    return String(number);
  };
};

const flag = (code: string): Rule => {
  return (name, value) => {
    if (typeof value !== "boolean") throw invalid(code, `${name} is neither true nor false`);
    return String(value);
  };
};

/** Epoch milliseconds, or text as it is: the textual form of dates is open. */
const moment = (code: string): Rule => {
  const asText = text(code);
  const asNumber = integer(code, Number.MIN_SAFE_INTEGER);
  return (name, value) => {
    if (value === "") throw invalid(code, `${name} is empty`);
    return typeof value === "string" ? asText(name, value) : asNumber(name, value);
  };
};

const oneOf = (code: string, allowed: readonly string[]): Rule => {
  return (name, value) => {
    if (typeof value === "string" && allowed.includes(value)) return value;
    throw invalid(code, `${name} is ${shown(value)}, one of ${allowed.join(", ")} is allowed`);
  };
};

function shown(value: unknown): string {
  return String(value).slice(0, 40);
}

const paging = (sorts: readonly string[], sizeMax: number) => ({
  sortBy: oneOf("INVALID_SORT_BY", sorts),
  sortDesc: flag("INVALID_SORT_DESC"),
  paginationIndex: integer("INVALID_PAGINATION_INDEX"),
  paginationSize: integer("INVALID_PAGINATION_SIZE", 1, sizeMax),
});

const SEARCH: Rules<SearchQuery> = {
  query: text(),
  queryContent: flag("INVALID_QUERY_CONTENT"),
  docFilename: text(),
  docTitle: text(),
  docAuthor: text(),
  docSubject: text(),
  docKeywords: text(),
  docHasExpireDate: flag("INVALID_DOC_HAS_EXPIRE_DATE"),
  folderName: text(),
  folderIndex: text(),
  folderDescription: text(),
  folderKeywords: text(),
  folderHasExpireDate: flag("INVALID_FOLDER_HAS_EXPIRE_DATE"),
  createdDateStart: moment("INVALID_CREATED_DATE_START"),
  createdDateEnd: moment("INVALID_CREATED_DATE_END"),
  modifiedDateStart: moment("INVALID_MODIFIED_DATE_START"),
  modifiedDateEnd: moment("INVALID_MODIFIED_DATE_END"),
  filesizeStart: integer("INVALID_FILESIZE_START"),
  filesizeEnd: integer("INVALID_FILESIZE_END"),
  pagesStart: integer("INVALID_PAGES_START"),
  pagesEnd: integer("INVALID_PAGES_END"),
  ...paging(DOCUMENT_SORTS, LIMITS.paginationSize.search),
};

const DOCUMENTS: Rules<DocumentsQuery> = {
  folderId: integer("INVALID_FOLDER_ID"),
  ...paging(DOCUMENT_SORTS, LIMITS.paginationSize.documents),
};

const DIGIDOC: Rules<DigidocQuery> = {
  digidocId: integer("INVALID_DIGIDOC_ID"),
  ...paging(DIGIDOC_SORTS, LIMITS.paginationSize.digidoc),
};

const FOLDERS: Rules<FoldersQuery> = {
  folderId: integer("INVALID_FOLDER_ID"),
  ...paging(FOLDER_SORTS, LIMITS.paginationSize.folders),
};

/** The file's name in the archive (endpoint 7, rules of `filename`). */
const filename: Rule = (name, value) => {
  const checked = text("INVALID_FILENAME", LIMITS.filename)(name, value);
  if (checked === "") throw invalid("INVALID_FILENAME", `${name} is empty`);
  const forbidden = FORBIDDEN_IN_FILENAME.exec(checked);
  if (forbidden) {
    throw invalid("INVALID_FILENAME", `${name} holds ${forbidden[0]} at ${forbidden.index}`);
  }
  return checked;
};

const path: Rule = (name, value) => {
  const checked = text("INVALID_FOLDER_PATH")(name, value);
  if (checked.startsWith("/")) return checked;
  throw invalid("INVALID_FOLDER_PATH", `${name} does not begin with /`);
};

const UPLOAD: Rules<Omit<Upload, "file" | "sha256" | "metadata" | "allowance" | "fence">> = {
  folderId: integer("INVALID_FOLDER_ID"),
  path,
  filename,
  batch: text("INVALID_BATCH", LIMITS.batch),
  expireDate: moment("INVALID_EXPIRE_DATE"),
};

type MetadataField = { readonly [Name in keyof Required<UploadMetadata>]: readonly [string, Rule] };

const METADATA: MetadataField = {
  title: ["metadataTitle", text("INVALID_METADATA_TITLE", LIMITS.metadataTitle)],
  author: ["metadataAuthor", text("INVALID_METADATA_AUTHOR", LIMITS.metadataAuthor)],
  subject: ["metadataSubject", text("INVALID_METADATA_SUBJECT", LIMITS.metadataSubject)],
  keywords: ["metadataKeywords", text("INVALID_METADATA_KEYWORD", LIMITS.metadataKeywords)],
  producer: ["metadataProducer", text("INVALID_METADATA_PRODUCER", LIMITS.metadataProducer)],
  description: [
    "metadataDescription",
    text("INVALID_METADATA_DESCRIPTION", LIMITS.metadataDescription),
  ],
};

/** The fields that are there, in the order of the rules; absent ones are not sent. */
function fieldsBy<Query extends object>(rules: Rules<Query>, query: Query): RequestField[] {
  const given = query as Readonly<Record<string, unknown>>;
  return Object.entries<Rule>(rules)
    .filter(([name]) => given[name] !== undefined)
    .map(([name, rule]) => [name, rule(name, given[name])]);
}

/** Fields of search (endpoint 1). Like all below, throws `invalid` with the interface's code. */
export function searchFields(query: SearchQuery): RequestField[] {
  return fieldsBy(SEARCH, query);
}

/** Fields of the document list (endpoint 2). */
export function documentsFields(query: DocumentsQuery): RequestField[] {
  return fieldsBy(DOCUMENTS, query);
}

/** Fields of the digidoc list (endpoint 3). */
export function digidocFields(query: DigidocQuery): RequestField[] {
  // Required, and callers in plain JavaScript may forget it.
  DIGIDOC.digidocId("digidocId", query.digidocId);
  return fieldsBy(DIGIDOC, query);
}

/** Fields of document information (endpoint 4). */
export function documentFields(id: number): RequestField[] {
  return [["id", integer("INVALID_DOC_ID")("id", id)]];
}

/** Fields of the folder list (endpoint 5). */
export function foldersFields(query: FoldersQuery): RequestField[] {
  return fieldsBy(FOLDERS, query);
}

/** Fields of folder information (endpoint 6). */
export function folderFields(id: number | undefined): RequestField[] {
  return id === undefined ? [] : [["id", integer("INVALID_FOLDER_ID")("id", id)]];
}

/** The parts of an upload that are not the file (endpoint 7). */
export function uploadFields(upload: Upload): RequestField[] {
  UPLOAD.filename("filename", upload.filename);
  const fields = fieldsBy(UPLOAD, upload);
  const metadata = upload.metadata ?? {};
  for (const [name, [wireName, rule]] of Object.entries<readonly [string, Rule]>(METADATA)) {
    const value = metadata[name as keyof UploadMetadata];
    if (value !== undefined) fields.push([wireName, rule(wireName, value)]);
  }
  return fields;
}
