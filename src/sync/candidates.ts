import type { Document } from "../domain/document.ts";
import { LARGE_BYTES, interleave, largeSlots } from "../domain/feed.ts";
import type { SyncContext } from "./context.ts";

/** What is to be claimed next: fair between mirrors, and so that large files starve no small ones. */
export class Candidates {
  readonly #context: SyncContext;
  #lastMirrorId: number | undefined;

  constructor(context: SyncContext) {
    this.#context = context;
  }

  /** As many as `slots` of what is ready at `now`, of mirrors whose reader answers. */
  async next(slots: number, largeUnderWay: number, now: number): Promise<Document[]> {
    const { journal, mirrors, pace } = this.#context;
    const large = Math.max(0, largeSlots(pace.limit) - largeUnderWay);
    const queues = new Map<number, Document[]>();
    for (const [mirrorId, { reader }] of mirrors) {
      // A reader that is down would give everything back; it says when it is up, or speaks again.
      if (reader.pid === undefined || reader.silent) continue;
      const query = { state: "pending", now, mirrorId } as const;
      const some = await journal.due({ ...query, limit: slots, sizeMaxBytes: LARGE_BYTES });
      const big =
        large === 0
          ? []
          : await journal.due({ ...query, limit: large, sizeOverBytes: LARGE_BYTES });
      const both = [...some, ...big].sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));
      if (both.length > 0) queues.set(mirrorId, both);
    }
    const priorityOf = (id: number) => mirrors.get(id)?.settings.rules.priority ?? 0;
    const chosen = interleave(queues, this.#lastMirrorId, slots, priorityOf);
    this.#lastMirrorId = chosen.at(-1)?.mirrorId;
    // Each mirror may have offered as many large ones as there is room for.
    let room = large;
    return chosen.filter(({ seen }) => seen.sizeBytes <= LARGE_BYTES || room-- > 0);
  }
}
