import type { Receipt, ReceiptLine } from "./receipt.ts";

const HEADING = ["document", "state", "converted", "pages", "sha256", "file"];

/** For machines and for keeping: JSON, indented, with a line break at its end. */
export function receiptJson(receipt: Receipt): string {
  return `${JSON.stringify(receipt, null, 2)}\n`;
}

/** What spreadsheets take for a formula: no cell begins so. */
const FORMULA = /^[=+\-@]/;

/** For what is not known. */
const NONE = "none";

/** Plain text, a line a document, columns parted by tabs. */
export function receiptText(receipt: Receipt): string {
  const { batch, mirror, converted, pages, documents } = receipt;
  const lines = [
    `# batch ${batch} of mirror ${mirror}`,
    `# ${converted} of ${documents.length} documents converted, ${pages} pages`,
    HEADING.join("\t"),
    ...documents.map(textOf),
  ];
  return `${lines.join("\n")}\n`;
}

function textOf(line: ReceiptLine): string {
  const { documentId, state, convertedAt, pages, sha256, path, unfinished } = line;
  const at = convertedAt === null ? NONE : new Date(convertedAt).toISOString();
  const columns = [documentId ?? NONE, state, at, pages ?? NONE, sha256 ?? NONE, plainPath(path)];
  return [...columns, ...(unfinished ? ["unfinished by its format"] : [])].join("\t");
}

/** The same path, and no formula: `./=SUM(1).pdf`. */
function plainPath(path: string): string {
  return FORMULA.test(path) ? `./${path}` : path;
}
