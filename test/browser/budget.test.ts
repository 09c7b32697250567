/** The page budget on the page: what is used, kept and left, on any screen. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aBrowser, noBrowser } from "../fixtures/a-browser.ts";
import { anOffice, fill, OFFICE_NOW, OFFICE_PAGES } from "../fixtures/an-office.ts";
import { reportOf } from "../unit/dashboard/open-dashboard.ts";
import { contrastsOf, SLOW, soon, visit } from "./visit.ts";

let browser: Browser;
const isSkipped = noBrowser !== undefined && !process.env["CI"];
const HOUR = 3_600_000;

const bar = (page: Page) => page.locator("#budget").getByRole("img");

/** How much of the bar each of its parts takes. */
const shares = (page: Page) =>
  page.evaluate<number[]>(`(() => {
    const bar = document.querySelector("#budget .bar");
    return [...bar.children].map((part) => part.getBoundingClientRect().width / bar.clientWidth);
  })()`);

const facts = async (page: Page) => {
  const rows = await page.locator("#budget .facts > div").all();
  return Promise.all(rows.map((row) => row.locator("dt, dd").allTextContents()));
};

describe.skipIf(isSkipped)(
  `the page budget in a browser${isSkipped ? ` (${noBrowser})` : ""}`,
  SLOW,
  () => {
    beforeAll(async () => {
      browser = await aBrowser();
    });
    afterAll(async () => {
      await browser?.close();
    });

    test("is drawn: used, reserved, the rest; with what is left and when it is renewed", async () => {
      await using office = await anOffice({ pages: OFFICE_PAGES });
      await fill(office);
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      const { used, left } = await allowanceOf(page);
      expect(used).toBeGreaterThan(6_000);
      const [usedShare = 0, reserved = 0] = await shares(page);
      expect(usedShare).toBeCloseTo(used / 8_000, 2);
      expect(reserved).toBeCloseTo(500 / 8_000, 2);
      expect(await bar(page).getAttribute("aria-label")).toBe(
        `${used.toLocaleString("en")} of 8,000 pages used; 500 of 500 pages for contracts; renewed Dec 1`,
      );
      const head = await page.locator("#budget .left").innerText();
      expect(head).toContain(`${left.toLocaleString("en")} pages left of 8,000`);
      expect(head).toContain("renewed Dec 1, in 10 days");
      expect(await facts(page)).toEqual([
        ["Used", `${used.toLocaleString("en")} pages (80\u00a0%)`],
        ["Reserved", "500 of 500 pages for contracts"],
        ["Waiting", "21 pages"],
        ["Used up", expect.stringMatching(/^Nov 2\d, in \d days at this rate$/) as string],
      ]);
      await page
        .locator("#budget")
        .getByText(/^80 % of .* is used/)
        .waitFor();
    });

    test("a document that is carried moves it, without a reload", async () => {
      const pages = { ...OFFICE_PAGES, monthlyPages: 100, reserve: undefined };
      await using office = await anOffice({ pages });
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      await page.getByText("100 pages left of 100").waitFor();
      expect(await shares(page)).toEqual([]);
      await office.carried("thick.pdf", 1, 99);
      office.changed();
      await page.getByText("1 page left of 100").waitFor();
      await soon(async () => (await shares(page))[0]).toBeCloseTo(0.99, 2);
      await office.carried("too much.pdf", 1, 7);
      office.changed();
      await page.getByText("0 pages left of 100").waitFor();
      expect(await facts(page)).toEqual([["Used", "106 pages (106\u00a0%)"]]);
      expect((await shares(page))[0]).toBe(1);
      await page
        .locator("#budget")
        .getByText(/^Buy pages and raise/)
        .waitFor();
    });

    test("of several archives each has its own; one without an allowance has none", async () => {
      const allowance = {
        pages: 1_000,
        used: 250,
        left: 750,
        level: "ok" as const,
        runsOutAt: null,
        whenUsedUp: "hold" as const,
        reserve: null,
        keeps: { documents: 2, mirrors: ["legal"] },
        problem: null,
      };
      const [main] = reportOf().archives;
      const [scans] = reportOf().mirrors;
      if (!main || !scans) throw new Error("no archive");
      const waiting = { documents: 3, pages: 800, unknown: 1 };
      const sums = { today: 0, month: 250, saved: 0, waiting };
      const report = reportOf({
        archives: [
          main,
          { ...main, name: "legal", allowance },
          {
            ...main,
            name: "main-two",
            allowance: { ...allowance, keeps: { documents: 0, mirrors: [] } },
          },
        ],
        mirrors: [scans, { ...scans, name: "legal", archive: "legal" }],
        pages: {
          ...reportOf().pages,
          to: OFFICE_NOW + 30 * HOUR,
          mirrors: [{ mirror: "legal", ...sums }],
        },
      });
      await using office = await anOffice({ status: async () => report });
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      await page.locator("#budget").waitFor();
      expect(await page.locator("#budget h3").allTextContents()).toEqual(["legal", "main-two"]);
      expect(await facts(page)).toEqual([
        ["Used", "250 pages (25\u00a0%)"],
        ["Waiting", "800 pages and 1 document not counted, more than are left"],
        ["Kept back", "2 documents of legal, until the month is renewed"],
        ["Used", "250 pages (25\u00a0%)"],
      ]);
    });

    test("without an allowance nothing is said of one", async () => {
      await using office = await anOffice();
      await office.carried("a.pdf", 1);
      await using visiting = await visit(browser, office.url);
      await visiting.headline(/in the archive$/);
      expect(await visiting.page.locator("#budget").isVisible()).toBe(false);
    });

    test.for([
      [320, "light"],
      [320, "dark"],
      [1280, "light"],
      [1280, "dark"],
    ] as const)(
      "at %i pixels, %s: nothing sticks out, every text stands out",
      async ([width, colorScheme]) => {
        const mirrors = ["averylongnameofamirrorwithoutanyspace".repeat(4), "contracts"];
        const pages = { ...OFFICE_PAGES, reserve: { pages: 500, mirrors } };
        await using office = await anOffice({ pages });
        await fill(office);
        const viewport = { width, height: 700 };
        await using visiting = await visit(browser, office.url, { viewport, colorScheme });
        const { page } = visiting;
        await bar(page).waitFor();
        const widths = "[document.documentElement.scrollWidth, window.innerWidth]";
        expect(await page.evaluate<number[]>(widths)).toEqual([width, width]);
        expect((await contrastsOf(page)).faint).toEqual([]);
        const box = await bar(page).boundingBox();
        expect(box?.height).toBeGreaterThan(7);
        expect(box?.width).toBeGreaterThan(0.7 * width);
      },
    );

    test("in forced colours the bar is still drawn", async () => {
      await using office = await anOffice({ pages: OFFICE_PAGES });
      await fill(office);
      await using visiting = await visit(browser, office.url, { forcedColors: "active" });
      const { page } = visiting;
      await bar(page).waitFor();
      const [used, ground] = await page.evaluate<string[]>(`[".bar .used", "#budget"].map((one) =>
        getComputedStyle(document.querySelector(one)).backgroundColor)`);
      expect(used).not.toBe(ground);
      expect(used).not.toBe("rgba(0, 0, 0, 0)");
    });
  },
);

/** What the daemon says of it. */
async function allowanceOf(page: Page): Promise<{ used: number; left: number }> {
  await bar(page).waitFor();
  type Told = { pages: { allowance: { used: number; left: number } } };
  const { pages } = await page.evaluate<Told>("fetch('/api/status').then((it) => it.json())");
  return pages.allowance;
}
