import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PATHS } from "../../../src/wire/shapes.ts";
import { asiceOf, pdfOf } from "../../fixtures/documents.ts";
import { DEMO, signed, signedForm } from "../../fixtures/sign.ts";
import { ArchiveUnderTest, outcomeOf } from "./archive-under-test.ts";

const INVOICE = pdfOf(3, { title: "From the file", author: "Its author" });
const JSON_TYPE = "application/json;charset=UTF-8";

describe("what the operations return", () => {
  let under: ArchiveUnderTest;
  let pdf: { id: number; folderId: number };
  let digidoc: { id: number };
  let folderId: number;

  beforeAll(async () => {
    under = await ArchiveUnderTest.open({ folders: ["/Scans"] });
    folderId = under.archive.createFolder("/Scans/2026");
    pdf = await under.store("Invoice.v2.pdf", INVOICE, {
      path: "/Scans/2026",
      metadataTitle: "From the upload",
      metadataDescription: "",
    });
    digidoc = await under.store("contract.asice", asiceOf({ "b.txt": "bb", "a.pdf": pdfOf(2) }));
    await under.archive.idle();
  });
  afterAll(() => under[Symbol.asyncDispose]());

  test("upload returns the document as UPLOADED, with pages and filesize 0", async () => {
    await using fresh = await ArchiveUnderTest.open({ convertDelayMs: 60_000 });
    const { body, type, status } = await fresh.upload({ filename: "scan.0001.pdf" }, pdfOf(2));
    expect({ type, status }).toEqual({ type: JSON_TYPE, status: 200 });
    expect(body).toEqual({
      response: "OK",
      document: {
        id: expect.any(Number),
        folderId: expect.any(Number),
        digidoc: false,
        documentName: "scan.0001",
        filename: "scan.0001.pdf",
        createdDate: expect.any(Number),
        uploadedDate: expect.any(Number),
        pages: 0,
        filesize: 0,
        status: "UPLOADED",
      },
    });
  });

  test("document info: what was uploaded replaces what the file says, the rest is the file's", async () => {
    const { body } = await under.ask("document", { id: String(pdf.id) });
    expect(body).toEqual({
      response: "OK",
      document: {
        id: pdf.id,
        folderId,
        digidoc: false,
        documentName: "Invoice.v2",
        filename: "Invoice.v2.pdf",
        createdDate: expect.any(Number),
        uploadedDate: expect.any(Number),
        pages: 3,
        filesize: INVOICE.length,
        status: "CONVERTED",
        title: "From the upload",
        author: "Its author",
        producer: "scanferry samples",
        description: "",
        modifiedDate: expect.any(Number),
        viewedTally: 0,
        downloadedTally: 0,
      },
    });
  });

  test("document list shows one folder's documents", async () => {
    const { body } = await under.ask("documents", { folderId: String(folderId) });
    expect(body).toMatchObject({
      paginationSize: 100,
      paginationPages: 1,
      documents: [{ id: pdf.id, folderId, pages: 3, status: "CONVERTED" }],
    });
    expect(body).not.toHaveProperty("responseDescription");
  });

  test("digidoc list shows what is inside, with digidocId and without status", async () => {
    const fields = { digidocId: String(digidoc.id), sortBy: "NAME" };
    const { body } = await under.ask("digidoc", fields);
    expect(body["documents"]).toEqual([
      expect.objectContaining({
        filename: "a.pdf",
        documentName: "a",
        digidocId: digidoc.id,
        pages: 2,
      }),
      expect.objectContaining({ filename: "b.txt", filesize: 2, digidocId: digidoc.id, pages: 1 }),
    ]);
    for (const item of body["documents"] as { id: number }[]) {
      expect(item).not.toHaveProperty("status");
      const { document } = (await under.ask("document", { id: String(item.id) })).body;
      expect(document).toMatchObject({ digidocId: digidoc.id, status: "CONVERTED" });
    }
    const info = await under.ask("document", { id: String(digidoc.id) });
    expect(info.body).toMatchObject({ document: { digidoc: true } });
  });

  test("what is inside a digidoc is in no folder's list", async () => {
    const { body } = await under.ask("documents");
    expect(body).toMatchObject({ documents: [{ id: digidoc.id }] });
  });

  test("digidoc list refuses what is no converted digidoc", async () => {
    expect(outcomeOf(await under.ask("digidoc", { digidocId: String(pdf.id) }))).toBe(
      "DOC_NOT_EXIST",
    );
    await using slow = await ArchiveUnderTest.open({ convertDelayMs: 60_000 });
    const { id } = await slow.store("a.asice", asiceOf({ "a.txt": "a" }));
    expect(outcomeOf(await slow.ask("digidoc", { digidocId: String(id) }))).toBe("DOC_NOT_EXIST");
  });

  test("folder list and folder info", async () => {
    const root = await under.ask("folder");
    expect(root.body["folder"]).toMatchObject({ root: true, name: "/", description: "" });
    expect(root.body["folder"]).not.toHaveProperty("parentId");
    const { body } = await under.ask("folders");
    const rootId = (root.body["folder"] as { id: number }).id;
    const scans = { id: expect.any(Number), parentId: rootId, name: "Scans", root: false };
    expect(body["folders"]).toEqual([{ ...scans, createdDate: expect.any(Number) }]);
    under.archive.createFolder("/Scans/2026", { index: "7-1", keywords: "k", expireDate: 5 });
    const info = await under.ask("folder", { id: String(folderId) });
    expect(info.body["folder"]).toEqual({
      id: folderId,
      parentId: expect.any(Number),
      name: "2026",
      root: false,
      createdDate: expect.any(Number),
      index: "7-1",
      month: expect.any(Number),
      year: expect.any(Number),
      description: "",
      keywords: "k",
      expireDate: 5,
    });
  });
});

