import type { Receipt, ReceiptLine } from "./receipt.ts";

const HEADING = ["document", "state", "converted", "pages", "sha256", "file"];

/** For machines and for keeping: JSON, indented, with a line break at its end. */
export function receiptJson(receipt: Receipt): string {
  return `${JSON.stringify(receipt, null, 2)}\n`;
}

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

function textOf({ documentId, state, convertedAt, pages, sha256, path }: ReceiptLine): string {
  const at = convertedAt === null ? "-" : new Date(convertedAt).toISOString();
  return [documentId ?? "-", state, at, pages ?? "-", sha256 ?? "-", path].join("\t");
}
