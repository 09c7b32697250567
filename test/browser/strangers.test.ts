/** The page among strangers: hostile names, other sites, other names for this host. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aBrowser, noBrowser } from "../fixtures/a-browser.ts";
import { anOffice } from "../fixtures/an-office.ts";
import { SLOW, soon, visit } from "./visit.ts";

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

    test("with a token: the address bar lets in once, and forgets it", async () => {
      const token = "a-long-token-that-nobody-guesses";
      await using office = await anOffice({ token });
      const context = await browser.newContext();
      const page = await context.newPage();
      expect((await page.goto(office.url))?.status()).toBe(401);
      await page.goto(`${office.url}/?token=${token}`);
      await page.getByText("Live", { exact: true }).waitFor();
      expect(page.url()).toBe(`${office.url}/`);
      await page.reload();
      await page.getByText("Live", { exact: true }).waitFor();
      await context.close();
    });
  },
);
