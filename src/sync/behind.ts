/** Waiting for another document to be settled. */
import type { Document } from "../domain/document.ts";

/** Most are settled within seconds. */
const FIRST_MS = 1_000;

/** Behind one that only a person can settle it may be weeks, and each look is journaled. */
const LAST_MS = 60_000;

/**
 * Milliseconds until a row that waits for `other` is looked at again: a quarter of the time that the
 * other has been under way by now, since whoever waited for long can wait a little longer.
 */
export function behindMs({ sentAt }: Pick<Document, "sentAt">, now: number): number {
  const underWayMs = sentAt === null ? 0 : now - sentAt;
  return Math.min(LAST_MS, Math.max(FIRST_MS, Math.round(underWayMs / 4)));
}
