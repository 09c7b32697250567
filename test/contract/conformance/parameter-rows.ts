import type { Operation } from "../../../src/wire/shapes.ts";

/**
 * Section Endpoints, parameter by parameter. `value` undefined: not sent; `{folder}` in it: the
 * path of a folder that exists. `open`: the document leaves it open, and this is what the embedded
 * archive chose; another archive may rightly differ.
 */
export type ParameterRow = readonly [
  parameter: string,
  value: string | undefined,
  expected: string,
  because: string,
  open?: "open",
];
type Row = ParameterRow;

const chars = (count: number) => "x".repeat(count);

function booleanRows(name: string, code: string): Row[] {
  return [
    [name, "true", "OK", "a boolean"],
    [name, "FALSE", "OK", "capitals are our choice", "open"],
    [name, "1", "OK", "1 and 0 are our choice", "open"],
    [name, "yes", code, "malformed"],
    [name, "", code, "blank is malformed", "open"],
    [name, undefined, "OK", "optional"],
  ];
}

function integerRows(name: string, code: string, wellFormed = "OK"): Row[] {
  return [
    [name, "1", wellFormed, "an integer"],
    [name, "9007199254740991", wellFormed, "the largest exact integer", "open"],
    [name, "9007199254740993", code, "past what is exact", "open"],
    [name, "1.5", code, "no integer"],
    [name, "abc", code, "malformed"],
    [name, "", code, "blank is malformed", "open"],
    [name, " 1", code, "padded is malformed", "open"],
    [name, "0x10", code, "hexadecimal is malformed", "open"],
  ];
}

function dateRows(name: string, code: string): Row[] {
  return [
    [name, "1446713131000", "OK", "milliseconds since the epoch, as the example"],
    [name, "2026-02-28", "OK", "a day", "open"],
    [name, "2026-02-28T10:00:00.5+02:00", "OK", "a time with its zone", "open"],
    [name, "2026-02-28T10:00Z", "OK", "a time to the minute", "open"],
    [name, "2026-02-30", code, "there is no such day", "open"],
    [name, "2026-13-01", code, "there is no such month", "open"],
    [name, "2026-02-28T25:00Z", code, "there is no such hour", "open"],
    [name, "99999999999999999", code, "past the last date", "open"],
    [name, "yesterday", code, "malformed"],
    [name, "", code, "blank is malformed", "open"],
    [name, undefined, "OK", "optional"],
  ];
}

function pagingRows(sizeMax: number): Row[] {
  return [
    ...booleanRows("sortDesc", "INVALID_SORT_DESC"),
    ["paginationIndex", "0", "OK", "the first page"],
    [
      "paginationIndex",
      "999999",
      "OK",
      "past the last page there is nothing, which is no error",
      "open",
    ],
    ["paginationIndex", "2147483647", "OK", "an integer, however large", "open"],
    ["paginationIndex", "9007199254740991", "OK", "the largest exact integer", "open"],
    [
      "paginationIndex",
      "-1",
      "INVALID_PAGINATION_INDEX",
      "there is no page before the first",
      "open",
    ],
    ["paginationIndex", "first", "INVALID_PAGINATION_INDEX", "malformed"],
    ["paginationIndex", undefined, "OK", "optional"],
    ["paginationSize", "1", "OK", "the smallest page"],
    ["paginationSize", String(sizeMax), "OK", "at the limit"],
    ["paginationSize", String(sizeMax + 1), "INVALID_PAGINATION_SIZE", "past the limit"],
    ["paginationSize", "0", "INVALID_PAGINATION_SIZE", "no number of pages would do", "open"],
    ["paginationSize", "-1", "INVALID_PAGINATION_SIZE", "malformed", "open"],
    ["paginationSize", "many", "INVALID_PAGINATION_SIZE", "malformed"],
    ["paginationSize", undefined, "OK", "optional"],
  ];
}

function sortRows(...names: string[]): Row[] {
  return [
    ...names.map((name): Row => ["sortBy", name, "OK", "one of the orders"]),
    ["sortBy", "SIZE", "INVALID_SORT_BY", "none of the orders"],
    ["sortBy", "name", "INVALID_SORT_BY", "letter for letter", "open"],
    ["sortBy", undefined, "OK", "optional"],
  ];
}

function textRows(...names: string[]): Row[] {
  return names.flatMap((name): Row[] => [
    [name, "ä % _ \" ' \\ *", "OK", "any text"],
    [name, "", "OK", "blank text is text", "open"],
    [name, chars(5000), "OK", "no limit is given", "open"],
    [name, undefined, "OK", "optional"],
  ]);
}

function limitedRows(name: string, max: number, code: string): Row[] {
  return [
    [name, chars(max), "OK", "at the limit"],
    [name, "😀".repeat(max), "OK", "an emoji is one character", "open"],
    [name, chars(max + 1), code, "past the limit"],
    [name, "", "OK", "blank text is text", "open"],
    [name, undefined, "OK", "optional"],
  ];
}

const FORBIDDEN = ["/", "\\", ":", "*", "?", "<", ">", '"', "|"];

