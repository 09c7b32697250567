import { request } from "node:http";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { ArchiveUnderTest } from "../../contract/conformance/archive-under-test.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { asiceOf, pdfOf } from "../../fixtures/documents.ts";

const textOf = async (url: string) => (await fetch(url)).text();

describe("the page", () => {
  test("shows the tree, documents, pages and states, and nothing as markup", async () => {
    const folders = ["/<b>Arved/2026"];
    await using under = await ArchiveUnderTest.open({ folders, quotaPages: 50 });
    const place = { path: "/<b>Arved" };
    const { id, folderId } = await under.store("it's \u202e& co.pdf", pdfOf(4), place);
    await under.archive.idle();
    const response = await fetch(under.archive.url);
    const text = await response.text();
    expect(text).toContain(`<a href="/folders/${folderId}" title="/&#60;b&#62;Arved">`);
    expect(text).toContain(">2026</a> 0");
    expect(text).toContain("4 of 50 pages used");
    expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    const folder = await textOf(`${under.archive.url}/folders/${folderId}`);
    expect(folder).toContain(`<a href="/documents/${id}">it&#39;s \uFFFD&#38; co.pdf</a>`);
    expect(folder).toMatch(/CONVERTED<td class="number">4/);
    for (const page of [text, folder]) expect(page).not.toMatch(/<script|https?:|<b>/);
  });

  test("counts views and downloads, and reading the details is neither", async () => {
    await using under = await ArchiveUnderTest.open();
    const { id } = await under.store("a.pdf", pdfOf(2), { metadataTitle: "A title" });
    await under.archive.idle();
    const page = `${under.archive.url}/documents/${id}`;
    expect(await textOf(page)).toContain("A title");
    expect(await textOf(page)).toMatch(/Viewed<td>2/);
    for (let n = 0; n < 3; n++) await textOf(`${page}/content`);
    await under.ask("document", { id: String(id) });
    const { body } = await under.ask("document", { id: String(id) });
    expect(body["document"]).toMatchObject({ viewedTally: 2, downloadedTally: 3 });
    await under.archive.close();
    await using again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
    const later = await again.ask("document", { id: String(id) });
    expect(later.body["document"]).toMatchObject({ viewedTally: 2, downloadedTally: 3 });
  });

  test.for([
    ["a.pdf", pdfOf(1), "application/pdf", "a PDF says so"],
    ["a.html", Buffer.from("<script>alert(1)</script>"), "application/octet-stream", "markup runs"],
    ["a.svg", Buffer.from("<svg onload='alert(1)'/>"), "application/octet-stream", "so does SVG"],
    ["a.pdf", Buffer.from("<html>"), "application/octet-stream", "the name alone says nothing"],
    [
      "ö\", x='y'\r\n.txt".replaceAll(/["\r\n]/g, ""),
      Buffer.from("a"),
      "application/octet-stream",
      "a name with quotes",
    ],
  ] as [string, Buffer, string, string][])(
    "%s is saved as %#: %s",
    async ([filename, bytes, type]) => {
      await using under = await ArchiveUnderTest.open();
      const { id } = await under.store(filename, bytes);
      const response = await fetch(`${under.archive.url}/documents/${id}/content`);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
      const header = (name: string) => response.headers.get(name);
      expect(header("content-type")).toBe(type);
      expect(header("x-content-type-options")).toBe("nosniff");
      expect(header("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
      const [, written = ""] =
        /^attachment; filename\*=UTF-8''([\w.~%!-]+)$/.exec(header("content-disposition") ?? "") ??
        [];
      expect(decodeURIComponent(written)).toBe(filename);
    },
  );

  test("a preview's link is for one document, and expires", async () => {
    const clock = new ManualClock();
    await using under = await ArchiveUnderTest.open({ clock });
    const { id } = await under.store("a.pdf", pdfOf(1));
    const other = await under.store("b.pdf", pdfOf(2));
    const page = `${under.archive.url}/documents/${id}`;
    const [, given = ""] = /<iframe[^>]* src="([^"]+)"/.exec(await textOf(page)) ?? [];
    const link = under.archive.url + given.replaceAll("&#38;", "&");
    const shown = await fetch(link);
    expect([shown.status, Buffer.from(await shown.arrayBuffer())]).toEqual([200, pdfOf(1)]);
    const wrong = [
      link.replace(`/${id}/`, `/${other.id}/`),
      link.replace(/until=(\d+)/, (_, until) => `until=${Number(until) + 1}`),
      link.replace(/.$/, (digit) => (digit === "0" ? "1" : "0")),
      link.replace(/&signature.*/, ""),
      `${page}/preview`,
    ];
    for (const each of wrong) expect((await fetch(each)).status).toBe(404);
    await clock.advance(299_999);
    expect((await fetch(link)).status).toBe(200);
    await clock.advance(1);
    expect((await fetch(link)).status).toBe(404);
  });

  test.for([
    [pdfOf(1), "application/pdf", "inline"],
    [Buffer.from("GIF89a\x01\x00\x01\x00"), "image/gif", "inline"],
    [Buffer.from("II*\0"), "image/tiff", "attachment"],
    [Buffer.from("<svg onload='alert(1)'/>"), "application/octet-stream", "attachment"],
  ] as const)("a preview of %# is %s, %s", async ([bytes, type, disposition]) => {
    await using under = await ArchiveUnderTest.open();
    const { id } = await under.store("a.pdf", bytes);
    const text = await textOf(`${under.archive.url}/documents/${id}`);
    expect(text.includes("<iframe")).toBe(disposition === "inline");
    const [, link = `/documents/${id}/content`] = /<iframe[^>]* src="([^"]+)"/.exec(text) ?? [];
    const { headers } = await fetch(under.archive.url + link.replaceAll("&#38;", "&"));
    expect(headers.get("content-type")).toBe(type);
    expect(headers.get("content-disposition")).toMatch(new RegExp(`^${disposition};`));
    expect(headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test.for([
    ["quota", { account: "demo", pages: "-1" }, 400, "pages cannot be -1"],
    ["quota", { account: "<b>", pages: "1" }, 400, "there is no account &#34;&#60;b&#62;&#34;"],
    ["folders", { account: "demo", path: "<b>" }, 400, "&#60;b&#62;"],
    ["folders", {}, 400, "path cannot be missing"],
  ] as const)("/%s with %j gives %i: %s", async ([action, fields, status, message]) => {
    await using under = await ArchiveUnderTest.open();
    const body = new URLSearchParams(fields);
    const response = await fetch(`${under.archive.url}/${action}`, { method: "POST", body });
    expect(response.status).toBe(status);
    const text = await response.text();
    expect(text).toContain(message);
    expect(text).not.toContain("<b>");
  });

  test.for([
    [{ origin: "http://evil.example" }, "another site's form"],
    [{ origin: "null" }, "a form of a sandboxed page"],
    [{ "sec-fetch-site": "same-site" }, "a form of another port"],
    [{ host: "rebound.example" }, "another name for this host"],
    [{ "x-forwarded-for": "192.0.2.7" }, "a proxy"],
  ] as const)("a form with %j changes nothing: %s", async ([headers]) => {
    await using under = await ArchiveUnderTest.open();
    const asking = request(`${under.archive.url}/quota`, { method: "POST", headers });
    asking.setHeader("content-type", "application/x-www-form-urlencoded");
    const [response] = await once(asking.end("account=demo&pages=7"), "response");
    response.resume();
    expect(response.statusCode).toBe(404);
    expect(await textOf(under.archive.url)).toContain("0 pages used");
  });

  test("lists what is inside a digidoc", async () => {
    await using under = await ArchiveUnderTest.open();
    const { id } = await under.store("a.asice", asiceOf({ "x.txt": "a", "y.pdf": pdfOf(2) }));
    await under.archive.idle();
    const text = await textOf(`${under.archive.url}/documents/${id}`);
    expect(text).toMatch(/Inside \(2\)[^]*x\.txt[^]*y\.pdf<td class="number">2/);
  });

  test("shows a full folder page by page", async () => {
    await using under = await ArchiveUnderTest.open();
    const folderId = under.archive.createFolder("/");
    const names = Array.from({ length: 203 }, (_, n) => `${n}.txt`);
    for (const name of names) await under.store(name);
    const page = async (index: number) => {
      const text = await textOf(`${under.archive.url}/folders/${folderId}?page=${index}`);
      return [...text.matchAll(/>(\d+\.txt)</g)].map(([, name]) => name);
    };
    expect([...(await page(0)), ...(await page(1))]).toEqual(names.toReversed());
  });

  test.for([
    "/folders/999",
    "/folders/x",
    "/documents/999",
    "/documents/-1",
    "/documents/1/x",
    "/documents/1e3/content",
    "/blobs",
    "/documents/..%2f..%2fetc",
  ])("%s is not there", async (path) => {
    await using under = await ArchiveUnderTest.open();
    const response = await fetch(under.archive.url + path);
    expect(response.status).toBe(404);
  });

  test.for(["/", "/folders/1", "/documents/1", "/documents/1/content"])(
    "%s is only for the machine itself",
    async (path) => {
      await using under = await ArchiveUnderTest.open();
      await under.store("a.txt");
      for (const host of ["rebound.example", "localhost.example:80", "[::2]", "127.0.0.1@x"]) {
        const asking = request(under.archive.url + path, { headers: { host } });
        const [response] = await once(asking.end(), "response");
        response.resume();
        expect(response.statusCode).toBe(404);
      }
      expect((await fetch(under.archive.url + path)).status).toBe(200);
    },
  );

  test.for([
    [{ "x-forwarded-for": "192.0.2.7" }, "a proxy asks for anybody"],
    [{ "cf-connecting-ip": "192.0.2.7" }, "a tunnel does"],
    [{ via: "1.1 cache" }, "so does a cache"],
    [{ "sec-fetch-site": "cross-site" }, "another site's page asks"],
    [{ "sec-fetch-site": "same-site" }, "a page of another port does"],
    [{ origin: "http://evil.example" }, "and says so itself"],
  ] as const)("with %j nothing of it is there: %s", async ([headers]) => {
    await using under = await ArchiveUnderTest.open();
    const { id, folderId } = await under.store("a.txt");
    for (const path of [`/folders/${folderId}`, `/documents/${id}`, `/documents/${id}/content`]) {
      const asking = request(under.archive.url + path, { headers });
      const [response] = await once(asking.end(), "response");
      response.resume();
      expect(response.statusCode).toBe(404);
    }
  });
});
