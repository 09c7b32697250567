import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { judge } from "../../../src/formats/complete.ts";
import type { Completeness } from "../../../src/formats/completeness.ts";
import { accessOf } from "../../../src/formats/random-access.ts";
import { listDigidoc } from "../../../src/formats/digidoc.ts";
import { kindOf } from "../../../src/formats/file-format.ts";
import { pagesOf } from "./pages-of.ts";
import { zerosOf } from "./zeros.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SHIPPED = join(ROOT, "samples");
/** Scans of real life that lie next to some checkouts. */
const OTHERS = join(ROOT, "../shared/samples");

const shipped = readdirSync(SHIPPED, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

const CUTS = 200;

async function wordFor(bytes: Buffer, name: string): Promise<Completeness> {
  return (await judge(accessOf(bytes), name, zerosOf(bytes))).completeness;
}

/** What is found of the file when it is cut at each of these places, the last one a byte that is not white before its end. */
async function wordsForCuts(bytes: Buffer, name: string): Promise<Completeness[]> {
  const content = bytes.toString("latin1").trimEnd().length;
  const words = new Set<Completeness>();
  for (let cut = 1; cut <= CUTS; cut++) {
    const length = Math.floor(((content - 1) * cut) / CUTS);
    if (length > 0) words.add(await wordFor(bytes.subarray(0, length), name));
  }
  return [...words];
}

test("there are samples, in folders, and they are small", () => {
  expect(shipped.length).toBeGreaterThanOrEqual(12);
  const bytes = shipped.map((path) => readFileSync(path).length);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(600_000);
});

test.for(shipped.map((path) => [path.slice(SHIPPED.length + 1), path] as const))(
  "%s is whole, and what it holds can be told",
  async ([name, path]) => {
    const bytes = readFileSync(path);
    const kind = kindOf(bytes, name);
    expect(await wordFor(bytes, name)).toBe(kind === "text" ? "unknown" : "complete");
    expect(await wordsForCuts(bytes, name)).toEqual([kind === "text" ? "unknown" : "unfinished"]);
    if (kind === "digidoc" || kind === "ddoc")
      expect((await listDigidoc(bytes, kind)).length).toBeGreaterThanOrEqual(2);
    else expect(await pagesOf(bytes, kind)).toBeGreaterThanOrEqual(1);
  },
);

describe.skipIf(!existsSync(`${OTHERS}.csv`))("real scans", () => {
  const rows = existsSync(`${OTHERS}.csv`)
    ? readFileSync(`${OTHERS}.csv`, "utf8").trim().split(/\r?\n/).slice(1)
    : [];
  test.for(rows.map((row) => row.split(",")))(
    "%s",
    async ([path = "", , , , pages = "", contains = ""]) => {
      const bytes = readFileSync(join(OTHERS, path));
      const kind = kindOf(bytes.subarray(0, 4096), path);
      const names = (await listDigidoc(bytes, kind)).map(({ name }) => name.normalize("NFC"));
      expect(names.join(";")).toBe(contains.normalize("NFC"));
      if (pages !== "") expect(await pagesOf(bytes, kind)).toBe(Number(pages));
      // Texts do not tell where they end, mails of one part tell the end of their header, OLE files all but their last
      // sectors; all others do.
      const isOle = path.endsWith(".doc");
      const isMail = path.endsWith(".eml");
      const tells = !isOle && !isMail && !path.endsWith(".txt");
      expect(await wordFor(bytes, path)).toBe(tells ? "complete" : "unknown");
      const cut = bytes.subarray(
        0,
        isMail ? bytes.toString("latin1").search(/\r?\n\r?\n/) : bytes.length - (isOle ? 1024 : 0),
      );
      const isTold = tells || isOle || isMail;
      expect(await wordsForCuts(cut, path)).toEqual([isTold ? "unfinished" : "unknown"]);
    },
  );
});
