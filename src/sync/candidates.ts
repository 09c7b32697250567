import type { Share } from "../domain/allowance.ts";
import type { Document } from "../domain/document.ts";
import { byOrder, interleave, LARGE_BYTES, largeSlots } from "../domain/feed.ts";
import type { Budget } from "./budget.ts";
import { isReachable, type LiveMirror, type SyncContext } from "./context.ts";

/** How much may be taken, and as of when. */
type Wanted = { readonly slots: number; readonly large: number; readonly now: number };

/**
 * What is to be claimed next: fair between mirrors, so that large files starve no small ones, and
 * no more pages than the budget has left.
 */
export class Candidates {
  readonly #context: SyncContext;
  readonly #budget: Budget;
  readonly #isThere: (mirrorId: number) => boolean;
  #lastMirrorId: number | undefined;

  /** `isThere`: whether a mirror's source can be read from here. */
  constructor(
    context: SyncContext,
    budget: Budget,
    isThere: (mirrorId: number) => boolean = () => true,
  ) {
    this.#isThere = isThere;
    this.#context = context;
    this.#budget = budget;
  }

  /** As many as `slots` of what is ready at `now`, of mirrors whose reader answers. */
  async next(slots: number, largeUnderWay: number, now: number): Promise<Document[]> {
    const { mirrors, pace } = this.#context;
    const large = Math.max(0, largeSlots(pace.limit) - largeUnderWay);
    const shares = await this.#budget.shares(now);
    const queues = new Map<number, Document[]>();
    for (const [mirrorId, mirror] of mirrors) {
      // A reader that is down would give everything back; it says when it is up, or speaks again.
      if (!isReachable(mirror)) continue;
      if (!this.#isThere(mirrorId)) continue;
      const queue = await this.#queue(mirror, { slots, large, now }, shares.of(mirrorId));
      if (queue.length > 0) queues.set(mirrorId, queue);
    }
    const priorityOf = (id: number) => mirrors.get(id)?.settings.rules.priority ?? 0;
    const chosen = interleave(queues, this.#lastMirrorId, slots, priorityOf);
    // Each mirror may have offered as many large ones as there is room for, and all that is left.
    let room = large;
    const next = chosen.filter(
      (document) => (document.seen.sizeBytes <= LARGE_BYTES || room-- > 0) && shares.take(document),
    );
    this.#lastMirrorId = chosen.at(-1)?.mirrorId;
    return next;
  }

  /** A mirror's own next ones, in its order; the smallest where pages are short. */
  async #queue(mirror: LiveMirror, wanted: Wanted, share: Share): Promise<Document[]> {
    if (share.left <= 0) return [];
    if (share.smallFirst) return this.#fewest(mirror, wanted, share);
    const ready = await this.#ready(mirror, wanted);
    const fitting = ready.filter((document) => share.fits(document));
    if (fitting.length === ready.length || fitting.length >= wanted.slots) return fitting;
    // Some of the next ones need more than is left; others, further behind, may not.
    const known = new Set(fitting.map(({ id }) => id));
    const fewest = await this.#fewest(mirror, wanted, share);
    return [...fitting, ...fewest.filter(({ id }) => !known.has(id))];
  }

  async #ready({ row, settings }: LiveMirror, wanted: Wanted): Promise<Document[]> {
    const { slots, large, now } = wanted;
    const { journal } = this.#context;
    const { order } = settings.rules;
    const query = { state: "pending", now, mirrorId: row.id, order } as const;
    const some = await journal.take({ ...query, limit: slots, sizeMaxBytes: LARGE_BYTES });
    const big =
      large === 0 ? [] : await journal.take({ ...query, limit: large, sizeOverBytes: LARGE_BYTES });
    return [...some, ...big].sort(byOrder(order));
  }

  #fewest({ row }: LiveMirror, { slots, now }: Wanted, { left }: Share): Promise<Document[]> {
    const pagesMax = Math.min(left, Number.MAX_SAFE_INTEGER);
    const { unknownPages } = this.#budget.policy;
    const query = { mirrorId: row.id, now, limit: slots, pagesMax, unknownPages };
    return this.#context.journal.fewestPages(query);
  }
}
