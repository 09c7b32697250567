/**
 * An archive may date its replies by one clock and its documents by another. How far the latter was ever found
 * to be behind is learned from what was stored and answered in good order, and kept in the journal: whoever looks
 * for what was sent without a reply has to look as far back.
 */
import type { Document } from "../domain/document.ts";
import type { DocumentDetail } from "../wire/shapes.ts";
import type { SyncContext } from "./context.ts";

type Context = Pick<SyncContext, "journal" | "config" | "log">;

/** How far the clock of documents is known to be behind that of replies, milliseconds; 0: it is not. */
export async function lagOf({ journal }: Pick<Context, "journal">): Promise<number> {
  return Number((await journal.memo(memoOf(journal.archiveId))) ?? 0);
}

/** Learns from a document that was sent from here, and from what the archive says of it. */
export async function learnLag(
  context: Context,
  { sentArchiveAt, charge }: Pick<Document, "sentArchiveAt" | "charge">,
  { uploadedDate }: Pick<DocumentDetail, "uploadedDate">,
): Promise<void> {
  // What was in the archive already is charged to nobody; when it was uploaded says nothing of clocks.
  if (sentArchiveAt === null || charge === null) return;
  const { journal, config, log } = context;
  const { toleranceMs } = config.upload.doubt;
  const lagMs = sentArchiveAt - uploadedDate;
  if (lagMs <= toleranceMs || lagMs <= (await lagOf(context)) + toleranceMs / 2) return;
  await journal.setMemo(memoOf(journal.archiveId), String(lagMs));
  log.info({ lagMs }, "the archive dates its documents by a clock behind that of its replies");
}

function memoOf(archiveId: number): string {
  return `clocks:${archiveId}`;
}
