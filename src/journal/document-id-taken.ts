import { Fault } from "../std/fault.ts";

/** The archive gave two documents the same id: nothing can be said about either any more. */
export class DocumentIdTaken extends Fault {
  override readonly name = "DocumentIdTaken";
  /** The row that has the id; null: one that was dropped. */
  readonly owner: number | null;

  /** `what`: the event by which the row `id` would have it, too. */
  constructor(id: number, what: string, documentId: number, owner: number | null) {
    const whose = owner === null ? "that of a file long gone" : `document ${owner}'s`;
    super(
      "DOCUMENT_ID_TAKEN",
      `document ${id}: ${what} with archive document ${documentId}, which is ${whose}`,
      "Compare the two in the archive: it gave one id for both, or holds one of them only, as after it was taken back to a backup or exchanged for another archive.",
    );
    this.owner = owner;
  }
}
