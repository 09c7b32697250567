import { describe, expect, test } from "vitest";
import { FAILURES, type Fate, failureOf, isKnown } from "../../../src/domain/failure.ts";

/** The fate of every code, written down a second time: an attributes in the table costs documents or money. */
const FATES: Readonly<Record<Fate, readonly (keyof typeof FAILURES)[]>> = {
  // No document of the account can succeed.
  gate: ["QUOTA_LIMIT", "CREDENTIALS_REFUSED", "ARCHIVE_CHANGED", "SAME_CODE_REPEATS"],
  // Something outside the document has to come first.
  hold: [
    "FOLDER_NOT_EXISTS",
    "INVALID_FOLDER_ID",
    "INVALID_FOLDER_PATH",
    "PLUGIN_REMINDER_NOT_INSTALLED",
    "FOLDER_MISSING",
    "FOLDER_TWINS",
    "FOLDER_CASE",
    "DOUBT_AMBIGUOUS",
    "DOUBT_FOLDER_GONE",
    "REPLY_MISMATCHED",
    "DOCUMENT_ID_TAKEN",
    "ANOTHER_DOCUMENT",
    "DOUBT_ELSEWHERE",
    "REPLIES_LOST",
    "FILE_EMPTY",
    "FILE_UNREADABLE",
    "FILE_UNFINISHED",
    "FILE_INCOMPLETE",
    "SOURCE_OFFLINE",
    "AFTER_REFUSED",
    "CHANGED_TOO_OFTEN",
    "FIRST_RUN",
    "TARGET_UNKNOWN",
    "METADATA_TOO_LONG",
    "EXPIRY_UNKNOWN",
    "EXPIRY_TOO_SOON",
    "CLOCKS_DIFFER",
    "PATTERN_SLOW",
    "HOOK_FAILED",
    "VETOED",
    "NOTES_BROKEN",
    "MARKER_MISSING",
    "NOT_RENAMED",
    "FILE_YOUNG",
    "FILE_TOO_SMALL",
    "FILE_TOO_LARGE",
    "SIDECAR_MISSING",
    "ALLOWANCE_LOW",
    "ALLOWANCE_USED",
  ],
  // The same document would be refused again.
  fail: [
    "INVALID_BATCH",
    "INVALID_METADATA_TITLE",
    "INVALID_METADATA_KEYWORD",
    "INVALID_METADATA_PRODUCER",
    "INVALID_METADATA_SUBJECT",
    "INVALID_METADATA_AUTHOR",
    "INVALID_METADATA_DESCRIPTION",
    "INVALID_EXPIRE_DATE",
    "INVALID_FILENAME",
    "NO_FILE_DATA",
    "FILE_SIZE_TOO_BIG",
    "DOC_NOT_EXIST",
  ],
  // It passes, or it is about a question and not about a document.
  retry: [
    "INVALID_DOC_ID",
    "INVALID_DIGIDOC_ID",
    "INVALID_SORT_BY",
    "INVALID_SORT_DESC",
    "INVALID_PAGINATION_INDEX",
    "INVALID_PAGINATION_SIZE",
    "INVALID_QUERY_CONTENT",
    "INVALID_DOC_HAS_EXPIRE_DATE",
    "INVALID_FOLDER_HAS_EXPIRE_DATE",
    "INVALID_CREATED_DATE_START",
    "INVALID_CREATED_DATE_END",
    "INVALID_MODIFIED_DATE_START",
    "INVALID_MODIFIED_DATE_END",
    "INVALID_FILESIZE_START",
    "INVALID_FILESIZE_END",
    "INVALID_PAGES_START",
    "INVALID_PAGES_END",
    "ARCHIVE_UNREACHABLE",
    "ARCHIVE_BUSY",
    "TLS_REFUSED",
    "PROXY_REFUSED",
    "REPLY_LOST",
    "CONVERSION_STUCK",
    "FILE_CHANGED",
  ],
};

describe("failures", () => {
  test("every code has the fate that is meant for it, and no other", () => {
    for (const [fate, codes] of Object.entries(FATES))
      for (const code of codes) expect([code, failureOf(code).fate]).toEqual([code, fate]);
    expect(Object.values(FATES).flat().sort()).toEqual(Object.keys(FAILURES).sort());
  });

  test("every code tells the operator what to do, in a sentence", () => {
    for (const [code, { hint }] of Object.entries(FAILURES))
      expect(hint, code).toMatch(/^[A-Z\d].{15,}\.$/);
  });

  test("a hint stands behind its message, and does not say it again", () => {
    expect(failureOf("FILE_EMPTY").hint).not.toMatch(/no content/);
  });

  test.for([
    ["WEIRD", "the archive may say what it likes"],
    ["toString", "what every object has is no row"],
    ["", "no code is no row"],
  ] as const)("%j holds its document, and says whom to ask, because %s", ([code]) => {
    expect(isKnown(code)).toBe(false);
    expect(failureOf(code)).toMatchObject({ fate: "hold", hint: expect.stringMatching(/support/) });
  });
});

test.for([
  ["SIGNING_FAILED", /archive\.signing\.module/, "the module, which is the operator's own"],
  ["ARCHIVE_TIMEOUT", /raise `archive\.timeout`/, "the network, or patience"],
  ["REPLY_UNREADABLE", /Check that `archive\.url`/, "what stands in the archive's place"],
  ["HTTP_302", /does not redirect/, "an address that has moved"],
  ["HTTP_403", /web application firewall/, "what stands before the archive, not the key"],
  ["HTTP_413", /nginx, `client_max_body_size`/, "a limit that has a name"],
  ["HTTP_431", /large_client_header_buffers/, "a limit that has a name"],
  ["HTTP_404", /Check `archive\.url`/, "an address that is another's"],
  ["HTTP_502", /^Wait until/, "a proxy without its archive"],
  ["NEW_CODE", /contact its support/, "a code of the archive's own"],
] as const)("%s is held, and fixed by %s: %s", ([code, hint]) => {
  expect(failureOf(code)).toMatchObject({ fate: "hold", hint: expect.stringMatching(hint) });
});
