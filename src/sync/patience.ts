import type { Backoff } from "../domain/backoff.ts";

/** How long documents wait that only time can help: unreadable files, codes nobody knows. */
export const HOLD: Backoff = { initialMs: 30_000, maxMs: 6 * 3_600_000 };

/** How often missing archive folders are looked for again. */
export const FOLDERS: Backoff = { initialMs: 5_000, maxMs: 60_000 };
