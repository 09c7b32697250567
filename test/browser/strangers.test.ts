/** The page among strangers: hostile names, other sites, other names for this host. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aBrowser, noBrowser } from "../fixtures/a-browser.ts";
import { anOffice, fill, OFFICE_PAGES } from "../fixtures/an-office.ts";
import { contrastsOf, SLOW, soon, visit } from "./visit.ts";

let browser: Browser;
const isSkipped = noBrowser !== undefined && !process.env["CI"];

const HOSTILE = [
  "<script>alert(1)</script>.pdf",
  '"><img src=x onerror=alert(1)>.pdf',
  "<svg onload=alert(1)>.pdf",
  "javascript:alert(1).pdf",
  "{{7*7}}${7*7}.pdf",
  "&lt;b&gt;bold&lt;b&gt;.pdf",
];

const MARKUP = '<img src=x onerror="alert(1)"><b>b</b>';
/** What the page chooses by, and never shows as it is. */
const CHOSEN = [
  "id",
  "kind",
  "severity",
  "state",
  "from",
  "to",
  "level",
  "batch",
  "day",
  "actions",
];

/** The same answer with markup at the end of each of its texts. */
function spoiled(value: unknown, key = ""): unknown {
  if (typeof value === "string") return CHOSEN.includes(key) ? value : `${value}${MARKUP}`;
  if (Array.isArray(value)) return value.map((one) => spoiled(one, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoiled(one, name)]));
}

/** A page of someone else that does `script` as soon as it is opened. */
async function aStranger(script: string): Promise<{ url: string } & AsyncDisposable> {
  const body = `<!doctype html><title>prize</title><p id="told">…</p><script>${script}</script>`;
  const server = createServer((_, reply) => reply.setHeader("content-type", "text/html").end(body));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const close = async () => void server.close();
  return { url: `http://127.0.0.1:${port}/`, [Symbol.asyncDispose]: close };
}

