import type { Document } from "../domain/document.ts";
import type { Outcome } from "../domain/outcome.ts";
import { eventFor } from "../domain/event-for.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import { HOLD } from "./waits.ts";

/** Journals what became of an attempt; resolves with what that came to. */
export async function recordOutcome(
  context: SyncContext,
  { document, mirror }: { readonly document: Document; readonly mirror: LiveMirror },
  outcome: Outcome,
): Promise<Outcome> {
  const { clock, journal, config, random } = context;
  const { settleMs } = mirror.settings;
  const policy = { retry: config.upload.retry, hold: HOLD, poll: config.conversion.poll };
  const event = eventFor(document, outcome, clock.now(), { ...policy, settleMs, random });
  try {
    await journal.apply([{ type: "event", id: document.id, event, from: ["uploading"] }]);
    return outcome;
  } catch (error) {
    if (outcome.kind !== "accepted" || codeOf(error) !== "DOCUMENT_ID_TAKEN") throw error;
    // An archive that gives one id twice has not told us which document is ours.
    const problem = { code: "DOCUMENT_ID_TAKEN", message: messageOf(error) };
    return await recordOutcome(context, { document, mirror }, { kind: "inDoubt", problem });
  }
}
