import type { Document } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import type { Change, Journal } from "../journal/journal.ts";

/** The change that puts a held or failed row back in the queue; undefined for any other state. */
export function retryOf(document: Document, at: number): Change | undefined {
  const { id, state } = document;
  if (state === "held") return goOn(document, at);
  if (state !== "failed") return undefined;
  return { type: "event", id, event: { type: "goesOn", at }, from: ["failed"] };
}

/**
 * The change by which a held row goes on where it was held: in doubt, before it was settled, or
 * ready to be sent.
 */
export function goOn({ id, doubtAt, digest }: Document, at: number): Change {
  const type = doubtAt !== null ? "lookAgain" : digest === null ? "recheck" : "goesOn";
  return { type: "event", id, event: { type, at }, from: ["held"] };
}

/**
 * A person asked: rows that wait behind the gate do not go through it, so the gate is probed at
 * once instead.
 */
export async function probeNow(journal: Journal, at: number): Promise<void> {
  const gate = await journal.gate();
  if (gate.closedAt !== null) await journal.setGate({ ...gate, nextProbeAt: at });
}

/** True when a row is held by the account's gate, not by anything of its own. */
export function isBehindGate(document: Document): boolean {
  const { state, trouble } = document;
  return state === "held" && trouble !== null && failureOf(trouble.code).fate === "gate";
}
