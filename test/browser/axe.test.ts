/** What axe-core finds on the page: nothing, in each state, wide and narrow, light and dark. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aBrowser, noBrowser } from "../fixtures/a-browser.ts";
import { anOffice, fill, type Office, OFFICE_PAGES } from "../fixtures/an-office.ts";
import { brokenRules } from "./broken-rules.ts";
import { SLOW } from "./visit.ts";

let browser: Browser;
const isSkipped = noBrowser !== undefined && !process.env["CI"];
const DESK = { viewport: { width: 1400, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: "dark", locale: "de" } as const;

const listed = (page: Page) => page.locator("#documents tbody tr").first().waitFor();
const nothing = async () => {};

describe.skipIf(isSkipped)(
  `axe-core finds nothing${isSkipped ? ` (${noBrowser})` : ""}`,
  SLOW,
  () => {
    beforeAll(async () => {
      browser = await aBrowser();
    });
    afterAll(async () => {
      await browser?.close();
    });

    test.for([
      ["everything at once", fill, listed],
      ["empty", nothing, (page: Page) => page.locator("#places li").first().waitFor()],
      [
        "the history of a document",
        fill,
        async (page: Page) => {
          await page.getByRole("link", { name: "scan of a scan.pdf" }).click();
          await page.locator("#story-body .history").first().waitFor();
        },
      ],
      [
        "a question before an action",
        fill,
        async (page: Page) => {
          await page.locator("#headline-finding button").first().click();
          await page.locator("#ask-items li").first().waitFor();
        },
      ],
      [
        "opened findings, filters and tables",
        fill,
        async (page: Page) => {
          await listed(page);
          for (const summary of await page.locator("summary:visible").all()) await summary.click();
        },
      ],
    ] as [string, (office: Office) => Promise<void>, (page: Page) => Promise<void>][])(
      "%s",
      async ([, arrange, show]) => {
        await using office = await anOffice({ pages: OFFICE_PAGES });
        await arrange(office);
        for (const options of [DESK, PHONE] satisfies BrowserContextOptions[]) {
          const page = await browser.newPage(options);
          await page.goto(office.url);
          await show(page);
          expect(await brokenRules(page)).toEqual([]);
          await page.close();
        }
      },
    );

    test("a daemon that does not answer", async () => {
      await using office = await anOffice();
      await fill(office);
      const page = await browser.newPage(DESK);
      await page.goto(office.url);
      await listed(page);
      await office.dashboard.close();
      await page.locator("#lost").waitFor();
      expect(await brokenRules(page)).toEqual([]);
      await page.close();
    });

    test.for([
      ["the page on which to sign in", { token: "a-token-of-some-length" }, "/"],
      ["a receipt", {}, "/api/receipt?batch=9d417f0e-5c1d-4a8b-9e21-6d3f00c4a1b7&format=html"],
    ] as const)("%s", async ([, options, path]) => {
      await using office = await anOffice(options);
      await fill(office);
      const page = await browser.newPage(DESK);
      await page.goto(`${office.url}${path}`);
      await page.getByRole("heading", { level: path === "/" ? 2 : 1 }).waitFor();
      expect(await brokenRules(page)).toEqual([]);
      await page.close();
    });
  },
);
