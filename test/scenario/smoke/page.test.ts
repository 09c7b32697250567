/** The page of a running daemon in a real browser. */
import { test } from "vitest";
import { aBrowser, noBrowser } from "../../fixtures/a-browser.ts";
import { aDaemon } from "../../fixtures/a-daemon.ts";
import { pdfOf } from "../../fixtures/documents.ts";
import { aWorld } from "../../fixtures/world.ts";
import { SLOW, visit } from "../../browser/visit.ts";

// Where CI says so a missing browser is a failure.
const isSkipped = noBrowser !== undefined && !process.env["CI"];

test.skipIf(isSkipped)(
  `a file that is put into the folder is seen to arrive${isSkipped ? ` (${noBrowser})` : ""}`,
  SLOW,
  async () => {
    const browser = await aBrowser();
    await using world = await aWorld();
    const web = { host: "127.0.0.1", port: 0 };
    await using running = await aDaemon(world.config({ web }));
    await using visiting = await visit(browser, running.daemon.webUrl ?? "");
    await visiting.headline(/^Waiting for the first scan$/);
    world.write("invoice 4711.pdf", pdfOf(1));
    await visiting.headline(/^The one document is in the archive$/);
    await visiting.page
      .locator("#documents")
      .getByRole("row")
      .filter({ hasText: "invoice 4711.pdf" })
      .getByText("In the archive")
      .waitFor();
    await browser.close();
  },
);
