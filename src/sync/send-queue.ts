import PQueue from "p-queue";
import { byOrder, interleave, LARGE_BYTES, largeSlots, LookAhead } from "../domain/feed.ts";
import type { Reader } from "../reader/reader.ts";
import type { Clock } from "../std/clock.ts";
import type { Document } from "../domain/document.ts";
import { metadataOf } from "../domain/attributes.ts";
import type { SendOrder } from "../reader/protocol.ts";
import { joinRaw } from "../std/raw-path.ts";
import type { WorkQueue } from "../journal/journal.ts";
import type { Budget } from "./budget.ts";
import { isReachable, type LiveMirror, type SyncContext } from "./context.ts";

/** Attempts that begin or end within this time of each other make a stream, milliseconds. */
const STREAM_MS = 200;

/** As many times what may be claimed at a time is enough for a while. */
const BACKLOG = 2;

/** What is said of the queue to those whose work is to give way to it. */
export type QueueState = Pick<SendQueue, "isStreaming" | "isSupplied" | "ready">;

/** Waits for a place on the line, and holds it as long as `use` takes. */
export type TakeLine = <T>(use: () => Promise<T>) => Promise<T>;

/**
 * The attempts that are under way: so many on the line at a time, some in wait for it, so that
 * intents are committed in groups, and some whose outcome is being journaled. An attempt that hangs
 * with a reader that does not answer takes nobody's place: as long as the silence lasts there is
 * room for one more.
 */
export class SendQueue {
  #limit: number;
  readonly #line: PQueue;
  readonly #ahead = new LookAhead();
  readonly #attempts = new Set<Promise<void>>();
  /** The reader of each attempt that is on the line. */
  readonly #begun = new Set<{ readonly reader: Reader }>();
  #stuck = 0;
  /** At least so many are ready to be added. */
  #backlog = 0;
  readonly #clock: Pick<Clock, "monotonic">;
  /** When an attempt was last begun or ended. */
  #stirredAt = Number.NEGATIVE_INFINITY;

  constructor(limit: number, clock: Pick<Clock, "monotonic">) {
    this.#limit = limit;
    this.#clock = clock;
    this.#line = new PQueue({ concurrency: limit });
  }

  /** How many are on the line at a time. */
  set limit(limit: number) {
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.rebalance();
  }

  /** Attempts that were added and have not ended. */
  get underWay(): number {
    return this.#attempts.size;
  }

  /** One attempt follows the other just now; not where a single one takes minutes. */
  get isStreaming(): boolean {
    return this.#clock.monotonic() - this.#stirredAt < STREAM_MS;
  }

  /** It does so, and enough is ready for it to go on like this for a while. */
  get isSupplied(): boolean {
    return this.#backlog >= BACKLOG * this.#ahead.documents(this.#limit) && this.isStreaming;
  }

  /** So many more are ready to be added. */
  ready(documents: number): void {
    this.#backlog += documents;
  }

  /** How many more may be added now; several or none. */
  get room(): number {
    return this.#ahead.slots(this.#limit, this.underWay - this.#stuck);
  }

  /** There was `room` for so many, and so many were found. */
  found(found: number, room: number): void {
    this.#backlog = found < room ? 0 : Math.max(0, this.#backlog - found);
    const ranDry = this.underWay > 0 && this.#line.pending - this.#stuck < this.#limit;
    this.#ahead.found(found, room, ranDry);
  }

  /** `attempt` must not reject. */
  add(reader: Reader, attempt: (line: TakeLine) => Promise<void>): void {
    const ending = attempt((use) => this.#line.add(() => this.#on(reader, use))).finally(() =>
      this.#attempts.delete(ending),
    );
    this.#attempts.add(ending);
  }

  /** To be called when a reader has fallen silent, or speaks again. */
  rebalance(): void {
    this.#stuck = [...this.#begun].filter(({ reader }) => reader.silent).length;
    this.#line.concurrency = this.#limit + this.#stuck;
  }

  /** Resolves once what is under way has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#attempts);
  }

  async #on<T>(reader: Reader, use: () => Promise<T>): Promise<T> {
    const begun = { reader };
    this.#begun.add(begun);
    this.#stirredAt = this.#clock.monotonic();
    try {
      return await use();
    } finally {
      this.#begun.delete(begun);
      this.#stirredAt = this.#clock.monotonic();
      if (this.#stuck > 0) this.rebalance();
    }
  }
}

/** What the reader has to send: the intent as it was committed, and in which pieces. */
export function sendOrder(document: Document, pieceBytes: number | null): SendOrder {
  return {
    id: document.id,
    mirrorId: document.mirrorId,
    path: joinRaw(document.dir, document.name),
    seen: document.seen,
    digest: document.digest ?? "",
    folderId: document.folderId ?? 0,
    filename: document.sentName ?? "",
    batch: document.batch ?? "",
    metadata: metadataOf(document.attributes),
    expireDate: document.attributes?.expiry?.sent ?? null,
    pieceBytes,
  };
}

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
