/** The proof of a batch that is closed, for whoever is told of it. */
import type { Journal } from "../journal/journal.ts";
import { joinRaw, shown } from "../std/raw-path.ts";

/** Keys stay, more may come. Times are epoch milliseconds. */
export type Receipt = {
  readonly batch: string;
  readonly mirror: string;
  readonly pages: number;
  readonly documents: readonly {
    readonly path: string;
    readonly sha256: string | null;
    readonly pages: number | null;
    readonly documentId: number | null;
    readonly folder: string | null;
    readonly uploadedAt: number | null;
    readonly convertedAt: number | null;
  }[];
};

/** As many documents as a batch can have. */
const DOCUMENTS_MAX = 10_000;

/** The receipt of a batch; undefined while a document of it is not converted, or it has none. */
export async function receiptOf(journal: Journal, batch: string): Promise<Receipt | undefined> {
  const rows = await journal.inBatch(batch, DOCUMENTS_MAX);
  const [first] = rows;
  if (!first || rows.some(({ state }) => state !== "converted")) return undefined;
  const mirror = (await journal.mirrors()).find(({ id }) => id === first.mirrorId)?.name ?? "";
  return {
    batch,
    mirror,
    pages: rows.reduce((sum, { pages }) => sum + (pages ?? 0), 0),
    documents: rows.map(({ dir, name, digest, targetPath, ...row }) => ({
      path: shown(joinRaw(dir, name)),
      sha256: digest,
      pages: row.pages,
      documentId: row.documentId,
      folder: targetPath,
      uploadedAt: row.uploadedAt,
      convertedAt: row.convertedAt,
    })),
  };
}
