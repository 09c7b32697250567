/** Waiting for what may be over in seconds, or be there for weeks. */
import type { Document } from "../domain/document.ts";

/** Most documents are settled within seconds. */
const FIRST_MS = 1_000;

/** Behind one that only a person can settle it may be weeks, and each look is journaled. */
const LAST_MS = 60_000;

/**
 * Milliseconds until something that has lasted for so long already is looked at again: a quarter of that,
 * since anyone who waited for long can wait a little longer; no less than `firstMs`, no more than `lastMs`.
 */
export function againMs(lastedMs: number, firstMs: number, lastMs: number): number {
  return Math.min(lastMs, Math.max(firstMs, Math.round(lastedMs / 4)));
}

/** Milliseconds until a row that waits for `other` is looked at again. */
export function behindMs({ sentAt }: Pick<Document, "sentAt">, now: number): number {
  return againMs(sentAt === null ? 0 : now - sentAt, FIRST_MS, LAST_MS);
}
