/** The embedded archive's page: its forms, its previews, and names that are markup. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ArchiveUnderTest } from "../contract/conformance/archive-under-test.ts";
import { aBrowser, noBrowser } from "../fixtures/a-browser.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { brokenRules } from "./broken-rules.ts";
import { SLOW, soon, visit } from "./visit.ts";

let browser: Browser;
const isSkipped = noBrowser !== undefined && !process.env["CI"];
const HOSTILE = `"><img src=x onerror=alert(1)><b>b`;
const NAME = "&lt;b&gt;'.gif";
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==", "base64");

describe.skipIf(isSkipped)(
  `the embedded archive's page${isSkipped ? ` (${noBrowser})` : ""}`,
  SLOW,
  () => {
    beforeAll(async () => {
      browser = await aBrowser();
    });
    afterAll(async () => {
      await browser?.close();
    });

    test("makes a folder and sets an account's allowance; names are text", async () => {
      const accounts = [
        { key: "demo", secret: "demo" },
        { key: HOSTILE, secret: "s" },
      ];
      await using under = await ArchiveUnderTest.open({ accounts, quotaPages: 50 });
      await under.store("a.pdf", pdfOf(4));
      await under.archive.idle();
      await using visiting = await visit(browser, under.archive.url);
      const { page } = visiting;
      await page.getByText("4 of 50 pages used").waitFor();
      await page.getByLabel("Pages allowed").last().fill("7");
      await page.getByRole("button", { name: "Set" }).last().click();
      await page.getByText("0 of 7 pages used").waitFor();
      await page.getByLabel("Folder").last().fill(`/Scans/${HOSTILE}`);
      await page.getByRole("button", { name: "Create" }).last().click();
      await page.getByRole("link", { name: HOSTILE }).waitFor();
      expect(await page.locator("h2").last().textContent()).toContain(HOSTILE);
      expect(await brokenRules(page)).toEqual([]);
      await page.getByRole("link", { name: HOSTILE }).click();
      expect(await page.locator("h1").textContent()).toBe(`/Scans/${HOSTILE}`);
      expect(await page.locator("img, b").count()).toBe(0);
    });

    test("shows an image in a frame that runs nothing", async () => {
      await using under = await ArchiveUnderTest.open();
      const { id } = await under.store(NAME, GIF, { metadataTitle: HOSTILE });
      await using visiting = await visit(browser, `${under.archive.url}/documents/${id}`);
      const { page } = visiting;
      expect(await page.locator("h1").textContent()).toBe(NAME);
      expect(await page.locator("iframe").getAttribute("sandbox")).toBe("");
      await page.getByRole("cell", { name: HOSTILE }).waitFor();
      const image = page.frameLocator("iframe").locator("img");
      await soon(() =>
        image.evaluate((one: unknown) => (one as { naturalWidth: number }).naturalWidth),
      ).toBe(1);
      expect(await brokenRules(page)).toEqual([]);
    });

    test("shows a PDF in the browser's viewer", async () => {
      await using under = await ArchiveUnderTest.open();
      const { id } = await under.store("a.pdf", pdfOf(2));
      const page = await browser.newPage();
      await page.goto(`${under.archive.url}/documents/${id}`);
      const isViewer = () => page.frames().some((f) => f.url().startsWith("chrome-extension:"));
      await soon(async () => isViewer()).toBe(true);
      await page.close();
    });
  },
);
