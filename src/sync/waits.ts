/**
 * The waits that loops share, and the rests between pieces of their work. What waits is a row with a due time; each
 * pair here differs from the others for the reason given. docs/architecture.md has the table of all waits.
 */
import { type Backoff, lastingMs } from "../domain/backoff.ts";
import type { Document } from "../domain/document.ts";
import type { RestPolicy } from "../std/work-share.ts";

/** How long documents wait that only time can help: unreadable files, codes nobody knows. */
export const HOLD: Backoff = { initialMs: 30_000, maxMs: 6 * 3_600_000 };

/** How soon it is looked whether this host's clock and the archive's agree. */
export const CLOCKS: Backoff = { initialMs: 10_000, maxMs: 600_000 };

/** How long documents wait for what belongs next to them, which a hint may cut short. */
export const COMPANION: Backoff = { initialMs: 2_000, maxMs: 600_000 };

/** How often missing archive folders are looked for again: a person is creating them. */
export const FOLDERS: Backoff = { initialMs: 5_000, maxMs: 60_000 };

/** How soon something outside the archive that refused is tried again: an after hook, the disk for finished files. */
export const REFUSED: Backoff = { initialMs: 10_000, maxMs: 3_600_000 };

/** The same of one file of which each try is journaled; there may be hundreds of thousands. */
export const REFUSED_FILE: Backoff = { initialMs: 10_000, maxMs: 6 * 3_600_000 };

/** Behind another document: most are settled within seconds, some wait for a person for weeks. */
export const BEHIND: Backoff = { initialMs: 1_000, maxMs: 60_000 };

/** Behind an after-action: its source may be away for days, for thousands, and each look is a write. */
export const BEHIND_ACTION: Backoff = { initialMs: 1_000, maxMs: 600_000 };

/** Behind a source that is away: its return is reported, and a look in between is for what is not. */
export const BEHIND_SOURCE: Backoff = { initialMs: 60_000, maxMs: 3_600_000 };

/** What an archive or a source could not answer, and nothing is waiting for, is asked again after this long. */
export const AGAIN_MS = 10_000;

/** A reader that is down comes back on its own; until then nothing can be asked of it. */
export const READER_DOWN_MS = 500;

/** Milliseconds until a row that waits for `other` is looked at again. */
export function behindMs({ sentAt }: Pick<Document, "sentAt">, now: number): number {
  return lastingMs(BEHIND, sentAt === null ? 0 : now - sentAt);
}

/** Readers that hand over a drop of thousands give way to the first of them, which leave meanwhile. */
export const INTAKE_REST: RestPolicy = { times: 3, maxMs: 50 };

/**
 * What is sent needs the same processors as looking at what comes next; but an archive that takes its time needs
 * none.
 */
export const SETTLER_REST: RestPolicy = { times: 3, maxMs: 250 };

/** Every document that is sent asks for a count of what is outstanding; of ten thousand each takes a millisecond. */
export const COUNT_REST: RestPolicy = { times: 20, maxMs: 1_000 };

/** A source without events is scanned all the time. */
export const POLLING_REST: RestPolicy = { times: 10, minMs: 5_000, maxMs: Infinity };

/** A scan that failed may have taken long to do so, and may succeed now. */
export const FAILED_SCAN_REST: RestPolicy = { ...POLLING_REST, maxMs: 600_000 };
