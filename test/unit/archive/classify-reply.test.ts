import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArchiveError } from "../../../src/archive/archive-error.ts";
import type { Reply } from "../../../src/archive/exchange.ts";
import type { JsonFields } from "../../../src/archive/json-fields.ts";
import { classifyReply, type ReplyContext } from "../../../src/archive/classify-reply.ts";
import { documentDetailOf, documentsPageOf, folderOf } from "../../../src/archive/resources.ts";
import { FAILURES } from "../../../src/domain/failure.ts";
import { CODES } from "../../../src/wire/codes.ts";
import type { DocumentDetail } from "../../../src/wire/shapes.ts";
import { detail } from "./raw-server.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const question: ReplyContext = { operation: "upload", now: NOW, secrets: ["SECRET_KEY"] };
const readDocument = (fields: JsonFields) => documentDetailOf(fields.object("document"));

function replied(status: number, body: unknown, more: Partial<Reply> = {}): Reply {
  const text = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return { status, headers: {}, body: Buffer.from(text as string), afterRequest: true, ...more };
}

function errorIn(reply: Reply, asked = question): ArchiveError {
  try {
    classifyReply(reply, asked, readDocument);
  } catch (error) {
    if (error instanceof ArchiveError) return error;
    throw error;
  }
  throw new Error("it was taken for a result");
}

const ok = (document: unknown = detail()) => ({ response: "OK", document });
const refused = (responseDescription: unknown) => ({ response: "ERROR", responseDescription });

describe("where the code is", () => {
  test.for([
    ["QUOTA_LIMIT", "the code, bare"],
    [" QUOTA_LIMIT\n", "blanks around it"],
    [{ code: "QUOTA_LIMIT" }, "an object with a code"],
    [{ error: "QUOTA_LIMIT" }, "or an error"],
    [{ name: "QUOTA_LIMIT" }, "or a name"],
    [{ value: "QUOTA_LIMIT" }, "or a value"],
    [{ whatever: "QUOTA_LIMIT" }, "or anything else"],
    [{ error: { code: "QUOTA_LIMIT" } }, "one level down"],
    [["QUOTA_LIMIT"], "a list of one"],
    [[{ name: "QUOTA_LIMIT" }], "a list of one object"],
    [
      { message: "Allowance used up", severity: "FATAL", id: "QUOTA_LIMIT" },
      "a code that is known goes before what looks like one",
    ],
  ] as const)("%j is QUOTA_LIMIT: %s", ([description]) => {
    expect(errorIn(replied(200, refused(description)))).toMatchObject({
      kind: "refused",
      code: "QUOTA_LIMIT",
      httpStatus: 200,
      credentials: false,
    });
  });

  test.for([
    [undefined, "there is none"],
    [null, "there is none"],
    [17, "a number is no code"],
    ["quota limit", "a sentence is no code"],
    ["", "nothing is no code"],
    [["QUOTA_LIMIT", "NO_FILE_DATA"], "exactly one is promised"],
    [{ a: { b: { c: { d: "QUOTA_LIMIT" } } } }, "that deep nobody meant it as the code"],
    ["SECRET_KEY", "it repeats our own secret"],
    ["X".repeat(500), "no code is that long"],
  ] as const)("%j has no code, because %s: in doubt", ([description]) => {
    expect(errorIn(replied(200, refused(description)))).toMatchObject({
      kind: "inDoubt",
      code: "REPLY_UNREADABLE",
    });
  });
});

