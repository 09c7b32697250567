import type { WorkQueue } from "../journal/journal.ts";
import type { Document } from "../domain/document.ts";
import { byOrder, interleave, LARGE_BYTES, largeSlots } from "../domain/feed.ts";
import type { Budget } from "./budget.ts";
import { isReachable, type LiveMirror, type SyncContext } from "./context.ts";

/** How much may be taken, and as of when; `pages` may be endless. */
type Wanted = {
  readonly slots: number;
  readonly large: number;
  readonly now: number;
  readonly pages: number;
};

/**
 * What is to be claimed next: fair between mirrors, so that large files starve no small ones, and
 * no more pages than the budget has left.
 */
export class Candidates {
  readonly #context: SyncContext<WorkQueue>;
  readonly #budget: Budget;
  readonly #isThere: (mirrorId: number) => boolean;
  #lastMirrorId: number | undefined;

  /** `isThere`: whether a mirror's source can be read from here. */
  constructor(
    context: SyncContext<WorkQueue>,
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
      const pages = shares.of(mirrorId);
      if (pages <= 0) continue;
      const queue = await this.#ready(mirror, { slots, large, now, pages });
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

  /** A mirror's own next ones that fit what is left, in its order. */
  async #ready({ row, settings }: LiveMirror, wanted: Wanted): Promise<Document[]> {
    const { slots, large, now, pages } = wanted;
    const { journal } = this.#context;
    const { order } = settings.rules;
    const query = { state: "pending", now, mirrorId: row.id, order, pagesMax: pages } as const;
    const some = await journal.take({ ...query, limit: slots, sizeMaxBytes: LARGE_BYTES });
    const big =
      large === 0 ? [] : await journal.take({ ...query, limit: large, sizeOverBytes: LARGE_BYTES });
    return [...some, ...big].sort(byOrder(order));
  }
}
