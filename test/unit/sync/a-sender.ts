/** A desk with a sender, and readers that answer as a test says. */
import type { Document, State } from "../../../src/domain/document.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import type { SendOrder } from "../../../src/reader/protocol.ts";
import { Folders, Placement } from "../../../src/sync/folders.ts";
import type { AccountGate } from "../../../src/sync/account-gate.ts";
import { Sender } from "../../../src/sync/sender.ts";
import { CONFIG, SyncDesk } from "./desk.ts";

export type Bench = { desk: SyncDesk; keeper: AccountGate; sender: Sender; folderId: number };

/** A desk with a sender, and an archive that has the folder everything goes to. */
export async function aSender(options: Parameters<typeof SyncDesk.open>[0] = {}): Promise<Bench> {
  const desk = await SyncDesk.open(options);
  const folderId = desk.archive.addFolder("Scans");
  const keeper = await desk.keeper();
  const placement = new Placement(new Folders(desk.archive));
  return { desk, keeper, folderId, sender: new Sender(desk.context, keeper, placement) };
}

/** Uploads that end when the test says so. */
export function stalled({ desk }: Bench, mirrorId = 1) {
  const open: { order: SendOrder; end: (outcome: Outcome) => void }[] = [];
  desk.readerOf(mirrorId).onSend = (order) =>
    new Promise((end) => {
      open.push({ order, end });
    });
  return open;
}

export const stored = (documentId: number): Outcome => ({
  kind: "accepted",
  documentId,
  status: "UPLOADED",
});

/** The reader answers every upload so. */
export function answers({ desk }: Bench, outcome: Outcome | ((order: SendOrder) => Outcome)): void {
  desk.reader.onSend = (order) => (typeof outcome === "function" ? outcome(order) : outcome);
}

export function refusal(code: string, retryAfterMs: number | null = null): Outcome {
  return { kind: "refused", problem: { code, message: `refused: ${code}` }, retryAfterMs };
}

/** An upload that was refused as if it were the account; whether it is, a look-up shows. */
export function suspected(code: string): Outcome {
  return { ...refusal(code), credentials: true } as Outcome;
}

/** A reply that proves nothing, in the archive's own words. */
export function unnamed(code: string): Outcome {
  const problem = { code, message: `answered ${code}` };
  return { kind: "inDoubt", problem, retryAfterMs: null, unnamed: true };
}

export function notSent(retryAfterMs: number | null = null): Outcome {
  const problem = { code: "ARCHIVE_UNREACHABLE", message: "connection refused" };
  return { kind: "notSent", problem, retryAfterMs };
}

/** One upload at a time, all else as it is. */
export function oneAtATime() {
  return { ...CONFIG.upload, concurrency: 1 };
}

/** How many rows are in each state. */
export function statesOf(desk: SyncDesk): Partial<Record<State, number>> {
  const groups = Map.groupBy(desk.journal.store.rows, (row: Document) => row.state);
  return Object.fromEntries([...groups].map(([state, rows]) => [state, rows.length]));
}
