import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";

/** A visit to a page; ending it checks what no visit may ever do. */
export type Visit = AsyncDisposable & {
  readonly page: Page;
  /** Text of the headline, as soon as it matches. */
  headline(what: RegExp): Promise<void>;
};

type Contrasts = { readonly ground: number; readonly faint: readonly string[] };
// It runs in the page, and so is plain JavaScript.
const { contrasts } = (await import(new URL("contrasts.js", import.meta.url).href)) as {
  contrasts: () => Contrasts;
};

/** The ground's lightness, and the texts that do not stand out from what they stand on. */
export const contrastsOf = (page: Page): Promise<Contrasts> => page.evaluate(contrasts);

/** A browser on a loaded machine takes its time. */
export const SLOW = { timeout: 180_000 };

/** Waits for what `look` sees; generously, as a loaded machine shows a page when it can. */
export function soon<T>(look: () => Promise<T>) {
  return expect.poll(look, { timeout: 150_000 });
}

/**
 * Opens `url`. At the end: no request went anywhere else, no script failed, no policy was broken
 * and no dialog of a script came up.
 */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const wrong: string[] = [];
  const { origin } = new URL(url);
  context.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) wrong.push(`asked for ${request.url()}`);
  });
  page.on("pageerror", (error) => wrong.push(`failed: ${error.message}`));
  page.on("console", (message) => {
    // That the daemon cannot be reached is no fault of the page.
    const isFault =
      message.type() === "error" &&
      !/ERR_(?:CONN|EMPTY_RESP|INCOMP|SOCKET_NOT_CONN)/.test(message.text());
    if (isFault) wrong.push(`console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return {
    page,
    async headline(what) {
      const title = page.getByRole("heading", { level: 2 }).first();
      await soon(() => title.textContent()).toMatch(what);
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      expect(wrong).toEqual([]);
    },
  };
}
