/** Writes the pictures of docs/screenshots: the page over an office with a past. */
import { mkdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BrowserContextOptions, Page } from "playwright-core";
import sharp from "sharp";
import { aBrowser, noBrowser } from "../test/fixtures/a-browser.ts";
import { anOffice, fill, OFFICE_PAGES, type Office } from "../test/fixtures/an-office.ts";

const FOLDER = fileURLToPath(new URL("../docs/screenshots/", import.meta.url));
const DESK = { width: 1100, height: 760 };
const PHONE = { width: 320, height: 640 };

type Picture = {
  readonly name: string;
  readonly context: BrowserContextOptions;
  readonly office: (office: Office) => Promise<void>;
  readonly before?: (page: Page) => Promise<unknown>;
};

const allIsWell = async (office: Office) => {
  for (let n = 0; n < 12; n++) await office.carried(`2026/letter ${n + 1}.pdf`, 90 - n * 5);
};

const PICTURES: readonly Picture[] = [
  { name: "page", context: { viewport: { width: 1100, height: 1400 } }, office: fill },
  { name: "dark", context: { viewport: DESK, colorScheme: "dark" }, office: fill },
  { name: "phone", context: { viewport: PHONE }, office: fill },
  { name: "all-is-well", context: { viewport: { ...DESK, height: 560 } }, office: allIsWell },
  {
    name: "history",
    context: { viewport: DESK },
    office: fill,
    before: async (page) => {
      await page.getByRole("link", { name: "scan of a scan.pdf" }).first().click();
      await page.getByRole("heading", { name: "History" }).waitFor();
    },
  },
];

if (noBrowser !== undefined) throw new Error(noBrowser);
mkdirSync(FOLDER, { recursive: true });
const browser = await aBrowser();
for (const { name, context, office: arrange, before } of PICTURES) {
  await using office = await anOffice({ pages: OFFICE_PAGES });
  await arrange(office);
  const page = await browser.newPage(context);
  await page.goto(office.url);
  await page.locator("#documents tbody tr").first().waitFor();
  await before?.(page);
  const path = `${FOLDER}${name}.png`;
  // Few colours and no shades: a quarter of the size.
  await sharp(await page.screenshot())
    .png({ palette: true, colours: 48 })
    .toFile(path);
  process.stdout.write(`${name}.png ${Math.ceil(statSync(path).size / 1000)} kB\n`);
  await page.close();
}
await browser.close();
