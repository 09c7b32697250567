/**
 * An archive may date its replies by one clock and its documents by another. How far the latter was ever found
 * to be behind is learned from what was stored and answered in good order, and kept in the journal: anyone who looks
 * for what was sent without a reply has to look as far back, and a day further.
 */
import type { ArchiveState, DocumentReader } from "../journal/journal.ts";
import { isKeptDate } from "../domain/another-document.ts";
import type { Document } from "../domain/document.ts";
import type { DocumentDetail } from "../wire/shapes.ts";
import type { SyncContext } from "./context.ts";

type Context = Pick<SyncContext<ArchiveState & DocumentReader>, "journal" | "config" | "log">;

/** A document that was sent from here, and what the archive says of it. */
type Heard = {
  readonly document: Pick<
    Document,
    "id" | "sentAt" | "sentArchiveAt" | "charge" | "archiveUploadedAt"
  >;
  readonly item: Pick<DocumentDetail, "uploadedDate">;
};

/**
 * One that dates by the day, or by local time, is ever further behind until midnight, or until clocks are set:
 * of two of its documents one lies no more than this further back than the other.
 */
const FURTHER_MS = 24 * 3_600_000;

/** How far the clock of documents may be behind that of replies, milliseconds; 0: it never was. */
export async function lagOf({ journal }: Pick<Context, "journal">): Promise<number> {
  const lagMs = Number((await journal.keyValue(keyOf(journal.archiveId))) ?? 0);
  return lagMs > 0 ? lagMs + FURTHER_MS : 0;
}

/**
 * How far back what was sent from here may be dated, milliseconds, beyond what clocks are allowed. Before anything was
 * learned of an archive, it may date by the day or by local time. `isKept`: see `keepsDates`.
 */
export async function backOf(context: Pick<Context, "journal">, isKept: boolean): Promise<number> {
  const lagMs = await lagOf(context);
  return lagMs > 0 || isKept ? lagMs : FURTHER_MS;
}

/** Learns from all that was heard at once: of several that were learned side by side the last would be kept. */
export async function learnLag(context: Context, heard: readonly Heard[]): Promise<void> {
  const { journal, config, log } = context;
  const lagMs = Math.max(0, ...heard.map(lagIn));
  if (lagMs <= config.upload.doubt.toleranceMs) return;
  // Long before it is further than is looked: by the day, most documents would else be another lesson.
  if (lagMs <= (await lagOf(context)) - FURTHER_MS / 2) return;
  await journal.setKeyValue(keyOf(journal.archiveId), String(lagMs));
  log.info(
    { lagMs },
    "the archive dates documents by a clock that is behind the clock of its replies",
  );
}

/** What `learnDates` keeps. */
const KEPT = "kept";

/** Whether the archive is known to date documents in its lists as in its replies. */
export async function keepsDates({ journal }: Pick<Context, "journal">): Promise<boolean> {
  return (await journal.keyValue(datesKeyOf(journal.archiveId))) === KEPT;
}

/** Learns that from the first document whose date in a list is that of the reply to its upload. */
export async function learnDates(context: Context, heard: readonly Heard[]): Promise<void> {
  const { journal } = context;
  const kept = heard.find(({ document, item }) => isKeptDate(document, item));
  if (!kept || (await keepsDates(context))) return;
  const attempts = await journal.attempts(kept.document.id);
  // The date of one that was found in a list is that list's.
  if (attempts.at(-1)?.outcome === "accepted")
    await journal.setKeyValue(datesKeyOf(journal.archiveId), KEPT);
}

function lagIn({ document: { sentAt, sentArchiveAt, charge }, item }: Heard): number {
  // Replies without a date leave our own clock, by which such a document is looked for, too.
  const sent = sentArchiveAt ?? sentAt;
  // What was in the archive already is charged to nobody; when it was uploaded says nothing of clocks.
  return sent === null || charge === null ? 0 : sent - item.uploadedDate;
}

function datesKeyOf(archiveId: number): string {
  return `dates:${archiveId}`;
}

function keyOf(archiveId: number): string {
  return `clocks:${archiveId}`;
}
