import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Each of axe-core's rules that the page breaks, and by what. Frames are not looked into. */
export async function brokenRules(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    "axe.run({ iframes: false })",
  );
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
