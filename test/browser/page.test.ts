/** The page in a real browser: what a person sees, does, hears and is spared. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Outcome } from "../../src/domain/outcome.ts";
import { AS_NEW } from "../../src/domain/adopt.ts";
import { ANYWAY } from "../../src/domain/settle.ts";
import { systemClock } from "../../src/std/clock.ts";
import { UploadMeter } from "../../src/dashboard/upload-meter.ts";
import { aBrowser, noBrowser } from "../fixtures/a-browser.ts";
import type { ShownDocument } from "../../src/sync/first-run-choice.ts";
import { seenOf } from "../contract/journal-desk.ts";
import { anOffice, fill, OFFICE_NOW, sent } from "../fixtures/an-office.ts";
import { aSeveringProxy } from "../fixtures/severing-proxy.ts";
import { freePort } from "../fixtures/free-port.ts";
import { SLOW, soon, visit } from "./visit.ts";

let browser: Browser;
const rowOf = (page: Page, name: string | RegExp) =>
  page.locator("#documents").getByRole("row").filter({ hasText: name });

// Where CI says so a missing browser is a failure.
const isSkipped = noBrowser !== undefined && !process.env["CI"];

describe.skipIf(isSkipped)(
  `the page in a browser${isSkipped ? ` (${noBrowser})` : ""}`,
  SLOW,
  () => {
    beforeAll(async () => {
      browser = await aBrowser();
    });
    afterAll(async () => {
      await browser?.close();
    });

    test("what is journaled comes up by itself", async () => {
      await using office = await anOffice();
      await using visiting = await visit(browser, office.url);
      await visiting.headline(/^Waiting for the first scan$/);
      await office.carried("first.pdf", 1);
      office.changed();
      await visiting.headline(/^The one document is in the archive$/);
      await rowOf(visiting.page, "first.pdf").waitFor();
      await office.ready("second.pdf", 1);
      office.changed();
      await visiting.headline(/^1 document on the way$/);
      await visiting.page.getByText("1 document ready and waiting for a turn.").waitFor();
    });

    test("a name that is searched for is found, with its whole history", async () => {
      await using office = await anOffice();
      await fill(office);
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      await page.getByRole("searchbox", { name: "File name" }).fill("INVOICE 2240");
      await soon(() => page.locator("#documents tbody tr").count()).toBe(1);
      await page.getByRole("link", { name: "invoice 2240.pdf" }).click();
      const dialog = page.getByRole("dialog", { name: "2026/Invoices/invoice 2240.pdf" });
      await dialog.getByRole("heading", { name: "History" }).waitFor();
      const steps = await dialog.locator("ol").first().locator(".step").allTextContents();
      expect(steps).toEqual(["seen: settling", "pending", "uploading", "uploaded", "converted"]);
      await dialog.getByText(/^folder 17, document \d+$/).waitFor();
      await dialog.getByRole("button", { name: "Close" }).click();
      expect(await page.getByRole("dialog").count()).toBe(0);
    });

    test("a history that comes late is not shown under another document's name", async () => {
      await using office = await anOffice();
      await office.carried("slow.pdf", 3);
      await office.carried("quick.pdf", 2);
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      const late = Promise.withResolvers<void>();
      let asked = 0;
      await page.route("**/api/document?*", async (route) => {
        if (++asked === 1) await late.promise;
        await route.continue();
      });
      await page.getByRole("link", { name: "slow.pdf" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await page.getByRole("link", { name: "quick.pdf" }).click();
      const facts = page.getByRole("dialog").locator("dl");
      const sha256 = await facts.locator("code").first().innerText();
      const answered = page.waitForResponse(/\/api\/document\?/);
      late.resolve();
      await (await answered).finished();
      // After the answer was dealt with.
      await page.evaluate("new Promise((done) => setTimeout(done))");
      expect(await facts.locator("code").first().innerText()).toBe(sha256);
    });

    test("a retry asks once, says what it sends, does it and reports it", async () => {
      await using office = await anOffice();
      await fill(office);
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      await visiting.headline(/^1 document failed: the archive rejected it \(NO_FILE_DATA\)$/);
      await page.getByRole("button", { name: /^Retry: 1 document failed/ }).click();
      const dialog = page.getByRole("dialog", { name: "Retry" });
      expect(await dialog.innerText()).toMatch(/counts about 3 pages[^]*scan of a scan\.pdf/);
      await page.keyboard.press("Escape");
      expect((await office.journal.counts()).map(({ state }) => state)).toContain("failed");
      await page.getByRole("button", { name: /^Retry: 1 document failed/ }).click();
      await dialog.getByRole("button", { name: "Retry" }).click();
      await page.getByText("1 document put back in the queue.").waitFor();
      await visiting.headline(/^2 documents are held: FOLDER_MISSING$/);
      const folders = await page.locator("#headline pre").innerText();
      expect(folders.trim()).toBe("/Scans/Contracts/2026");
      await page.getByRole("button", { name: /^Retry all 2/ }).click();
      await page.getByText("2 documents put back in the queue.").waitFor();
      expect((await office.journal.counts()).map(({ state }) => state)).not.toContain("held");
    });

    test("what the archive may have is linked or sent as new, as it is shown, and asked for once", async () => {
      const linked: (readonly ShownDocument[])[] = [];
      await using office = await anOffice({
        adopt: async (shown) => {
          linked.push(shown);
          return { documents: 1, unclear: shown.length - 1, changed: 0 };
        },
      });
      const message = "the archive holds it in that folder already (document 7)";
      const ids: number[] = [];
      for (const name of ["<b>one</b>.pdf".replace("/", "\u2215"), "two.pdf", "three.pdf"]) {
        const { id } = await office.ready(name, 3);
        ids.push(id);
        const problem = { code: "FIRST_RUN", message };
        await office.happen(id, 2, { type: "heldBack", at: 0, dueAt: null, problem });
      }
      const [one = 0, two = 0, three = 0] = ids;
      const digestOf = async (id: number) => (await office.journal.document(id))?.digest;
      await using visiting = await visit(browser, `${office.url}/?document=${one}`);
      const { page } = visiting;
      const story = page.getByRole("dialog", { name: "<b>one<\u2215b>.pdf" });
      await story.getByRole("button", { name: "Send as a new document" }).click();
      const asking = page.getByRole("dialog", { name: "Send as a new document" });
      expect(await asking.innerText()).toMatch(/about 3 pages\. If the archive has .* twice/);
      await asking.getByRole("button", { name: "Cancel" }).click();
      expect(await office.journal.document(one)).toMatchObject({ state: "held", remark: null });
      await page.getByRole("link", { name: /one/ }).click();
      await story.getByRole("button", { name: "Send as a new document" }).click();
      await asking.getByRole("button", { name: "Send as a new document" }).click();
      await page.getByText("1 document put back in the queue, to be sent as new.").waitFor();
      expect(await office.journal.document(one)).toMatchObject({
        state: "pending",
        remark: AS_NEW,
      });

      await visiting.headline(/^2 documents are held: FIRST_RUN$/);
      await page.getByRole("button", { name: /^They are the same 2 documents/ }).click();
      const all = page.getByRole("dialog", { name: "They are the same 2 documents" });
      expect(await all.innerText()).toMatch(/Nothing is sent[^]*three\.pdf[^]*two\.pdf/);
      await all.getByRole("button", { name: "They are the same 2 documents" }).click();
      await page.getByText(/^1 document linked to the archive's\. 1 document left held/).waitFor();
      expect(linked).toEqual([
        [
          { id: three, digest: await digestOf(three) },
          { id: two, digest: await digestOf(two) },
        ],
      ]);

      // What was shown is compared with what is there when it is done.
      await page.getByRole("button", { name: /^Send all 2 as new documents/ }).click();
      const both = page.getByRole("dialog", { name: "Send all 2 as new documents" });
      await both.getByText("two.pdf").waitFor();
      const written = { type: "changed", at: 0, dueAt: 0, seen: seenOf(9, "another") } as const;
      await office.happen(two, 1, written);
      await both.getByRole("button", { name: "Send all 2 as new documents" }).click();
      await page.getByText("1 document left alone: changed since this page showed them.").waitFor();
      expect(await office.journal.document(two)).toMatchObject({ state: "settling", remark: null });
      expect(await office.journal.document(three)).toMatchObject({ remark: AS_NEW });
    });

    test("what is unfinished by its format is sent as it is by a button of its own", async () => {
      await using office = await anOffice();
      const { scans } = office;
      const problem = { code: "FILE_INCOMPLETE", message: "looks unfinished by its format" };
      const ids: number[] = [];
      for (const name of ["cut.pdf", "cut too.pdf", "cut, as well.pdf"]) {
        const { id } = await scans.add(name, { at: OFFICE_NOW });
        ids.push(id);
        await scans.after(id, { type: "heldBack", at: OFFICE_NOW, dueAt: null, problem });
      }
      const [one = 0, ...others] = ids;
      await using visiting = await visit(browser, `${office.url}/?document=${one}`);
      const { page } = visiting;
      await page.getByRole("dialog", { name: "cut.pdf" }).waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Send anyway" }).click();
      const asking = page.getByRole("dialog", { name: "Send anyway" });
      await asking.getByRole("button", { name: "Send anyway" }).click();
      await page.getByText("1 document sent as it is, unless the file changes first.").waitFor();
      const sentOne = await office.journal.document(one);
      expect(sentOne).toMatchObject({ state: "settling", remark: ANYWAY });
      await visiting.headline(/^2 documents are held: FILE_INCOMPLETE$/);
      await page.getByRole("button", { name: /^Send all 2 anyway/ }).click();
      const all = page.getByRole("dialog", { name: "Send all 2 anyway" });
      await all.getByRole("button", { name: "Send all 2 anyway" }).click();
      await page
        .getByText("2 documents sent as they are, unless the file changes first.")
        .waitFor();
      for (const id of others)
        expect(await office.journal.document(id)).toMatchObject({ remark: ANYWAY });
    });

    test("a filter and a document have an address each", async () => {
      await using office = await anOffice();
      await fill(office);
      await using visiting = await visit(browser, `${office.url}/?mirror=scans&state=pending`);
      const { page } = visiting;
      const rows = page.locator("#documents tbody tr");
      await soon(() => rows.count()).toBe(5);
      await page.locator("#state").selectOption("failed");
      await soon(() => rows.count()).toBe(1);
      expect(new URL(page.url()).search).toBe("?state=failed&mirror=scans");
      await page.getByText("2 documents are held").click();
      await page.getByRole("button", { name: /^Show the documents: 2 documents/ }).click();
      await soon(() => rows.count()).toBe(2);
      expect(new URL(page.url()).search).toBe("?state=held&code=FOLDER_MISSING");
      await page.reload();
      await soon(() => rows.count()).toBe(2);
      const link = page.getByRole("link", { name: "lease.pdf" });
      await page.goto(new URL((await link.getAttribute("href")) ?? "", office.url).href);
      await page.getByRole("dialog", { name: "Contracts/2026/lease.pdf" }).waitFor();
    });

    test("the list is turned page by page, and sorted", async () => {
      await using office = await anOffice();
      await fill(office);
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      const rows = page.locator("#documents tbody tr");
      const names = () => page.locator("#documents .name a").allTextContents();
      const [next, previous] = ["Next", "Previous"].map((name) =>
        page.getByRole("button", { name }),
      );
      await soon(() => rows.count()).toBe(25);
      const first = await names();
      expect(await previous?.isEnabled()).toBe(false);
      await next?.click();
      await soon(names).not.toEqual(first);
      await next?.click();
      await soon(() => rows.count()).toBe(2);
      expect(await next?.isEnabled()).toBe(false);
      await previous?.click();
      await soon(() => rows.count()).toBe(25);
      await page.getByText("More filters").click();
      await page.getByLabel("Sort").selectOption("By folder and name");
      await soon(async () => (await names()).slice(0, 2)).toEqual([
        "invoice 2210.pdf",
        "invoice 2211.pdf",
      ]);
      expect(new URL(page.url()).search).toBe("?sort=name");
      await page.getByLabel("Sort").selectOption("By state");
      await soon(async () => (await names()).slice(0, 2)).toEqual(["letter 5.pdf", "letter 4.pdf"]);
    });

    test("a search that takes long shows what it has, and goes on until the page is full", async () => {
      await using office = await anOffice();
      await fill(office);
      const { promise: asked, resolve: goOn } = Promise.withResolvers<void>();
      const context = await browser.newContext();
      const page = await context.newPage();
      const answer = await fetch(`${office.url}/api/documents?q=lease`);
      const [one, another] = ((await answer.json()) as { documents: object[] }).documents;
      await page.route("**/api/documents?q=lease*", async (route) => {
        const isFirst = !route.request().url().includes("after");
        if (!isFirst) await asked;
        const json = {
          documents: [isFirst ? one : another],
          complete: !isFirst,
          next: isFirst ? "7" : null,
        };
        await route.fulfill({ json });
      });
      await page.goto(`${office.url}/?q=lease`);
      await page.getByText("Still searching…").waitFor();
      expect(await page.locator("#documents tbody tr").count()).toBe(1);
      goOn();
      await soon(() => page.locator("#documents tbody tr").count()).toBe(2);
      await soon(() => page.locator("#documents-note").textContent()).toBe("");
      await context.close();
    });

    test("a closed gate tells why, what to do and when it is tried next", async () => {
      await using office = await anOffice();
      await fill(office);
      await office.journal.setGate({
        closedAt: OFFICE_NOW - 600_000,
        problem: { code: "QUOTA_LIMIT", message: "no pages are left" },
        probes: 1,
        nextProbeAt: OFFICE_NOW + 3_600_000,
      });
      await using visiting = await visit(browser, office.url);
      await visiting.headline(/QUOTA_LIMIT|page allowance|no pages/);
      const facts = await visiting.page.locator("#headline-finding").innerText();
      expect(facts).toMatch(/pages/);
      expect(facts).toMatch(/Since\s+Nov 20.*1[01] minutes ago/);
      expect(facts).toMatch(/Next attempt\s+Nov 20, 2026, 3:20.PM \(in (5[89] minutes|1 hour)\)/);
    });

    test("what is to be typed is set apart, without marks", async () => {
      await using office = await anOffice();
      await office.journal.setGate({
        closedAt: OFFICE_NOW - 600_000,
        problem: { code: "CREDENTIALS_REFUSED", message: "who is that" },
        probes: 1,
        nextProbeAt: null,
      });
      await using visiting = await visit(browser, office.url);
      const facts = visiting.page.locator("#headline-finding");
      await facts.locator("code").first().waitFor();
      expect(await facts.locator("code").allInnerTexts()).toEqual([
        "archive.accountKey",
        "archive.signing",
      ]);
      expect(await facts.innerText()).not.toContain("`");
    });

    test("an administrator reads the log of a document, the configuration, and runs the check", async () => {
      const line = (level: number, msg: string, more: object = {}) =>
        JSON.stringify({ level, time: "2026-11-20T08:00:00.000Z", pid: 1, msg, ...more });
      const lines = [
        line(30, "started"),
        line(40, "held: <b>no</b> folder", { mirror: "scans", path: "lease.pdf" }),
      ];
      const keys = [{ key: "upload.concurrency", value: "4", origin: "default" }];
      const findings = [
        { level: "ok", what: "the clock is right", fix: null },
        { level: "FAIL", what: "no way to the archive", fix: "Look at `archive.url`." },
      ];
      const check = async () => ({ ok: false, findings });
      await using office = await anOffice({ inspection: { lines: () => lines, keys, check } });
      await office.scans.held("lease.pdf", "FOLDER_MISSING");
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      await page.getByText("Log", { exact: true }).click();
      await soon(() => page.locator("#log-lines .message").allTextContents()).toEqual([
        "held: <b>no</b> folder",
        "started",
      ]);
      await page.locator("#documents").getByRole("link", { name: "lease.pdf" }).click();
      await page.getByRole("button", { name: "Show its log lines" }).click();
      await page.getByText("Lines of lease.pdf").waitFor();
      await soon(() => page.locator("#log-lines li").count()).toBe(1);
      await page.getByRole("button", { name: "Show all lines" }).click();
      await soon(() => page.locator("#log-lines li").count()).toBe(2);
      await page.locator("#log-level").selectOption("warn");
      await soon(() => page.locator("#log-lines li").count()).toBe(1);
      await page.getByText("Configuration in use").click();
      await page.getByText("upload.concurrency").waitFor();
      await page.getByText("Check", { exact: true }).click();
      await page.getByRole("button", { name: "Run the check" }).click();
      await page.getByText("Something fails.").waitFor();
      expect(await page.locator("#check-list .message").allTextContents()).toEqual([
        "no way to the archive",
        "the clock is right",
      ]);
    });

    test("pausing is one click, and resuming the same button", async () => {
      await using office = await anOffice();
      await using visiting = await visit(browser, office.url);
      await visiting.page.getByRole("button", { name: "Pause sending" }).click();
      await visiting.headline(/^Sending is paused$/);
      await visiting.page.getByRole("button", { name: "Resume sending" }).click();
      await visiting.headline(/^Waiting for the first scan$/);
      expect(await office.journal.paused()).toBe(false);
    });

    test.for([
      ["A4", 794, 1_123],
      ["Letter", 816, 1_056],
    ] as const)("the receipt of a batch opens and prints on %s", async ([, height, width]) => {
      await using office = await anOffice();
      await fill(office);
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      const opened = page.context().waitForEvent("page");
      await page
        .getByRole("link", { name: /^Receipt of the batch/ })
        .last()
        .click();
      const receipt = await opened;
      await receipt.getByRole("heading", { name: "Receipt: in the archive" }).waitFor();
      await receipt.emulateMedia({ media: "print" });
      // Landscape, without the margins of 12 mm: at 96 to the inch.
      await receipt.setViewportSize({ width: width - 91, height: height - 91 });
      const overhang = "document.documentElement.scrollWidth - window.innerWidth";
      expect(await receipt.evaluate(overhang)).toBe(0);
      // Its style is let in: a head is bold and in one line.
      const heads = await receipt
        .locator("th")
        .evaluateAll((all) => all.map((head) => head.getClientRects()[0]?.height ?? 0));
      expect(Math.max(...heads)).toBeLessThan(30);
      const json = page.getByRole("link", { name: /^JSON of the batch/ }).last();
      const answer = await page.request.get(
        new URL((await json.getAttribute("href")) ?? "", office.url).href,
      );
      expect(await answer.json()).toMatchObject({ mirror: "scans" });
    });

    test.for([320, 390, 800, 1_400])("a receipt does not scroll sideways at %i", async (width) => {
      await using office = await anOffice();
      await fill(office);
      const viewport = { width, height: 844 };
      const address = `${office.url}/api/receipt?batch=9d417f0e-5c1d-4a8b-9e21-6d3f00c4a1b7&format=html`;
      await using visiting = await visit(browser, address, { viewport });
      await visiting.page.getByText("SHA-256").first().waitFor({ state: "attached" });
      const overhang =
        "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await visiting.page.evaluate(overhang)).toBeLessThanOrEqual(0);
    });

    test("any number of tabs can be open: those that nobody sees keep no line", async () => {
      await using office = await anOffice();
      const context = await browser.newContext();
      // Of one host a browser has six lines at a time.
      for (let tab = 1; tab <= 7; tab++) {
        const page = await context.newPage();
        await page.goto(office.url);
        await page.getByText("Live", { exact: true }).waitFor();
        await page.evaluate(`
          Object.defineProperty(document, "hidden", { value: true, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        `);
        await page.getByText("Updated every few seconds").waitFor();
      }
      const [first] = context.pages();
      await first?.evaluate(`
        Object.defineProperty(document, "hidden", { value: false });
        document.dispatchEvent(new Event("visibilitychange"));
      `);
      await first?.getByText("Live", { exact: true }).waitFor();
      await context.close();
    });

    test.for([["Etc/GMT+12"], ["Etc/GMT-14"]] as const)(
      "seen from %s, days are called as on the daemon's host",
      async ([timezoneId]) => {
        await using office = await anOffice();
        await fill(office);
        await using visiting = await visit(browser, office.url, { timezoneId });
        const days = visiting.page.locator("#days");
        await days.locator("rect").first().waitFor();
        await days.locator(".chart").focus();
        expect(await days.locator("figcaption").innerText()).toMatch(/Nov 20: /);
      },
    );

    test("a journal that is away is told: the daemon is not said to be gone", async () => {
      const away = "the journal cannot be reached: connection refused";
      await using office = await anOffice({ away: () => away });
      const page = await browser.newPage();
      await page.goto(office.url);
      await page.getByText(`The daemon cannot tell where things stand: ${away}`).waitFor();
      // Without a stream, say behind a proxy that does not let it through.
      await page.route("**/api/events", (route) => route.abort());
      await page.reload();
      await page.getByText(`The daemon cannot tell where things stand: ${away}`).waitFor();
      await page.getByText("Updated every few seconds").waitFor();
      await page.close();
    });

    test("an upload shows its bytes, and the queue how long it takes", async () => {
      const uploads = new UploadMeter(systemClock);
      await using office = await anOffice({ uploads });
      const { id } = await office.ready("large.pdf", 1);
      for (let n = 0; n < 3; n++) await office.ready(`next ${n}.pdf`, 1);
      const [claimed] = sent(0);
      if (claimed) await office.happen(id, 0, claimed);
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      await page.locator("#now-list").getByText("large.pdf").waitFor();
      const ended = Promise.withResolvers<Outcome>();
      const sending = uploads.during({ id, seen: seenOf(8_000_000) }, () => ended.promise);
      uploads.sent(id, 2_000_000);
      await page.getByText("2 MB of 8 MB (25%)").waitFor();
      await page.getByText(/MB per second$/).waitFor();
      const bar = page.getByRole("progressbar", { name: "2 MB of 8 MB (25%)" });
      expect(await bar.getAttribute("value")).toBe("0.25");
      ended.resolve({ kind: "accepted", documentId: 1, status: null });
      await sending;
      await soon(() => page.locator("#now-rate").textContent()).toBe("");
      void uploads.during({ id, seen: seenOf(8_000_000) }, () => new Promise(() => {}));
      await page.getByText(/ · about .+ left for 4 documents$/).waitFor();
    });

    test("a daemon that is gone is shown, and noticed when it is back", async () => {
      const listen = { host: "127.0.0.1", port: await freePort() };
      await using office = await anOffice({ listen });
      await using visiting = await visit(browser, office.url);
      await visiting.headline(/Waiting/);
      await office.dashboard.close();
      await visiting.page.getByText(/^scanferry has not answered since/).waitFor();
      await using _again = await anOffice({ listen });
      await visiting.page.getByText("Live", { exact: true }).waitFor();
    });

    test("a daemon that keeps silent is shown within 5 s, nothing is sent, and the page comes back", async () => {
      await using office = await anOffice();
      await using proxy = await aSeveringProxy(Number(new URL(office.url).port));
      const context = await browser.newContext();
      const page = await context.newPage();
      // The page's time moves where this test moves it, however busy the machine is.
      await page.clock.install({ time: OFFICE_NOW });
      await page.clock.pauseAt(OFFICE_NOW + 1_000);
      await page.goto(`http://127.0.0.1:${proxy.port}`);
      await page.getByText("Live", { exact: true }).waitFor();
      proxy.hold(true);
      const lost = page.getByRole("alert").filter({ hasText: /^scanferry has not answered since/ });
      await page.clock.runFor(4_000);
      expect(await lost.isVisible()).toBe(false);
      await page.clock.runFor(1_000);
      expect(await lost.isVisible()).toBe(true);
      await page.getByRole("button", { name: "Pause sending" }).click();
      const said = "Not done: scanferry does not answer. Nothing was changed.";
      await page.getByText(said).waitFor();
      proxy.hold(false);
      await soon(async () => {
        await page.clock.runFor(1_000);
        return lost.isVisible();
      }).toBe(false);
      await page.getByText("Live", { exact: true }).waitFor();
      expect(await office.journal.paused()).toBe(false);
      await context.close();
    });
  },
);