export const PARAMETER_ROWS: Readonly<Record<Operation, readonly Row[]>> = {
  search: [
    ...textRows("query", "docFilename", "docTitle", "docAuthor", "docSubject", "docKeywords"),
    ...textRows("folderName", "folderIndex", "folderDescription", "folderKeywords"),
    ...booleanRows("queryContent", "INVALID_QUERY_CONTENT"),
    ...booleanRows("docHasExpireDate", "INVALID_DOC_HAS_EXPIRE_DATE"),
    ...booleanRows("folderHasExpireDate", "INVALID_FOLDER_HAS_EXPIRE_DATE"),
    ...dateRows("createdDateStart", "INVALID_CREATED_DATE_START"),
    ...dateRows("createdDateEnd", "INVALID_CREATED_DATE_END"),
    ...dateRows("modifiedDateStart", "INVALID_MODIFIED_DATE_START"),
    ...dateRows("modifiedDateEnd", "INVALID_MODIFIED_DATE_END"),
    ...integerRows("filesizeStart", "INVALID_FILESIZE_START"),
    ...integerRows("filesizeEnd", "INVALID_FILESIZE_END"),
    ...integerRows("pagesStart", "INVALID_PAGES_START"),
    ...integerRows("pagesEnd", "INVALID_PAGES_END"),
    ...sortRows("NAME", "PAGES", "CREATED_DATE", "UPLOADED_DATE", "EXPIRE_DATE"),
    ...pagingRows(10_000),
  ],
  documents: [
    ...integerRows("folderId", "INVALID_FOLDER_ID", "FOLDER_NOT_EXISTS").slice(1),
    ["folderId", undefined, "OK", "the root when absent"],
    ["folderId", "-5", "FOLDER_NOT_EXISTS", "an integer, but no folder's", "open"],
    ...sortRows("NAME", "PAGES", "CREATED_DATE", "UPLOADED_DATE", "EXPIRE_DATE"),
    ...pagingRows(10_000),
  ],
  digidoc: [
    ...integerRows("digidocId", "INVALID_DIGIDOC_ID", "DOC_NOT_EXIST").slice(1),
    ["digidocId", undefined, "INVALID_DIGIDOC_ID", "required"],
    ...sortRows("NAME", "PAGES", "CREATED_DATE", "UPLOADED_DATE"),
    ["sortBy", "EXPIRE_DATE", "INVALID_SORT_BY", "not an order of this list"],
    ...pagingRows(100),
  ],
  document: [
    ...integerRows("id", "INVALID_DOC_ID", "DOC_NOT_EXIST").slice(1),
    ["id", undefined, "INVALID_DOC_ID", "required"],
  ],
  folders: [
    ...integerRows("folderId", "INVALID_FOLDER_ID", "FOLDER_NOT_EXISTS").slice(1),
    ["folderId", undefined, "OK", "the root when absent"],
    ...sortRows("NAME", "CREATED_DATE"),
    ["sortBy", "PAGES", "INVALID_SORT_BY", "not an order of this list"],
    ...pagingRows(1_000),
  ],
  folder: [
    ...integerRows("id", "INVALID_FOLDER_ID", "FOLDER_NOT_EXISTS").slice(1),
    ["id", undefined, "OK", "the root when absent"],
  ],
  upload: [
    ...integerRows("folderId", "INVALID_FOLDER_ID", "FOLDER_NOT_EXISTS").slice(1),
    ["folderId", undefined, "OK", "the root when absent"],
    ["path", "/", "OK", "the root", "open"],
    ["path", "{folder}", "OK", "a folder that exists"],
    ["path", "{folder}/none", "FOLDER_NOT_EXISTS", "a folder that does not"],
    ["path", "no-slash", "INVALID_FOLDER_PATH", "it does not start at the root"],
    ["path", "/a//b", "INVALID_FOLDER_PATH", "an empty name", "open"],
    ["path", "/a/", "INVALID_FOLDER_PATH", "an empty name at the end", "open"],
    ["path", "", "INVALID_FOLDER_PATH", "blank is malformed", "open"],
    ["path", undefined, "OK", "optional"],
    ["filename", "a.pdf", "OK", "a name"],
    ["filename", "ö, 文 😀.pdf", "OK", "any other character is allowed", "open"],
    ["filename", chars(255), "OK", "at the limit"],
    ["filename", chars(256), "INVALID_FILENAME", "past the limit"],
    ["filename", "", "INVALID_FILENAME", "blank is missing", "open"],
    ["filename", undefined, "INVALID_FILENAME", "required"],
    ...FORBIDDEN.map(
      (c): Row => ["filename", `a${c}b.pdf`, "INVALID_FILENAME", `${c} is forbidden`],
    ),
    ...limitedRows("batch", 36, "INVALID_BATCH"),
    ...dateRows("expireDate", "INVALID_EXPIRE_DATE"),
    ...limitedRows("metadataTitle", 150, "INVALID_METADATA_TITLE"),
    ...limitedRows("metadataAuthor", 150, "INVALID_METADATA_AUTHOR"),
    ...limitedRows("metadataSubject", 150, "INVALID_METADATA_SUBJECT"),
    ...limitedRows("metadataKeywords", 255, "INVALID_METADATA_KEYWORD"),
    ...limitedRows("metadataProducer", 255, "INVALID_METADATA_PRODUCER"),
    ...limitedRows("metadataDescription", 250, "INVALID_METADATA_DESCRIPTION"),
  ],
};

/** Where the document speaks of the parameter. */
export function referenceOf(operation: Operation, parameter: string): string {
  return `Endpoints ${Object.keys(PARAMETER_ROWS).indexOf(operation) + 1}, ${parameter}`;
}
