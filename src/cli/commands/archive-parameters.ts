/**
 * The parameters of the interface's reading operations as options: `folderId` is `--folder-id`, and
 * `--folderId` is taken as well. How a value is checked beyond its kind is the client's business.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import type {
  DigidocQuery,
  DocumentsQuery,
  FoldersQuery,
  SearchQuery,
} from "../../archive/archive.ts";
import { DIGIDOC_SORTS, DOCUMENT_SORTS, FOLDER_SORTS } from "../../wire/shapes.ts";
import { moment, trueOrFalse, wholeNumber } from "../option-values.ts";
import { UsageError } from "../../std/fault.ts";

/** Values by the interface's names, as typed. */
export type TypedValues = Readonly<Record<string, unknown>>;

type Parameter = {
  readonly kind: "text" | "number" | "flag" | "date";
  readonly about: string;
};

/** The parameters of one operation. */
export type Parameters<Query> = { readonly [Name in keyof Required<Query>]: Parameter };

const text = (about: string): Parameter => ({ kind: "text", about });
const number = (about: string): Parameter => ({ kind: "number", about });
const flag = (about: string): Parameter => ({ kind: "flag", about });
const date = (about: string): Parameter => ({ kind: "date", about });

const paging = (sorts: readonly string[], sizeMax: number) => ({
  sortBy: text(`order: ${sorts.join(", ")}`),
  sortDesc: flag("descending order"),
  paginationIndex: number("page number, from 0"),
  paginationSize: number(`items a page, at most ${sizeMax}`),
});

/** Endpoint 1. */
export const SEARCH_PARAMETERS: Parameters<SearchQuery> = {
  query: text("words to search for"),
  queryContent: flag("search contents, too; default: true"),
  docFilename: text("document file name"),
  docTitle: text("metadata title"),
  docAuthor: text("metadata author"),
  docSubject: text("metadata subject"),
  docKeywords: text("metadata keywords"),
  docHasExpireDate: flag("documents with an expiry date"),
  folderName: text("folder name"),
  folderIndex: text("folder designation"),
  folderDescription: text("folder description"),
  folderKeywords: text("folder keywords"),
  folderHasExpireDate: flag("folders with an expiry date"),
  createdDateStart: date("created on or after"),
  createdDateEnd: date("created on or before"),
  modifiedDateStart: date("modified on or after"),
  modifiedDateEnd: date("modified on or before"),
  filesizeStart: number("bytes at least"),
  filesizeEnd: number("bytes at most"),
  pagesStart: number("pages at least"),
  pagesEnd: number("pages at most"),
  ...paging(DOCUMENT_SORTS, 10_000),
};

/** Endpoint 2. */
export const DOCUMENTS_PARAMETERS: Parameters<DocumentsQuery> = {
  folderId: number("folder; default: the root"),
  ...paging(DOCUMENT_SORTS, 10_000),
};

/** Endpoint 3. */
export const DIGIDOC_PARAMETERS: Parameters<DigidocQuery> = {
  digidocId: number("digidoc document; it must be CONVERTED"),
  ...paging(DIGIDOC_SORTS, 100),
};

/** Endpoint 5. */
export const FOLDERS_PARAMETERS: Parameters<FoldersQuery> = {
  folderId: number("parent folder; default: the root"),
  ...paging(FOLDER_SORTS, 1_000),
};

/** Endpoints 4 and 6. */
export const ID_PARAMETER: Parameters<{ id: number }> = { id: number("its id") };

/** Adds an option for each parameter. */
export function addParameters<Query>(command: Command, parameters: Parameters<Query>): void {
  for (const [name, { kind, about }] of Object.entries<Parameter>(parameters)) {
    const value = { text: " <text>", number: " <n>", flag: " [boolean]", date: " <date>" }[kind];
    command.addOption(new Option(`--${kebab(name)}${value}`, about));
    if (kebab(name) !== name) command.addOption(new Option(`--${name}${value}`).hideHelp());
  }
}

/** The query: every value as its kind has it. Throws `UsageError`. */
export function queryOf<Query extends object>(
  parameters: Parameters<Query>,
  given: TypedValues,
): Partial<Query> {
  const query: Record<string, unknown> = {};
  for (const [name, { kind }] of Object.entries<Parameter>(parameters)) {
    const value = given[name];
    if (value !== undefined) query[name] = read(kind, `--${kebab(name)}`, value);
  }
  // Each value was read by the kind that its name has.
  return query as Partial<Query>;
}

const READERS: Readonly<Record<Parameter["kind"], (typed: string) => unknown>> = {
  text: (typed) => typed,
  number: wholeNumber,
  flag: trueOrFalse,
  date: moment,
};

function read(kind: Parameter["kind"], option: string, value: unknown): unknown {
  // A flag without a value.
  if (value === true) return true;
  const typed = String(value);
  try {
    return READERS[kind](typed);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new UsageError(`${option}: ${JSON.stringify(typed)} is not valid. ${error.message}`);
  }
}

/** `folderId` as an option is written. */
function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
}
