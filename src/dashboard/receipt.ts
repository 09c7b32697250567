import { hash } from "node:crypto";
import type { Batches, Registry } from "../journal/journal.ts";
import { RECEIPT_DOCUMENTS_MAX, type Receipt, receiptOf } from "../receipts/receipt.ts";
import { RECEIPT_STYLE, receiptHtml } from "../receipts/receipt-html.ts";
import { receiptJson, receiptText } from "../receipts/receipt-text.ts";
import type { ReceiptLanguage } from "../receipts/receipt-words.ts";
import { Refusal } from "./refusal.ts";

type Format = {
  readonly type: string;
  readonly write: (receipt: Receipt, language: ReceiptLanguage) => string;
};

const FORMATS = {
  txt: { type: "text/plain; charset=utf-8", write: receiptText },
  json: { type: "application/json; charset=utf-8", write: receiptJson },
  html: { type: "text/html; charset=utf-8", write: receiptHtml },
} as const satisfies Record<string, Format>;

/** What the browser may do with a receipt: show it with its own style, and nothing else. */
export const RECEIPT_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", RECEIPT_STYLE, "base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Which receipt, and how. */
export type ReceiptQuery = {
  readonly batch: string;
  readonly format: keyof typeof FORMATS;
  readonly lang: ReceiptLanguage;
};

/** A receipt as the page gives it. Throws a `Refusal` (404) for no such batch. */
export async function receiptAs(
  { batch, format, lang }: ReceiptQuery,
  journal: Batches & Registry,
): Promise<{ readonly type: string; readonly text: string }> {
  const documents = await journal.inBatch(batch, RECEIPT_DOCUMENTS_MAX);
  const { type, write } = FORMATS[format];
  const [first] = documents;
  if (!first) {
    const hint = "See the list of batches.";
    throw new Refusal(404, "NO_BATCH", "no document is in such a batch", hint);
  }
  const mirror = (await journal.mirrors()).find(({ id }) => id === first.mirrorId)?.name ?? "";
  return { type, text: write(receiptOf({ batch, mirror, documents }), lang) };
}
