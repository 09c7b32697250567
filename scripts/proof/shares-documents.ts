/**
 * Writes the documents that shares.sh has scanned: one in four for each way into a share, each of
 * them other bytes, none of which is whole when it is cut short anywhere.
 *
 *     node shares-documents.ts DIRECTORY COUNT
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { pdfOf, tiffOf } from "../../test/fixtures/documents.ts";

const [directory = "", count = "0"] = process.argv.slice(2);
const WAYS = ["nfs/office", "nfs/server", "smb/office", "smb/server"];

for (const way of WAYS) mkdirSync(`${directory}/${way}`, { recursive: true });
for (let number = 0; number < Number(count); number++) {
  const way = WAYS[number % WAYS.length];
  const pages = 1 + (number % 7);
  const isTiff = number % 3 === 0;
  const bytes = isTiff
    ? // Of neighbouring seeds some give the same dots.
      tiffOf(pages, number * 8)
    : pdfOf(pages, { seed: number, text: `Document ${number}\n${"of a share ".repeat(200)}` });
  const name = `${String(number).padStart(4, "0")}.${isTiff ? "tif" : "pdf"}`;
  writeFileSync(`${directory}/${way}/${name}`, bytes);
}