describe("what a reply means", () => {
  test.for([
    [
      replied(400, refused("INVALID_FILENAME")),
      "refused",
      "INVALID_FILENAME",
      "errors may have any status",
    ],
    [replied(500, refused("QUOTA_LIMIT")), "refused", "QUOTA_LIMIT", "the archive itself said so"],
    [
      replied(500, refused("INTERNAL")),
      "inDoubt",
      "INTERNAL",
      "it may have failed after it stored",
    ],
    [replied(500, refused("INVALID_SIG")), "refused", "INVALID_SIG", "it got no further than that"],
    [
      replied(200, `\ufeff${JSON.stringify(refused("QUOTA_LIMIT"))}`),
      "refused",
      "QUOTA_LIMIT",
      "a byte order mark is no harm",
    ],
    [
      replied(200, { ...refused("QUOTA_LIMIT"), document: null, extra: [1] }),
      "refused",
      "QUOTA_LIMIT",
      "unknown fields are no harm",
    ],
    [
      replied(200, { ...refused("QUOTA_LIMIT"), document: detail() }),
      "inDoubt",
      "REPLY_UNREADABLE",
      "it may have stored the document that it shows",
    ],
    [
      replied(200, refused("QUOTA_LIMIT"), { afterRequest: false }),
      "refused",
      "QUOTA_LIMIT",
      "no need to read all of what is refused",
    ],
    [
      replied(200, refused("SOMETHING_NEW")),
      "inDoubt",
      "SOMETHING_NEW",
      "whatever that means, it need not be that nothing was stored",
    ],
    [replied(404, "<html>"), "refused", "HTTP_404", "anyone who answered did not do it"],
    [replied(413, ""), "refused", "HTTP_413", "a proxy's limit, not the archive's"],
    [replied(301, ""), "refused", "HTTP_301", "who wants it elsewhere did not store it"],
    [replied(302, ""), "inDoubt", "HTTP_302", "many a server says so when it has done it"],
    [replied(303, ""), "inDoubt", "HTTP_303", "done; what came of it is shown elsewhere"],
    [
      replied(303, "", { afterRequest: false }),
      "refused",
      "HTTP_303",
      "before it had all of it there was nothing to do",
    ],
    [replied(307, ""), "refused", "HTTP_307", "and the request is not sent elsewhere"],
    [replied(304, ""), "refused", "HTTP_304", "an answer to another question"],
    [replied(429, "slow down"), "refused", "ARCHIVE_BUSY", "asked for a pause"],
    [
      replied(429, refused("TOO_MANY_REQUESTS")),
      "inDoubt",
      "ARCHIVE_BUSY",
      "asked for a pause in words that prove nothing",
    ],
    [
      replied(429, refused("QUOTA_LIMIT")),
      "refused",
      "QUOTA_LIMIT",
      "a known code says more than the status",
    ],
    [replied(401, "<html>"), "refused", "HTTP_401", "this upload; the account is another question"],
    [replied(403, ""), "refused", "HTTP_403", "this upload; the account is another question"],
    [
      replied(413, "", { body: "too big" }),
      "refused",
      "HTTP_413",
      "its page of apology is not needed",
    ],
    [
      replied(404, "", { body: "encoded" }),
      "refused",
      "HTTP_404",
      "its page of apology is not needed",
    ],
    [replied(500, ""), "inDoubt", "HTTP_500", "it may have failed after it stored"],
    [
      replied(502, "<html>Bad gateway"),
      "inDoubt",
      "HTTP_502",
      "what is behind the proxy may have stored it",
    ],
    [replied(504, ""), "inDoubt", "HTTP_504", "and may yet do"],
    [replied(999, ""), "inDoubt", "HTTP_999", "no one knows what that means"],
    [replied(500, ok()), "inDoubt", "HTTP_500", "it contradicts itself"],
    [replied(404, ok()), "inDoubt", "HTTP_404", "it contradicts itself"],
    [replied(200, ""), "inDoubt", "REPLY_UNREADABLE", "nothing is no reply"],
    [replied(204, ""), "inDoubt", "REPLY_UNREADABLE", "nothing is no reply"],
    [
      replied(200, "<html>Log in to the hotel's network"),
      "inDoubt",
      "REPLY_UNREADABLE",
      "not ours",
    ],
    [
      replied(200, '{"response":"OK","document":{"id":4'),
      "inDoubt",
      "REPLY_UNREADABLE",
      "half a reply",
    ],
    [replied(200, "null"), "inDoubt", "REPLY_UNREADABLE", "JSON, but no object"],
    [replied(200, "[]"), "inDoubt", "REPLY_UNREADABLE", "JSON, but no object"],
    [replied(200, [ok()]), "inDoubt", "REPLY_UNREADABLE", "JSON, but no object"],
    [replied(200, {}), "inDoubt", "REPLY_UNREADABLE", "neither OK nor ERROR"],
    [replied(200, { ...ok(), response: "ok" }), "inDoubt", "REPLY_UNREADABLE", "codes are exact"],
    [replied(200, { ...ok(), response: true }), "inDoubt", "REPLY_UNREADABLE", "codes are text"],
    [
      replied(200, '{"__proto__":{"response":"OK","document":{}}}'),
      "inDoubt",
      "REPLY_UNREADABLE",
      "a prototype says nothing",
    ],
    [
      replied(200, '{"response":"OK","document":{"__proto__":{"id":1}}}'),
      "inDoubt",
      "REPLY_UNREADABLE",
      "a prototype says nothing",
    ],
    [
      replied(200, Buffer.from(JSON.stringify(ok(detail({ filename: "\u00fc.pdf" }))), "latin1")),
      "inDoubt",
      "REPLY_UNREADABLE",
      "a name that is not UTF-8 would be read wrong",
    ],
    [replied(200, "[".repeat(400_000)), "inDoubt", "REPLY_UNREADABLE", "nested without end"],
    [replied(200, "", { body: "too big" }), "inDoubt", "REPLY_TOO_BIG", "a reply has an end"],
    [
      replied(200, "", { body: "encoded" }),
      "inDoubt",
      "REPLY_UNREADABLE",
      "compression was not asked for",
    ],
    [
      replied(200, ok(), { afterRequest: false }),
      "inDoubt",
      "REPLY_EARLY",
      "it cannot have stored what it did not have",
    ],
    [replied(200, { response: "OK" }), "inDoubt", "REPLY_UNREADABLE", "no document"],
    [replied(200, ok([detail()])), "inDoubt", "REPLY_UNREADABLE", "a list is no document"],
    [replied(200, ok(detail({ id: undefined }))), "inDoubt", "REPLY_UNREADABLE", "no id"],
    [replied(200, ok(detail({ id: 1.5 }))), "inDoubt", "REPLY_UNREADABLE", "no integer"],
    [replied(200, ok(detail({ id: -1 }))), "inDoubt", "REPLY_UNREADABLE", "no identifier"],
    [replied(200, ok(detail({ id: 0 }))), "inDoubt", "REPLY_UNREADABLE", "nor is 0"],
    [replied(200, ok(detail({ id: "0" }))), "inDoubt", "REPLY_UNREADABLE", "nor is it as text"],
    [
      replied(200, '{"response":"OK","document":{"id":1e400}}'),
      "inDoubt",
      "REPLY_UNREADABLE",
      "beyond numbers",
    ],
    [
      replied(200, ok(detail({ id: "9007199254740993" }))),
      "inDoubt",
      "REPLY_UNREADABLE",
      "beyond exact numbers",
    ],
    [replied(200, ok(detail({ id: "0x10" }))), "inDoubt", "REPLY_UNREADABLE", "no decimal number"],
    [replied(200, ok(detail({ folderId: null }))), "inDoubt", "REPLY_UNREADABLE", "in no folder"],
    [replied(200, ok(detail({ filename: 5 }))), "inDoubt", "REPLY_UNREADABLE", "a name is text"],
    [
      replied(200, ok(detail({ createdDate: null, uploadedDate: "today" }))),
      "inDoubt",
      "REPLY_UNREADABLE",
      "no moment at all",
    ],
  ] as [Reply, string, string, string][])("%# %s %s, because %s", ([reply, kind, code]) => {
    expect(errorIn(reply)).toMatchObject({ kind, code, httpStatus: reply.status });
  });
});

