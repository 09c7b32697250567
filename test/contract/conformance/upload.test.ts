import { expect, test } from "vitest";
import { asiceOf, pdfOf } from "../../fixtures/documents.ts";
import { signed, signedForm } from "../../fixtures/sign.ts";
import { ArchiveUnderTest, outcomeOf } from "./archive-under-test.ts";

const BOUNDARY = "boundary-of-the-test";
const HEADERS = { "content-type": `multipart/form-data; boundary=${BOUNDARY}` };

/** A multipart body out of parts as written: header line and content. */
function bodyOf(...parts: [disposition: string, content: string][]): string {
  const written = parts.map(
    ([disposition, content]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data${disposition}\r\n\r\n${content}\r\n`,
  );
  return `${written.join("")}--${BOUNDARY}--\r\n`;
}

function fieldParts(fields: Record<string, string>): [string, string][] {
  return signed(fields).map(([name, value]) => [`; name="${name}"`, value]);
}

test("the file part may lack a name", async () => {
  await using under = await ArchiveUnderTest.open();
  const body = bodyOf(...fieldParts({ filename: "a.txt" }), ['; filename="x"', "the content"]);
  expect(outcomeOf(await under.post("upload", body, HEADERS))).toBe("OK");
  expect(under.archive.documents()).toMatchObject([{ filename: "a.txt", size: 11 }]);
});

test.for([
  ['; name="file"; filename=""', "content", "OK", "an attribute without a value is there"],
  ['; name="__proto__"; filename="x"', "content", "MALFORMED_REQUEST", "no name of a part"],
  ['; name="file"; filename="x"', "", "NO_FILE_DATA", "an empty file has no content"],
  ['; name="sig2"', "content", "INVALID_SIG", "without a filename it is a field, and not signed"],
  ['; name="file"', "content", "NO_FILE_DATA", "the file's part needs a filename"],
  ["", "content", "NO_FILE_DATA", "it may lack a name, but not the filename as well"],
] as const)(
  "a last part with %s and content %j gives %s: %s",
  async ([part, content, expected]) => {
    await using under = await ArchiveUnderTest.open();
    const body = bodyOf(...fieldParts({ filename: "a.txt" }), [part, content]);
    expect(outcomeOf(await under.post("upload", body, HEADERS))).toBe(expected);
    expect(under.archive.documents()).toHaveLength(expected === "OK" ? 1 : 0);
  },
);

test("every part but the file's needs a name: with one without it nothing is stored", async () => {
  await using under = await ArchiveUnderTest.open();
  const file: [string, string] = ['; name="file"; filename="x"', "content"];
  const body = bodyOf(...fieldParts({ filename: "a.txt" }), ["", "nameless"], file);
  const reply = await under.post("upload", body, HEADERS);
  expect([reply.status, outcomeOf(reply)]).toEqual([400, "MALFORMED_REQUEST"]);
  expect(under.archive.documents()).toEqual([]);
});

test("the file is the last part: with a field or a file behind it nothing is stored", async () => {
  await using under = await ArchiveUnderTest.open();
  const parts = fieldParts({ filename: "a.txt" });
  const file: [string, string] = ['; name="file"; filename="x"', "first"];
  const following: [string, string][] = [
    ['; name="batch"', "b"],
    ['; name="f2"; filename="y"', "second"],
  ];
  for (const behind of following) {
    const reply = await under.post("upload", bodyOf(...parts, file, behind), HEADERS);
    expect([reply.status, outcomeOf(reply)]).toEqual([400, "MALFORMED_REQUEST"]);
  }
  expect(under.archive.documents()).toEqual([]);
  const early = bodyOf(file, ...parts);
  expect(outcomeOf(await under.post("upload", early, HEADERS))).toBe("MALFORMED_REQUEST");
});

test("no file part, or no multipart at all, is NO_FILE_DATA", async () => {
  await using under = await ArchiveUnderTest.open();
  const body = bodyOf(...fieldParts({ filename: "a.txt" }));
  expect(outcomeOf(await under.post("upload", body, HEADERS))).toBe("NO_FILE_DATA");
  const form = signedForm({ filename: "a.txt" });
  expect(outcomeOf(await under.post("upload", form))).toBe("NO_FILE_DATA");
});

test("a field may be far too long, and is refused for what it is", async () => {
  await using under = await ArchiveUnderTest.open();
  const outcome = async (fields: Record<string, string>) =>
    outcomeOf(await under.upload({ filename: "a.txt", ...fields }));
  expect(await outcome({ metadataTitle: "x".repeat(100_000) })).toBe("INVALID_METADATA_TITLE");
  expect(await outcome({ filename: "x".repeat(1_000_000) })).toBe("INVALID_FILENAME");
  expect(await outcome({ batch: "x".repeat(1_100_000) })).toBe("REQUEST_TOO_LARGE");
  const half = "x".repeat(600_000);
  expect(await outcome({ a: half, b: half })).toBe("REQUEST_TOO_LARGE");
});

test("a field is its text, whatever type its part says", async () => {
  await using under = await ArchiveUnderTest.open();
  const outcome = async (name: string, value: string, type: string) => {
    const rest = signed({ filename: "a.txt", [name]: value }).map(
      ([key, text]): [string, string] => [
        `; name="${key}"${key === name ? `\r\nContent-Type: ${type}` : ""}`,
        text,
      ],
    );
    const body = bodyOf(...rest, ['; filename="x"', "content"]);
    return outcomeOf(await under.post("upload", body, HEADERS));
  };
  const json = "application/json; charset=UTF-8";
  const values = ['{ "sum": 1.50 }', "not JSON", "12e3", "õun", ""];
  for (const value of values) expect(await outcome("metadataTitle", value, json)).toBe("OK");
  expect(under.archive.documents().map(({ title }) => title)).toEqual(values);
  expect(await outcome("folderId", "1", "application/json")).toBe("OK");
  expect(await outcome("folderId", "{}", "application/json")).toBe("INVALID_FOLDER_ID");
  expect(await outcome("batch", "x".repeat(37), json)).toBe("INVALID_BATCH");
  expect(await outcome("other", "x".repeat(1_100_000), json)).toBe("REQUEST_TOO_LARGE");
});

test("a refusal reaches a client that sends a large file", async () => {
  await using under = await ArchiveUnderTest.open({ maxFileSizeBytes: 1_000_000 });
  const large = Buffer.alloc(8_000_000, 1);
  const refusals = await Promise.all([
    under.upload({ filename: "a:b" }, large),
    under.upload({ filename: "a" }, large, { key: "demo", secret: "x" }),
    under.upload({ filename: "a" }, large),
  ]);
  expect(refusals.map(outcomeOf)).toEqual(["INVALID_FILENAME", "INVALID_SIG", "FILE_SIZE_TOO_BIG"]);
  expect(outcomeOf(await under.upload({ filename: "a" }, large.subarray(0, 1_000_000)))).toBe("OK");
  expect(outcomeOf(await under.upload({ filename: "a" }, large.subarray(0, 1_000_001)))).toBe(
    "FILE_SIZE_TOO_BIG",
  );
  expect(under.archive.documents()).toHaveLength(1);
});

test("the checks come in order: account, parameters, folder, plugin, size, allowance", async () => {
  await using under = await ArchiveUnderTest.open({
    reminderPlugin: false,
    maxFileSizeBytes: 10,
    quotaPages: 0,
  });
  const wrong = { key: "demo", secret: "x" };
  const fields: Record<string, string> = { filename: "a:b", path: "/none", expireDate: "1" };
  const outcome = async (file: string, credentials?: typeof wrong) =>
    outcomeOf(await under.upload(fields, file, credentials));
  expect(await outcome("x".repeat(11), wrong)).toBe("INVALID_SIG");
  expect(await outcome("x".repeat(11))).toBe("INVALID_FILENAME");
  fields["filename"] = "a.txt";
  expect(await outcome("x".repeat(11))).toBe("FOLDER_NOT_EXISTS");
  fields["path"] = "/";
  expect(await outcome("x".repeat(11))).toBe("PLUGIN_REMINDER_NOT_INSTALLED");
  under.archive.setReminderPlugin(true);
  expect(await outcome("x".repeat(11))).toBe("FILE_SIZE_TOO_BIG");
  expect(await outcome("")).toBe("NO_FILE_DATA");
  expect(await outcome("x")).toBe("QUOTA_LIMIT");
  under.archive.setQuota(1);
  expect(await outcome("x")).toBe("OK");
});

test("folderId wins over path", async () => {
  await using under = await ArchiveUnderTest.open({ folders: ["/A", "/B"] });
  const folderId = under.archive.createFolder("/A");
  const stored = await under.store("a.txt", "a", { folderId: String(folderId), path: "/B" });
  expect(stored.folderId).toBe(folderId);
});

test("the same file under the same name is another document every time", async () => {
  await using under = await ArchiveUnderTest.open();
  const first = await under.store("a.txt");
  const second = await under.store("a.txt");
  expect(second.id).not.toBe(first.id);
  expect(under.archive.documents()).toHaveLength(2);
});

test("everything that was sent is kept", async () => {
  await using under = await ArchiveUnderTest.open({ folders: ["/A/B"] });
  const metadata = {
    metadataTitle: "t",
    metadataAuthor: "a",
    metadataSubject: "s",
    metadataKeywords: "k",
    metadataProducer: "p",
    metadataDescription: "",
  };
  const fields = { path: "/A/B", batch: "b-1", expireDate: "1446713131000", ...metadata };
  await under.store("a.txt", "content", fields);
  expect(under.archive.documents()).toMatchObject([
    {
      folderPath: "/A/B",
      batch: "b-1",
      expireDate: 1446713131000,
      size: 7,
      title: "t",
      author: "a",
      subject: "s",
      keywords: "k",
      producer: "p",
      description: "",
      sha256: "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73",
    },
  ]);
});

test("the allowance is used up to the last page, also by uploads side by side", async () => {
  await using under = await ArchiveUnderTest.open({ quotaPages: 10 });
  const uploads = Array.from({ length: 6 }, (_, n) =>
    under.upload({ filename: `${n}.pdf` }, pdfOf(3)),
  );
  const outcomes = (await Promise.all(uploads)).map((reply) => String(outcomeOf(reply))).sort();
  expect(outcomes).toEqual(["OK", "OK", "OK", "QUOTA_LIMIT", "QUOTA_LIMIT", "QUOTA_LIMIT"]);
  expect(outcomeOf(await under.upload({ filename: "last.txt" }, "one page"))).toBe("OK");
  expect(outcomeOf(await under.upload({ filename: "more.txt" }, "one page"))).toBe("QUOTA_LIMIT");
  await under.archive.idle();
  expect(under.archive.pagesUsed()).toBe(10);
  under.archive.setQuota(11);
  expect(outcomeOf(await under.upload({ filename: "more.txt" }, "one page"))).toBe("OK");
  under.archive.setQuota(undefined);
  expect(outcomeOf(await under.upload({ filename: "free.pdf" }, pdfOf(100)))).toBe("OK");
});

test("a document without pages of its own costs one", async () => {
  await using under = await ArchiveUnderTest.open();
  await under.store("a.asice", asiceOf({ "a.txt": "a" }));
  await under.store("damaged.pdf", pdfOf(3).subarray(0, 100));
  await under.store("noise.bin", Buffer.from([0, 1, 2, 255]));
  await under.archive.idle();
  expect(under.archive.documents().map(({ pages, status }) => [pages, status])).toEqual([
    [1, "CONVERTED"],
    [1, "CONVERTED"],
    [1, "CONVERTED"],
  ]);
  expect(under.archive.pagesUsed()).toBe(3);
});
