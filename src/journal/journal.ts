import type {
  ArchiveJournal,
  Batches,
  Documents,
  FileIndex,
  Outbox,
  Registry,
  Reports,
  Retention,
  Sharing,
} from "./roles.ts";

export type * from "./list-query.ts";
export type * from "./roles.ts";
export type * from "./rows.ts";

/**
 * The journal: every file that was ever seen, what became of it, and what is to be done next.
 *
 * - Every method is asynchronous. A promise of a writing method resolves when the write is durable
 *   (it would survive a power cut), not before.
 * - Writes issued together may share one commit; they take effect in the order they were issued,
 *   and one call's changes are applied together or not at all.
 * - A write that the disk refuses rejects with a `Fault` (`JOURNAL_FULL`, `JOURNAL_BROKEN`,
 *   `JOURNAL_READ_ONLY`); after a failed sync the journal refuses everything: the process must end.
 * - `state` is written by `apply` alone.
 * - Folder ids, document ids and names mean something within one archive only. A journal speaks for
 *   one archive: as it is opened for the first, and `of` gives the same journal for another. What
 *   is marked "of the archive" knows of no other archive's mirrors; all else is about everything.
 */
export interface Journal
  extends AsyncDisposable,
    ArchiveJournal,
    Batches,
    Documents,
    FileIndex,
    Outbox,
    Registry,
    Reports,
    Retention,
    Sharing {
  /** This journal, speaking for another archive. Closing either closes both. */
  of(archiveId: number): Journal;
  close(): Promise<void>;
}
