/** The page for everybody: on a phone, in the dark, by keyboard, by ear. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aBrowser, noBrowser } from "../fixtures/a-browser.ts";
import { anOffice, fill, OFFICE_NOW, sent } from "../fixtures/an-office.ts";
import { contrastsOf, SLOW, soon, visit } from "./visit.ts";

let browser: Browser;
const isSkipped = noBrowser !== undefined && !process.env["CI"];
const focused = (page: Page) =>
  page.evaluate<string>("document.activeElement.id || document.activeElement.textContent");

describe.skipIf(isSkipped)(
  `the page for everybody${isSkipped ? ` (${noBrowser})` : ""}`,
  SLOW,
  () => {
    beforeAll(async () => {
      browser = await aBrowser();
    });
    afterAll(async () => {
      await browser?.close();
    });

    test.for([
      [320, "a small phone"],
      [390, "a phone"],
      [768, "a tablet"],
      [900, "just wide enough for tables"],
      [1280, "a desk"],
    ] as const)("at %i pixels nothing sticks out: %s", async ([width]) => {
      await using office = await anOffice();
      await fill(office);
      await office.carried(`${"averylongnamewithoutanyspace".repeat(8)}.pdf`, 1);
      await office.scans.held(`${"Müllwertstoffkreislauf".repeat(9)}.pdf`, "FILE_UNREADABLE");
      await using visiting = await visit(browser, office.url, { viewport: { width, height: 700 } });
      const { page } = visiting;
      await page.getByRole("link", { name: /averylongname/ }).waitFor();
      const widths = () =>
        page.evaluate<number[]>("[document.documentElement.scrollWidth, window.innerWidth]");
      expect(await widths()).toEqual([width, width]);
      await page.getByRole("link", { name: /averylongname/ }).click();
      await page.getByRole("heading", { name: "History" }).waitFor();
      const dialog = page.getByRole("dialog");
      expect(await dialog.evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0);
      expect(await widths()).toEqual([width, width]);
    });

    test.for([
      ["light", 0.85, 1],
      ["dark", 0, 0.15],
    ] as const)(
      "%s: the ground is so, and every text stands out from it",
      async ([scheme, low, high]) => {
        await using office = await anOffice();
        await fill(office);
        await using visiting = await visit(browser, office.url, { colorScheme: scheme });
        await visiting.page.getByRole("link", { name: "invoice 2240.pdf" }).waitFor();
        const { ground, faint } = await contrastsOf(visiting.page);
        expect(ground).toBeGreaterThanOrEqual(low);
        expect(ground).toBeLessThanOrEqual(high);
        // WCAG 2.2 AA: 4.5 to 1 for text.
        expect(faint).toEqual([]);
      },
    );

    test("in the browser's language, or in the one that is chosen and remembered", async () => {
      await using office = await anOffice();
      await fill(office);
      await using visiting = await visit(browser, office.url, { locale: "de-AT" });
      const { page } = visiting;
      await visiting.headline(/^1 Dokument fehlgeschlagen: vom Archiv abgelehnt \(NO_FILE_DATA\)$/);
      const headline = await page.locator("#headline").innerText();
      expect(headline).toMatch(/Das Archiv fand keinen Inhalt.*Seit\s+20\.11\.2026, 13:12/s);
      await page.getByRole("button", { name: "Senden anhalten" }).waitFor();
      await page.getByRole("link", { name: "scan of a scan.pdf" }).click();
      await page.getByRole("dialog").getByText("fehlgeschlagen", { exact: true }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("combobox", { name: "Sprache" }).selectOption("English");
      await visiting.headline(/^1 document failed/);
      await page.reload();
      await visiting.headline(/^1 document failed/);
      expect(await page.getAttribute("html", "lang")).toBe("en");
      expect(await page.locator("#headline").innerText()).toMatch(/Since\s+20 Nov 2026, 13:12/);
    });

    test("by keyboard alone: skip, pause, search, read, come back", async () => {
      await using office = await anOffice();
      await fill(office);
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      await page.getByRole("link", { name: "invoice 2240.pdf" }).waitFor();
      await page.keyboard.press("Tab");
      expect(await focused(page)).toBe("Skip to content");
      await page.keyboard.press("Enter");
      expect(await focused(page)).toBe("main");
      while ((await focused(page)) !== "pause") await page.keyboard.press("Tab");
      const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineWidth");
      expect(outline).toBe("3px");
      await page.keyboard.press("Space");
      await page.getByRole("button", { name: "Resume sending" }).waitFor();
      for (let presses = 0; (await focused(page)) !== "search"; presses++) {
        expect(presses).toBeLessThan(30);
        await page.keyboard.press("Tab");
      }
      await page.keyboard.type("invoice 2240");
      await soon(() => page.locator("#documents tbody tr").count()).toBe(1);
      for (const next of ["state", "mirror", "More filters", "invoice 2240.pdf"]) {
        await page.keyboard.press("Tab");
        expect(await focused(page)).toBe(next);
      }
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "History" }).waitFor();
      expect(await focused(page)).toBe("story-close");
      await page.keyboard.press("Escape");
      expect(await page.getByRole("dialog").count()).toBe(0);
      expect(await focused(page)).toBe("invoice 2240.pdf");
    });

    test("news do not take the focus away, and a screen reader is told politely", async () => {
      await using office = await anOffice();
      await fill(office);
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      const button = page.locator("#documents").getByRole("link", { name: "invoice 2240.pdf" });
      await button.focus();
      await office.carried("new.pdf", 0.1);
      office.changed();
      await page.getByRole("link", { name: "new.pdf" }).waitFor();
      expect(await focused(page)).toBe("invoice 2240.pdf");
      const live = page.getByRole("status").filter({ has: page.locator("#headline-title") });
      expect(await live.getAttribute("aria-live")).toBe("polite");
    });

    test("what is made again or moved keeps the focus that it had", async () => {
      await using office = await anOffice();
      await fill(office);
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      const documents = page.locator("#documents");
      await documents.getByRole("link", { name: "letter 1.pdf" }).focus();
      const [letter] = await office.journal.due({ state: "pending", now: OFFICE_NOW, limit: 1 });
      await office.happen(letter?.id ?? 0, 0, ...sent(9));
      office.changed();
      await documents
        .getByRole("row", { name: /letter 1.pdf .*Sent, not converted yet/ })
        .waitFor();
      expect(await focused(page)).toBe("letter 1.pdf");
      const receipt = page.locator("#batches").getByRole("link").first();
      await receipt.focus();
      await office.carried("new.pdf", 0);
      office.changed();
      await page
        .locator("#batches")
        .getByText(/^1 of /)
        .waitFor();
      expect(await focused(page)).toBe("Receipt");
    });

    test.for([[320], [1280]] as const)(
      "at %i pixels a screen reader finds headings, tables with their heads, and a name for all",
      async ([width]) => {
        await using office = await anOffice();
        await fill(office);
        await using visiting = await visit(browser, office.url, {
          viewport: { width, height: 700 },
        });
        const { page } = visiting;
        await page.getByRole("link", { name: "invoice 2240.pdf" }).waitFor();
        const tree = await page.locator("body").ariaSnapshot();
        const nameless = tree
          .split("\n")
          .filter((line) =>
            /^\s*- '?(?:button|link|searchbox|combobox|img|progressbar|table)(?::|$)/.test(line),
          );
        expect(nameless).toEqual([]);
        expect(tree).toMatch(/- '?heading "1 document failed: .*\[level=2\]/);
        expect(tree).toMatch(/- table "The queue":/);
        expect(tree).toMatch(/- columnheader "held"/);
        expect(tree).toMatch(/- rowheader "scans/);
        expect(tree).toMatch(
          /- '?img "Documents per hour: \d+ documents in all, at most \d+ documents"/,
        );
        expect(tree).toMatch(/- progressbar "\d+ of \d+/);
        expect(tree).toMatch(/- '?button "Retry: 1 document failed/);
        expect(await page.locator("html").getAttribute("lang")).toBe("en");
      },
    );

    test("each plot is a table, too", async () => {
      await using office = await anOffice();
      await fill(office);
      await using visiting = await visit(browser, office.url);
      const plot = visiting.page.getByRole("figure").first();
      await plot.getByText("As a table").click();
      expect(await plot.getByRole("row").count()).toBe(25);
      expect(await plot.locator("rect").count()).toBe(24);
    });
  },
);
