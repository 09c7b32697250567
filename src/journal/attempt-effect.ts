import type { Document, State } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";
import { invariant } from "../std/fault.ts";
import type { AttemptRow } from "./rows.ts";

/** The attempt that was begun at `at` with the intent of this row. */
export function begunAttempt(row: Document, at: number): AttemptRow {
  const { id, digest, sentName, folderId, batch } = row;
  invariant(
    digest !== null && sentName !== null && folderId !== null && batch !== null,
    `document ${id}: claimed before it was settled`,
  );
  const intent = { digest, sentName, folderId, batch };
  return { startedAt: at, endedAt: null, ...intent, outcome: null, documentId: null };
}

/** The attempts of a row, of which these were written; that of an ordinary row follows from the row itself. */
export function attemptsOf(
  row: Document | undefined,
  written: readonly AttemptRow[],
): AttemptRow[] {
  const { sentAt, uploadedAt: endedAt, documentId } = row ?? {};
  if (!row?.ordinary || sentAt == null) return [...written];
  const begun = begunAttempt(row, sentAt);
  return [
    endedAt == null
      ? begun
      : { ...begun, endedAt, outcome: "accepted", documentId: documentId ?? null },
  ];
}

/**
 * What an event does to the document's attempt.
 * - `open`: the intent is journaled.
 * - `drop`: the attempt was given back before it began.
 * - `outcome`: what became of it; an attempt in doubt has an outcome and no end yet.
 */
export type AttemptEffect =
  | { type: "open" }
  | { type: "drop" }
  | { type: "outcome"; outcome: string; endedAt: number | null; documentId: number | null };

/** The effect of `event` on a document in `from`; undefined when it is not about the attempt. */
export function attemptEffect(from: State, event: Event): AttemptEffect | undefined {
  if (event.type === "claimed") return { type: "open" };
  if (from !== "uploading" && from !== "inDoubt") return undefined;
  if (event.type === "looked") return undefined;
  if (event.type === "released") return { type: "drop" };
  return {
    type: "outcome",
    outcome: "problem" in event ? `${event.type}: ${event.problem?.code}` : event.type,
    endedAt: event.type === "inDoubt" ? null : event.at,
    documentId: "documentId" in event ? event.documentId : null,
  };
}
