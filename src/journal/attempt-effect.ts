import type { State } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";

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
    outcome: "trouble" in event ? `${event.type}: ${event.trouble?.code}` : event.type,
    endedAt: event.type === "replyLost" ? null : event.at,
    documentId: "documentId" in event ? event.documentId : null,
  };
}