describe("errors", () => {
  test.for([
    ["bare", 200, "FOLDER_NOT_EXISTS", "the defaults"],
    ["object", 400, { code: "FOLDER_NOT_EXISTS" }, "the other way that the interface leaves open"],
  ] as const)("style %s, status %i: %s", async ([errorStyle, errorHttp, description]) => {
    await using under = await ArchiveUnderTest.open({ errorStyle, errorHttp });
    const { status, type, body } = await under.ask("folder", { id: "999" });
    expect({ status, type }).toEqual({ status: errorHttp, type: JSON_TYPE });
    expect(body).toEqual({ response: "ERROR", responseDescription: description });
  });

  test.for(["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])(
    "%s is refused as JSON",
    async (method) => {
      await using under = await ArchiveUnderTest.open();
      for (const path of Object.values(PATHS)) {
        const body = method === "PUT" ? "some=thing" : null;
        const response = await fetch(under.archive.url + path, { method, body });
        expect(response.status).toBe(405);
        expect(response.headers.get("allow")).toBe("POST");
        expect(response.headers.get("content-type")).toBe(JSON_TYPE);
        expect(await response.json()).toMatchObject({ responseDescription: "METHOD_NOT_ALLOWED" });
      }
    },
  );

  test("bodies of another type are refused, and so are addresses that are none", async () => {
    await using under = await ArchiveUnderTest.open();
    const json = await under.post("search", "{}", { "content-type": "application/json" });
    expect([json.status, outcomeOf(json)]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    const response = await fetch(`${under.archive.url}/api/v0_5/search.html`, { method: "POST" });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ responseDescription: "NOT_FOUND" });
  });
});

describe("authentication", () => {
  const query: [string, string][] = [["query", "Ära a&b=c +%"]];
  const right = signed(query);
  const sigOf = (fields: [string, string][]) => fields.at(-1)?.[1] ?? "";
  test.for([
    [right, "OK", "signed as it should be"],
    [right.toReversed(), "OK", "the order of sending does not count"],
    [signed([...query, ["acc", "1"], ["äcc", "2"], ["Zcc", "3"]]), "OK", "sorted by bytes"],
    [signed([...query, ["x", "2"], ["x", "1"]]), "OK", "a name sent twice is signed twice"],
    [signed(query, { key: "nobody", secret: "demo" }), "INVALID_ACC_KEY", "no such account"],
    [[["sig", "x"]], "INVALID_ACC_KEY", "no key"],
    [[["acc_key", "demo"]], "INVALID_SIG", "no signature"],
    [signed(query, { key: "demo", secret: "other" }), "INVALID_SIG", "another secret"],
    [[...right, ["pagesEnd", "1"]], "INVALID_SIG", "a field that was not signed"],
    [[["query", "x"], ...right.slice(1)], "INVALID_SIG", "a changed value"],
    [[...right.slice(0, -1), ["sig", sigOf(right).slice(0, -1)]], "INVALID_SIG", "cut short"],
    [[...right.slice(0, -1), ["sig", ""]], "INVALID_SIG", "blank"],
    [[...query, ["acc_key", "demo"], ["sig", "none"]], "INVALID_SIG", "required by default"],
  ] as [[string, string][], string, string][])("%j gives %s: %s", async ([fields, expected]) => {
    await using under = await ArchiveUnderTest.open();
    expect(outcomeOf(await under.post("search", new URLSearchParams(fields)))).toBe(expected);
  });

  test("sig=none passes where signatures are not required, a wrong one still does not", async () => {
    await using under = await ArchiveUnderTest.open({ requireSignature: false });
    const ask = async (sig: string) =>
      outcomeOf(await under.post("folder", new URLSearchParams({ acc_key: "demo", sig })));
    expect(await ask("none")).toBe("OK");
    expect(await ask("wrong")).toBe("INVALID_SIG");
    expect(outcomeOf(await under.ask("folder"))).toBe("OK");
  });

  test("accounts see nothing of one another", async () => {
    const other = { key: "other", secret: "s" };
    await using under = await ArchiveUnderTest.open({ accounts: [DEMO, other], folders: ["/A"] });
    const { id, folderId } = await under.store("a.txt", "a", { path: "/A" });
    const ask = async (...of: Parameters<typeof under.ask>) => outcomeOf(await under.ask(...of));
    expect(await ask("document", { id: String(id) }, other)).toBe("DOC_NOT_EXIST");
    expect(await ask("documents", { folderId: String(folderId) }, other)).toBe("FOLDER_NOT_EXISTS");
    const { body } = await under.post("search", signedForm({}, other));
    expect(body).toMatchObject({ documents: [], folders: [{ root: true }, { name: "A" }] });
    expect(under.archive.documents("other")).toEqual([]);
  });
});
