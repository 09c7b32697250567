/** All that a journal promises, whatever it is made of. */
import { journalArchivesContract } from "./journal-archives.contract.ts";
import { journalActivityContract } from "./journal-activity.contract.ts";
import { type JournalFixture, journalWritesContract } from "./journal.contract.ts";
import { journalListsContract } from "./journal-lists.contract.ts";
import { journalPagesContract } from "./journal-pages.contract.ts";
import { journalReadsContract } from "./journal-reads.contract.ts";
import { journalRecordsContract } from "./journal-records.contract.ts";
import { journalOutboxEntriesContract } from "./journal-outbox.contract.ts";
import { journalTidyContract } from "./journal-tidy.contract.ts";

export function everyPromise(name: string, open: () => Promise<JournalFixture>): void {
  journalWritesContract(name, open);
  journalReadsContract(name, open);
  journalListsContract(name, open);
  journalRecordsContract(name, open);
  journalOutboxEntriesContract(name, open);
  journalTidyContract(name, open);
  journalActivityContract(name, open);
  journalArchivesContract(name, open);
  journalPagesContract(name, open);
}
