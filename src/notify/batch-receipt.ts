/** The proof of a batch that is closed, for anyone who learns about it. */
import type { Journal } from "../journal/journal.ts";
import {
  type Receipt,
  RECEIPT_DOCUMENTS_MAX,
  receiptOf as receiptFrom,
} from "../receipts/receipt.ts";

/** The receipt of a batch; undefined while a document of it is not converted, or it has none. */
export async function receiptOf(journal: Journal, batch: string): Promise<Receipt | undefined> {
  const documents = await journal.inBatch(batch, RECEIPT_DOCUMENTS_MAX);
  const mirrorId = documents[0]?.mirrorId;
  const mirror = (await journal.mirrors()).find(({ id }) => id === mirrorId)?.name ?? "";
  const receipt = receiptFrom({ batch, mirror, documents });
  return receipt.closedAt === null ? undefined : receipt;
}
