import type { Document } from "./document.ts";

/** Files larger than this may not take every slot: a large file does not starve small ones. */
export const LARGE_BYTES = 16 * 1024 * 1024;

/** Which document of a mirror goes first: ready for longest, or ready last. */
export const ORDERS = ["oldest", "newest"] as const;

/** Which of a mirror's own documents goes first. */
export type Order = (typeof ORDERS)[number];

/** Compares two documents of a mirror that are ready. Equal ones go as they were first seen. */
export function byOrder(order: Order): (a: Document, b: Document) => number {
  if (order === "newest") return (a, b) => (b.dueAt ?? 0) - (a.dueAt ?? 0) || b.id - a.id;
  return (a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || a.id - b.id;
}

/** How many of `slots` large files may hold at once: all but a quarter, at least one. */
export function largeSlots(slots: number): number {
  return Math.max(1, Math.floor((slots * 3) / 4));
}

/**
 * One from each mirror in turn, beginning with the mirror after `lastMirrorId`: a mirror with a
 * hundred thousand files does not keep another's one file waiting. Order within a mirror is kept.
 * Mirrors of a higher priority go first, and what they leave is shared by the others.
 */
export function interleave(
  queues: ReadonlyMap<number, readonly Document[]>,
  lastMirrorId: number | undefined,
  limit: number,
  priorityOf: (mirrorId: number) => number = () => 0,
): Document[] {
  const classes = Map.groupBy(queues.keys(), priorityOf);
  const chosen: Document[] = [];
  for (const priority of [...classes.keys()].sort((a, b) => b - a)) {
    const ids = classes.get(priority) ?? [];
    chosen.push(...inTurn(queues, ids, lastMirrorId, limit - chosen.length));
  }
  return chosen;
}

function inTurn(
  queues: ReadonlyMap<number, readonly Document[]>,
  mirrorIds: readonly number[],
  lastMirrorId: number | undefined,
  limit: number,
): Document[] {
  const ids = mirrorIds.toSorted((a, b) => a - b);
  const start = lastMirrorId === undefined ? 0 : ids.findIndex((id) => id > lastMirrorId);
  const order = start <= 0 ? ids : [...ids.slice(start), ...ids.slice(0, start)];
  const chosen: Document[] = [];
  for (let round = 0; chosen.length < limit; round++) {
    const before = chosen.length;
    for (const id of order) {
      const document = queues.get(id)?.[round];
      if (document && chosen.length < limit) chosen.push(document);
    }
    if (chosen.length === before) break;
  }
  return chosen;
}

/**
 * How many documents may be claimed and not settled at a time, as multiples of how many are sent at
 * once. Few, because what is claimed when the power goes is in doubt afterwards; more only while
 * commits are slower than the line, so that the line need not wait for the disk.
 */
const TIMES = { min: 2, max: 16 };

/** Grows while the line runs dry although there is enough to send; starts over when there is not. */
export class LookAhead {
  #times = TIMES.min;

  /** How many may be claimed in all where `concurrency` are sent at once. */
  documents(concurrency: number): number {
    return this.#times * concurrency;
  }

  /**
   * How many more may be claimed where `concurrency` are sent at once and `underWay` are claimed;
   * several or none, so that intents are committed in groups.
   */
  slots(concurrency: number, underWay: number): number {
    const documents = this.documents(concurrency);
    const slots = documents - underWay;
    return slots < documents / 4 ? 0 : slots;
  }

  /** `found` documents were there for `slots`; `ranDry`: less than possible was being sent. */
  found(found: number, slots: number, ranDry: boolean): void {
    if (found < slots) this.#times = TIMES.min;
    else if (ranDry) this.#times = Math.min(2 * this.#times, TIMES.max);
  }
}