describe("credentials", () => {
  test.for([
    [401, "BAD_TICKET", true, "the status says so"],
    [403, "INVALID_FILENAME", false, "a known code says something else"],
    [200, "INVALID_ACC_KEY", true, "it names the key"],
    [200, "INVALID_ACCKEY", true, "it names the key"],
    [200, "INVALID_API_KEY", true, "the interface calls it so, too"],
    [200, "ACCOUNT_KEY_NOT_EXISTS", true, "and so"],
    [200, "UNKNOWN_KEY", true, "there is no other key"],
    [200, "INVALID_DOC_KEYWORD", false, "a keyword is no key"],
    [200, "DUPLICATE_KEY", false, "a database's key is another"],
    [200, "INVALID_SIG", true, "it names the signature"],
    [200, "SIG_MISMATCH", true, "it names the signature"],
    [200, "INVALID_SIGNATURE", true, "it names the signature"],
    [200, "AUTHENTICATION_FAILED", true, "it speaks of who we are"],
    [200, "UNAUTHORIZED", true, "it speaks of what we may"],
    [200, "ACCESS_DENIED", true, "it speaks of what we may"],
    [200, "INVALID_METADATA_AUTHOR", false, "an author is not authentication"],
    [200, "INVALID_DOC_AUTHOR", false, "not even where the code is not known"],
    [200, "DESIGN_LOCKED", false, "a word within a word"],
    [200, "BAD_KEY", true, "whatever is said of it"],
    [200, "KEY_EXPIRED", true, "wherever it stands"],
    [200, "INVALID_SIGNATURE_VALUE", true, "wherever it stands"],
    [200, "NO_ACCESS", true, "in other words"],
    [200, "UNAUTHENTICATED", true, "in other words"],
    [200, "NOT_AUTHENTICATED", true, "in other words"],
    [200, "UNAUTHORISED", true, "as it is spelt elsewhere"],
    [200, "API_KEYS_INVALID", true, "of the two that there are"],
    [200, "UNKNOWN_AUTHORITY", false, "not what we are asked for"],
    [200, "INVALID_ACCOUNT", true, "the account is what the key names"],
    [200, "DOCUMENT_HAS_NO_SIGNATURE", false, "the document's own"],
    [200, "FOLDER_ACCESS_DENIED", false, "one folder is not the account"],
    [200, "ACCOUNT_QUOTA_EXCEEDED", false, "the account is known"],
    [200, "KEYWORD_FORBIDDEN", true, "two readings: it is told, and nothing more is sent"],
  ] as const)("HTTP %i %s is about credentials: %s, because %s", ([status, code, credentials]) => {
    expect(errorIn(replied(status, refused(code)))).toMatchObject({ code, credentials });
  });
});

