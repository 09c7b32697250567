import type { Backoff } from "../domain/backoff.ts";

/** How long documents wait that only time can help: unreadable files, codes nobody knows. */
export const HOLD: Backoff = { initialMs: 30_000, maxMs: 6 * 3_600_000 };

/** How soon it is looked whether this host's clock and the archive's agree. */
export const CLOCKS: Backoff = { initialMs: 10_000, maxMs: 600_000 };

/** How long documents wait for what belongs next to them, which a hint may cut short. */
export const COMPANION: Backoff = { initialMs: 2_000, maxMs: 600_000 };

/** How often missing archive folders are looked for again. */
export const FOLDERS: Backoff = { initialMs: 5_000, maxMs: 60_000 };
