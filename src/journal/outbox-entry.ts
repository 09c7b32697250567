/** What an `after` hook is to be told: outcomes of documents, kept until it was. Pure. */
import type { Document } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";

/** How a document's way ended. `skipped`: the archive has its content of another path. */
export type HookOutcome = "converted" | "failed" | "vetoed" | "skipped";

/** One outcome that a hook has not been told yet. */
export type OutboxEntry = {
  /** Never used twice in a journal. */
  readonly number: number;
  readonly mirrorId: number;
  readonly outcome: HookOutcome;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The row as the outcome left it; it may be another by now, or gone. */
  readonly document: Document;
  /** How often the hook has failed. */
  readonly tries: number;
  readonly dueAt: number;
};

/** The outcome that `event` is; undefined when it is none. */
export function toldBy(event: Event): HookOutcome | undefined {
  switch (event.type) {
    case "converted":
      return "converted";
    case "refused":
    case "vanished":
      return "failed";
    case "vetoed":
      return "vetoed";
    case "duplicated":
      return "skipped";
    default:
      return undefined;
  }
}