describe.skipIf(isSkipped)(
  `the page among strangers${isSkipped ? ` (${noBrowser})` : ""}`,
  SLOW,
  () => {
    beforeAll(async () => {
      browser = await aBrowser();
    });
    afterAll(async () => {
      await browser?.close();
    });

    test.for(HOSTILE)("a file called %s is its name and nothing else", async (name) => {
      await using office = await anOffice();
      const dir = "<b>dir</b>";
      // A name with a slash is a folder and a name.
      const last = name.slice(name.lastIndexOf("/") + 1);
      const { id } = await office.carried(`${dir}/${name}`, 5);
      const held = await office.ready(`${dir}/held ${name}`, 4);
      const problem = { code: "FOLDER_MISSING", message: `no folder ${name}` };
      await office.happen(held.id, 3, { type: "heldBack", at: 0, dueAt: null, problem });
      await using visiting = await visit(browser, office.url);
      const { page } = visiting;
      const button = page.locator(`#documents a[href="/?document=${id}"]`);
      await button.waitFor();
      expect(await button.textContent()).toBe(last);
      await button.click();
      await page.getByRole("heading", { name: "History" }).waitFor();
      expect(await page.locator("#story-title").textContent()).toBe(`${dir}/${name}`);
      const made =
        "main script, main img[src=x], main svg[onload], dialog script, dialog img, main b";
      expect(await page.locator(made).count()).toBe(0);
    });

    test.for(["en", "de"])("markup in any field of any answer is text (%s)", async (locale) => {
      await using office = await anOffice({ pages: OFFICE_PAGES });
      await fill(office);
      const page = await browser.newPage({ locale });
      const wrong: string[] = [];
      page.on("pageerror", ({ message }) => wrong.push(message));
      page.on("dialog", (dialog) => void dialog.dismiss().then(() => wrong.push("a dialog")));
      // Without a stream the page asks, and what it is answered can be spoiled.
      await page.route("**/api/events", (route) => route.abort());
      await page.route(/\/api\/(?:status|activity|documents?\b)/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: spoiled(await response.json()) });
      });
      await page.goto(office.url);
      await page.locator("#documents tbody a").first().waitFor();
      await page.locator("#counts tbody tr").first().waitFor();
      for (const summary of await page.locator("summary:visible").all()) await summary.click();
      await page.locator("#documents tbody a").last().click();
      await page.locator("#story-body .history").first().waitFor();
      expect(await page.locator("body").innerHTML()).toContain("&lt;img src=x");
      expect(await page.locator("img[src=x], body b, [onerror]").count()).toBe(0);
      expect(wrong).toEqual([]);
      // The page goes on asking: what is being answered as it closes has nobody to answer.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.close();
    });

    test.for([
      ["fetch('URL/api/pause',{method:'POST',mode:'no-cors',body:'{}'})", "a form's request"],
      [
        "fetch('URL/api/pause',{method:'POST',body:'{}',headers:{'content-type':'application/json','x-scanferry':'1'}})",
        "the page's own request",
      ],
      ["fetch('URL/api/status')", "reading"],
      [
        "new Promise((done,no)=>{const s=new EventSource('URL/api/events');s.onmessage=done;s.addEventListener('status',done);s.onerror=no})",
        "the stream",
      ],
    ] as const)("another page cannot have %s: %s", async ([script]) => {
      await using office = await anOffice();
      const tell = (what: string) => `document.getElementById('told').textContent=${what}`;
      const doing = script.replace("URL", office.url);
      await using stranger = await aStranger(
        `${doing}.then((r)=>${tell("'done '+(r.type||r.status)")},()=>${tell("'refused'")})`,
      );
      const page = await browser.newPage();
      await page.goto(stranger.url);
      await soon(() => page.locator("#told").textContent()).toMatch(/^(refused|done opaque)$/);
      expect(await office.journal.paused()).toBe(false);
      await page.close();
    });

    test("another page cannot put this one into a frame", async () => {
      await using office = await anOffice();
      await using stranger = await aStranger(
        `const f=document.createElement('iframe');f.src='${office.url}';document.body.append(f)`,
      );
      const page = await browser.newPage();
      await page.goto(stranger.url);
      await page.waitForLoadState("networkidle");
      const frame = page.frames().find((one) => one.parentFrame() !== null);
      expect(await frame?.locator("#headline").count()).toBe(0);
      await page.close();
    });

    test("a stranger's name that points here is not answered", async () => {
      await using office = await anOffice();
      const rebound = await aBrowser("--host-resolver-rules=MAP evil.example 127.0.0.1");
      const page = await rebound.newPage();
      const { port } = new URL(office.url);
      const answer = await page.goto(`http://evil.example:${port}/`);
      expect(answer?.status()).toBe(421);
      expect(await page.locator("body").innerText()).toContain("WRONG_HOST");
      await rebound.close();
    });

    const token = "a-long-token-that-nobody-guesses";

    test("with a token in its address it lets in, and the address keeps none", async () => {
      await using office = await anOffice({ token });
      await using visiting = await visit(browser, `${office.url}/?state=held&token=${token}`);
      const { page } = visiting;
      await page.getByText("Live", { exact: true }).waitFor();
      expect(page.url()).toBe(`${office.url}/?state=held`);
      await page.goBack();
      expect(page.url()).not.toContain(token);
    });

    test("a link that was mailed asks for the token, and then shows what it is about", async () => {
      await using office = await anOffice({ token });
      const { id } = await office.carried("mailed.pdf", 5);
      await using letter = await aStranger(
        `document.body.innerHTML='<a href="${office.url}/?document=${id}">the scan</a>'`,
      );
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(letter.url);
      await page.getByRole("link", { name: "the scan" }).click();
      const field = page.getByLabel("Token");
      await field.fill("a wrong one");
      await page.keyboard.press("Enter");
      await page.getByText("This token is wrong.").waitFor();
      await field.fill(token);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "mailed.pdf" }).waitFor();
      // The second time the browser is known, although another page leads to this one.
      await page.goto(letter.url);
      await page.getByRole("link", { name: "the scan" }).click();
      await page.getByRole("heading", { name: "mailed.pdf" }).waitFor();
      await context.close();
    });

    test("who signs out, is out in every page of the browser", async () => {
      await using office = await anOffice({ token });
      const context = await browser.newContext();
      const [page, other] = [await context.newPage(), await context.newPage()];
      await page.goto(`${office.url}/?token=${token}`);
      await other.goto(office.url);
      await page.getByRole("button", { name: "Sign out" }).click();
      for (const one of [page, other]) await one.getByLabel("Token").waitFor();
      await context.close();
    });

    test("without a token nobody signs out", async () => {
      await using office = await anOffice();
      await using visiting = await visit(browser, office.url);
      await visiting.headline(/Waiting/);
      expect(await visiting.page.getByRole("button", { name: "Sign out" }).count()).toBe(0);
    });

    test.for([
      [320, "light"],
      [1400, "dark"],
    ] as const)("the sign-in page at %i pixels, %s", async ([width, colorScheme]) => {
      await using office = await anOffice({ token });
      const context = await browser.newContext({ viewport: { width, height: 700 }, colorScheme });
      const page = await context.newPage();
      await page.goto(office.url);
      await page.getByLabel("Token").waitFor();
      const widths = "[document.documentElement.scrollWidth, document.activeElement.id]";
      expect(await page.evaluate<unknown[]>(widths)).toEqual([width, "token"]);
      expect((await contrastsOf(page)).faint).toEqual([]);
      await context.close();
    });
  },
);