describe("Retry-After", () => {
  test.for([
    ["7", 7_000, "seconds"],
    ["0", 0, "at once"],
    ["1000000000", 86_400_000, "never longer than a day"],
    ["9".repeat(400), 86_400_000, "however long the number"],
    ["Fri, 20 Nov 2026 12:00:30 GMT", 30_000, "a date"],
    ["Fri, 20 Nov 2026 11:00:00 GMT", 0, "a date that has passed"],
    ["-5", undefined, "not in the header's grammar"],
    ["soon", undefined, "not in the header's grammar"],
    ["2027", 2_027_000, "seconds, not a year"],
    [["1", "2"], undefined, "which of them?"],
  ] as const)("%j is %s ms: %s", ([value, ms]) => {
    const headers = { "retry-after": value as string | string[] };
    expect(errorIn(replied(503, "", { headers })).retryAfterMs).toBe(ms);
  });

  test("a date counts from the archive's clock, not ours", () => {
    const headers = {
      date: "Thu, 01 Jan 2015 00:00:00 GMT",
      "retry-after": "Thu, 01 Jan 2015 00:00:05 GMT",
    };
    expect(errorIn(replied(429, "", { headers })).retryAfterMs).toBe(5_000);
  });
});

describe("what is tolerated in an OK", () => {
  test.for([
    [{}, {}, "the reply as the interface shows it"],
    [{ id: "41", createdDate: "1700000000000" }, {}, "numbers as text"],
    [{ digidoc: "false" }, {}, "flags as text"],
    [{ documentName: null }, {}, "the document's name is the file's without its extension"],
    [{ unknown: { deep: [1] } }, {}, "fields that are not ours are dropped"],
    [
      { uploadedDate: undefined },
      { uploadedDate: 1_700_000_000_000 },
      "one date stands for the other",
    ],
    [{ status: 5 }, { status: undefined }, "a status that is no text is none"],
    [{ pages: -1 }, { pages: 0 }, "pages that cannot be are not known yet"],
    [{ folderId: 0 }, { folderId: 0 }, "an archive may count its folders from 0"],
  ] as const)("%o becomes %o: %s", ([given, expected]) => {
    const { status, ...rest } = { ...detail(), ...expected } as DocumentDetail;
    const whole = status === undefined ? rest : { ...rest, status };
    expect(classifyReply(replied(201, ok(detail(given))), question, readDocument)).toEqual(whole);
  });

  test.for([
    [{ name: null }, "its name is null"],
    [{}, "it has no name"],
    [{ name: "/", parentId: null }, "as the interface shows it"],
  ] as [object, string][])("the root is known by its flag: %s", ([given]) => {
    const folder = { id: 1, root: true, createdDate: 5, ...given };
    const read = (fields: JsonFields) => folderOf(fields.object("folder"));
    const found = classifyReply(replied(200, { response: "OK", folder }), question, read);
    expect(found).toEqual({ id: 1, name: "/", root: true, createdDate: 5 });
    const other = { response: "OK", folder: { ...folder, root: false, name: null } };
    expect(() => classifyReply(replied(200, other), question, read)).toThrow(
      "folder.name is not text",
    );
  });

  const page = (index: number, more: object) => {
    const reply = replied(200, { response: "OK", ...more });
    return classifyReply(reply, question, (fields) =>
      documentsPageOf(fields, index, documentDetailOf),
    );
  };

  test.for([
    [0, { paginationPages: 0, paginationSize: 9, documents: [] }, "an empty list"],
    [
      0,
      { paginationPages: 1, paginationSize: 9, documents: [] },
      "an empty list counted as a page",
    ],
    [0, { paginationPages: "0", paginationSize: "9", documents: [] }, "numbers as text"],
    [2, { paginationPages: 2, paginationSize: 9, documents: [] }, "the list has become shorter"],
  ] as const)("page %i is empty in %o: %s", ([index, given]) => {
    expect(page(index, given)).toMatchObject({ paginationSize: 9, documents: [] });
  });

  test.for([
    [{ paginationSize: 9, documents: [detail()] }, "a first page must not pass for the whole list"],
    [{ paginationPages: 0, documents: [detail()] }, "items on no page"],
    [{ paginationPages: 1, documents: { 0: detail() } }, "an object is no list"],
    [{ paginationPages: 1, documents: [detail(), null] }, "one item of the list is none"],
    [{ paginationPages: 0 }, "no list is no empty list"],
    [{ paginationPages: 0, documents: null }, "nor is null"],
    [{ paginationPages: 1 }, "no list is no list"],
    [{ paginationPages: 1, documents: null }, "nor is null, whatever is counted"],
    [{ paginationPages: 2, documents: [] }, "there are pages, and nothing on the first"],
  ] as const)("%o is in doubt, because %s", ([given]) => {
    expect(() => page(0, given)).toThrow(
      expect.objectContaining({ kind: "inDoubt", code: "REPLY_UNREADABLE" }),
    );
  });
});

test("no malformed reply is ever a result, and none is a crash", () => {
  const whole = JSON.stringify(ok());
  const broken = fc.oneof(
    fc.nat({ max: whole.length - 1 }).map((at) => whole.slice(0, at)),
    fc.json().filter((json) => !json.includes('"OK"')),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom("id", "folderId", "filename")
      .chain((name) =>
        fc
          .oneof(
            fc.constant(null),
            fc.constant({}),
            fc.constant([]),
            fc.double({ noInteger: true }),
          )
          .map((value) => JSON.stringify(ok(detail({ [name]: value })))),
      ),
    fc.object().map((document) => JSON.stringify(ok(document))),
    fc.string().map((text) => `${whole}${text.trim() || "x"}`),
    fc.jsonValue().map((x) => JSON.stringify({ response: "ERROR", responseDescription: x })),
  );
  fc.assert(
    fc.property(broken, fc.integer({ min: 200, max: 599 }), (body, status) => {
      expect(["refused", "inDoubt"]).toContain(errorIn(replied(status, body)).kind);
    }),
    { numRuns: 300 },
  );
});

test("every code of the interface has a fate", () => {
  expect(Object.keys(FAILURES)).toEqual(expect.arrayContaining(Object.values(CODES).flat()));
});
