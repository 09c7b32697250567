/** What the archive has another document under the id of goes back into doubt, anyone who hears of it. */
import { anotherDocument, type ReportedDocument } from "../domain/another-document.ts";
import type { ArchiveAccount } from "../config/config.ts";
import type { Document } from "../domain/document.ts";
import { ANOTHER_DOCUMENT } from "../domain/code-sets.ts";
import type { Candidate } from "../domain/reconcile.ts";
import { DocumentIdTaken } from "../journal/document-id-taken.ts";
import type { ArchiveState, Change, Documents } from "../journal/journal.ts";
import type { DocumentDetail } from "../wire/shapes.ts";
import { keepsDates, learnDates, learnLag } from "./archive-clocks.ts";
import type { SyncContext } from "./context.ts";

/** A row, and what the archive says of its id. */
export type Heard = { readonly document: Document; readonly item: DocumentDetail };

/** What of the configuration tells one document from another. */
type Knowing = Pick<SyncContext["config"], "upload"> & {
  readonly archive: Pick<ArchiveAccount, "storedSize">;
};

type Context = Pick<SyncContext<ArchiveState & Documents>, "journal" | "config" | "log" | "clock">;

/** Those of all that was heard that are ours; others go back into doubt. Learns how the archive dates documents. */
export async function oursAmong(context: Context, all: readonly Heard[]): Promise<Heard[]> {
  await learnDates(context, all);
  const ours: Heard[] = [];
  const mistaken: Change[] = [];
  for (const each of all) {
    const why = await otherThan(context, each.document, each.item);
    if (why === undefined) ours.push(each);
    else mistaken.push(backInDoubt(context, each.document, why));
  }
  if (mistaken.length > 0) await context.journal.apply(mistaken);
  await learnLag(
    context,
    ours.filter(({ item }) => item.status === "CONVERTED"),
  );
  return ours;
}

/** See `anotherDocument`, with what is known of this archive. */
export async function otherThan(
  context: Pick<Context, "journal"> & { readonly config: Knowing },
  document: Document,
  told: ReportedDocument,
): Promise<string | undefined> {
  const { upload, archive } = context.config;
  const likeness = { toleranceMs: upload.doubt.toleranceMs, storedSize: archive.storedSize };
  // Almost all are ours, whatever is known of dates.
  const why = anotherDocument(document, told, { ...likeness, keepsDates: true });
  if (why === undefined) return undefined;
  return anotherDocument(document, told, { ...likeness, keepsDates: await keepsDates(context) });
}

/** The change by which the row looks for its document again; one that failed, as that was not there, gives up the id. */
export function backInDoubt(
  { clock, log }: Pick<Context, "clock" | "log">,
  { id, documentId }: Document,
  message: string,
): Change {
  const problem = { code: ANOTHER_DOCUMENT, message };
  log.warn({ code: ANOTHER_DOCUMENT, documentId }, message);
  const event = { type: "mistaken", at: clock.now(), problem } as const;
  return { type: "event", id, event, from: ["uploaded", "converted", "failed"] };
}

/** The event of a document in doubt that is this one. */
export function foundAs({ id: documentId, status, uploadedDate }: Candidate, at: number) {
  return { type: "found", at, dueAt: at, documentId, status, uploadedDate } as const;
}

/**
 * Where the archive says that an id which another row has is no longer that row's document, it is `document`'s: the row
 * gives the id up and looks for its own. If the row's file is not there to be sent again, `document` waits for a
 * person. Resolves with false where it may be the other row's as before: then nothing is journaled.
 */
export async function takeOver(
  context: Context,
  { id }: Document,
  candidate: Candidate,
): Promise<boolean> {
  const { journal, clock } = context;
  const event = foundAs(candidate, clock.now());
  const found = { type: "event", id, event, from: ["inDoubt"] } as const;
  try {
    await journal.apply([found]);
  } catch (error) {
    if (!(error instanceof DocumentIdTaken)) throw error;
    const owner = error.owner === null ? undefined : await journal.document(error.owner);
    const why = owner && (await otherThan(context, owner, candidate));
    if (!owner || why === undefined) return false;
    const problem = { code: error.code, message: error.message };
    const held = { type: "heldBack", at: clock.now(), dueAt: null, problem } as const;
    const givesUp = owner.state === "failed" || (owner.current && owner.goneAt === null);
    await journal.apply(
      givesUp
        ? [backInDoubt(context, owner, why), found]
        : [{ type: "event", id, event: held, from: ["inDoubt"] }],
    );
  }
  return true;
}
