import { expect, test } from "vitest";
import type { Upload } from "../../../src/archive/archive.ts";
import { ArchiveError } from "../../../src/archive/archive-error.ts";
import * as parameters from "../../../src/archive/parameters.ts";
import { CODES } from "../../../src/wire/codes.ts";
import { errorOf, never, openOn, scan } from "./fixture.ts";
import { RawServer } from "./raw-server.ts";

function codeOfThrown(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    expect(error.kind).toBe("invalid");
    return error.code;
  }
}

const long = (length: number) => "x".repeat(length);
const smileys = (length: number) => "\u{1F600}".repeat(length);

test.for([
  [{ filename: "" }, "INVALID_FILENAME", "it is required"],
  [{ filename: undefined }, "INVALID_FILENAME", "it is required of plain JavaScript too"],
  [{ filename: long(255) }, undefined, "255 characters are allowed"],
  [{ filename: long(256) }, "INVALID_FILENAME", "256 are not"],
  [{ filename: smileys(255) }, undefined, "the archive may count characters"],
  [{ filename: smileys(256) }, "INVALID_FILENAME", "too many however they are counted"],
  [{ filename: "a\ud83d.pdf" }, "INVALID_FILENAME", "UTF-8 cannot hold half a character"],
  ...Array.from('/\\:*?<>"|', (c) => [
    { filename: `a${c}b` },
    "INVALID_FILENAME",
    `${c} is forbidden`,
  ]),
  [{ filename: "a;b='c' & ünï.pdf" }, undefined, "everything else is allowed"],
  [{ batch: long(36) }, undefined, "36 characters are allowed"],
  [{ batch: long(37) }, "INVALID_BATCH", "37 are not"],
  [{ folderId: 1.5 }, "INVALID_FOLDER_ID", "ids are integers"],
  [{ folderId: -1 }, "INVALID_FOLDER_ID", "ids are not negative"],
  [{ path: "Scans" }, "INVALID_FOLDER_PATH", "a path begins with a slash"],
  [{ path: "/Scans" }, undefined, "that is the form"],
  [{ expireDate: 1.5 }, "INVALID_EXPIRE_DATE", "milliseconds are integers"],
  [{ expireDate: "" }, "INVALID_EXPIRE_DATE", "nothing is no date"],
  [{ expireDate: "2027-01-01" }, undefined, "the textual form of dates is open"],
  [{ metadata: { title: long(151) } }, "INVALID_METADATA_TITLE", "150 are allowed"],
  [{ metadata: { author: long(151) } }, "INVALID_METADATA_AUTHOR", "150 are allowed"],
  [{ metadata: { subject: long(151) } }, "INVALID_METADATA_SUBJECT", "150 are allowed"],
  [{ metadata: { keywords: long(256) } }, "INVALID_METADATA_KEYWORD", "255 are allowed"],
  [{ metadata: { producer: long(256) } }, "INVALID_METADATA_PRODUCER", "255 are allowed"],
  [{ metadata: { description: long(251) } }, "INVALID_METADATA_DESCRIPTION", "250 are allowed"],
  [{ metadata: { description: "" } }, undefined, "an empty description occurs"],
] as [Partial<Upload>, string | undefined, string][])(
  "upload %o: %s, because %s",
  ([more, code]) => {
    expect(codeOfThrown(() => parameters.uploadFields({ ...scan(), ...more }))).toBe(code);
  },
);

test.for([
  [{ paginationSize: 10_000 }, undefined, "the maximum is allowed", parameters.documentsFields],
  [{ paginationSize: 10_001 }, "INVALID_PAGINATION_SIZE", "10000 are", parameters.documentsFields],
  [
    { digidocId: 1, paginationSize: 101 },
    "INVALID_PAGINATION_SIZE",
    "100 are",
    parameters.digidocFields,
  ],
  [{ paginationSize: 1_001 }, "INVALID_PAGINATION_SIZE", "1000 are", parameters.foldersFields],
  [{ paginationSize: 10_001 }, "INVALID_PAGINATION_SIZE", "10000 are", parameters.searchFields],
  [
    { paginationSize: 0 },
    "INVALID_PAGINATION_SIZE",
    "a page has items",
    parameters.documentsFields,
  ],
  [
    { paginationIndex: -1 },
    "INVALID_PAGINATION_INDEX",
    "it is zero-based",
    parameters.documentsFields,
  ],
  [{ sortBy: "PAGES" }, "INVALID_SORT_BY", "folders have no pages", parameters.foldersFields],
  [
    { digidocId: 1, sortBy: "EXPIRE_DATE" },
    "INVALID_SORT_BY",
    "not in a digidoc",
    parameters.digidocFields,
  ],
  [{}, "INVALID_DIGIDOC_ID", "it is required", parameters.digidocFields],
  [{ sortDesc: "yes" }, "INVALID_SORT_DESC", "it is a flag", parameters.documentsFields],
  [Number.NaN, "INVALID_DOC_ID", "it is no number", parameters.documentFields],
  [2 ** 60, "INVALID_FOLDER_ID", "it is not the number that was meant", parameters.folderFields],
  [undefined, undefined, "the root folder is the default", parameters.folderFields],
  [
    { filesizeStart: -1 },
    "INVALID_FILESIZE_START",
    "sizes are not negative",
    parameters.searchFields,
  ],
  [{ pagesEnd: 0.5 }, "INVALID_PAGES_END", "pages are whole", parameters.searchFields],
  [
    { createdDateStart: Number.NaN },
    "INVALID_CREATED_DATE_START",
    "no moment",
    parameters.searchFields,
  ],
  [{ createdDateStart: -1 }, undefined, "a moment before 1970", parameters.searchFields],
  [
    { query: "\ud83d" },
    "INVALID_PARAMETER",
    "the interface has no code for it",
    parameters.searchFields,
  ],
] as const)("%# %o: %s, because %s", ([query, code, , fields]) => {
  expect(codeOfThrown(() => fields(query as never))).toBe(code);
});

test("every parameter of search is sent under its own name, in text", () => {
  const query = {
    query: "q",
    queryContent: false,
    docHasExpireDate: true,
    createdDateStart: 1,
    createdDateEnd: "2026-01-01",
    filesizeEnd: 9,
    sortBy: "NAME",
    paginationIndex: 0,
  } as const;
  expect(Object.fromEntries(parameters.searchFields(query))).toEqual({
    query: "q",
    queryContent: "false",
    docHasExpireDate: "true",
    createdDateStart: "1",
    createdDateEnd: "2026-01-01",
    filesizeEnd: "9",
    sortBy: "NAME",
    paginationIndex: "0",
  });
});

test("what is invalid is never sent", async () => {
  await using server = await RawServer.open({});
  await using archive = await openOn(server);
  const error = await errorOf(archive.upload(scan(undefined, { filename: "a:b" }), never));
  expect(error).toMatchObject({ kind: "invalid", code: "INVALID_FILENAME" });
  expect(CODES.upload).toContain(error.code);
  expect(error.message).toContain(":");
  expect(server.sockets).toEqual([]);
});
