/** Settling: rows whose quiet time is over are looked at closely, and what that decides is journaled. */
import type { Document } from "../domain/document.ts";
import { LARGE_BYTES } from "../domain/feed.ts";
import type { Change, DueQuery, WorkQueue } from "../journal/journal.ts";
import { ChannelClosed } from "../reader/rpc-channel.ts";
import { WorkShare } from "../std/work-share.ts";
import { asSeen } from "./changes.ts";
import { BeforeHooks } from "./before-hooks.ts";
import type { DecisionJournal, LiveMirror, SyncContext } from "./context.ts";
import { READER_DOWN_MS, SETTLER_REST } from "./waits.ts";
import { loop, untilNext } from "./loop.ts";
import { AfterActions } from "./after-actions.ts";
import { QuietTime } from "./quiet-time.ts";
import { Readying } from "./prepare.ts";
import { type Judged, LOOK_MAX, SettleJudge } from "./settle-judge.ts";
import type { QueueState } from "./send-queue.ts";

/** Files of one step at most while nobody waits for a turn. */
const STEP_MAX = 4 * LOOK_MAX;

/** While it rests it looks this often whether what is ready is about to run out. */
const REST_LOOK_MS = 10;

export class Settler {
  readonly #context: SyncContext<DecisionJournal & WorkQueue>;
  readonly #readying: Readying;
  readonly #hooks: BeforeHooks;
  readonly #quietTime: QuietTime;
  readonly #judge: SettleJudge;
  readonly #afterActions: AfterActions;
  readonly #stream: Pick<QueueState, "isSupplied" | "ready"> | undefined;
  /** While more is ready than can leave, these take a share of the time alone. */
  readonly #smallFiles: WorkShare;

  constructor(
    context: SyncContext<DecisionJournal & WorkQueue>,
    afterActions = new AfterActions(),
    stream?: Pick<QueueState, "isSupplied" | "ready">,
  ) {
    this.#context = context;
    this.#stream = stream;
    this.#smallFiles = new WorkShare(context.clock, SETTLER_REST);
    this.#afterActions = afterActions;
    this.#readying = new Readying(context);
    this.#hooks = new BeforeHooks(context, this.#readying);
    this.#quietTime = new QuietTime(context.clock);
    const patience = { quietTime: this.#quietTime, hooks: this.#hooks };
    this.#judge = new SettleJudge(context, this.#readying, patience);
  }

  /** Two lanes a mirror, so that hashing one large file does not keep small ones waiting. */
  async run(stopping: AbortSignal): Promise<void> {
    const { mirrors } = this.#context;
    this.#judge.begin(stopping);
    this.#readying.begin(stopping);
    await Promise.all([
      this.#hooks.run(stopping),
      ...[...mirrors.values()].flatMap((mirror) => [
        loop(mirror.settling.small, this.#context, stopping, () =>
          this.#givingWay((limit) => this.#step(mirror, { limit, sizeMaxBytes: LARGE_BYTES })),
        ),
        loop(mirror.settling.large, this.#context, stopping, () =>
          this.#step(mirror, { limit: 1, sizeOverBytes: LARGE_BYTES }),
        ),
      ]),
    ]);
  }

  /** What is sent needs the same processors, and the first of thousands are not to wait for the last. */
  async #givingWay(step: (limit: number) => Promise<number>): Promise<number> {
    const givesWay = this.#stream?.isSupplied ?? false;
    const restMs = givesWay ? this.#smallFiles.restMs : 0;
    if (restMs > 0) return Math.min(restMs, REST_LOOK_MS);
    return this.#smallFiles.work(() => step(givesWay ? LOOK_MAX : STEP_MAX));
  }

  async #step(mirror: LiveMirror, lane: Omit<DueQuery, "state" | "now">): Promise<number> {
    const { journal, clock } = this.#context;
    this.#quietTime.look();
    const query = { state: "settling", mirrorId: mirror.row.id, ...lane } as const;
    const now = clock.now();
    const due = await this.#due(mirror, { ...query, now });
    if (due === "full") return Number.POSITIVE_INFINITY;
    if (due.length === 0) return untilNext(journal, query, now);
    const afterActions = this.#afterActions;
    const followed = { rows: new Set<number>(), tombstones: new Set<number>(), afterActions };
    try {
      let writing = Promise.resolve();
      for await (const judged of this.#judge.of(mirror, due, followed)) {
        await writing;
        writing = this.#write(mirror, judged);
        writing.catch(() => {});
      }
      await writing;
      return 0;
    } catch (error) {
      if (error instanceof ChannelClosed) return READER_DOWN_MS;
      throw error;
    }
  }

  async #write(mirror: LiveMirror, judged: readonly Judged[]): Promise<void> {
    // It may be seen to change meanwhile: then the look is of another content.
    const changes = judged.flatMap((each) => asSeen(each.document, each.changes));
    await this.#context.journal.apply(changes);
    this.#stream?.ready(changes.filter(isSettled).length);
    const left = changes.flatMap((change) => (change.type === "directory" ? [change.dir] : []));
    if (left.length > 0) await mirror.reader.unlearn(mirror.row.id, left);
  }

  /** No more than the mirror's hook may be asked about now, and none of which it is being asked. */
  async #due(mirror: LiveMirror, query: DueQuery): Promise<Document[] | "full"> {
    const limit = Math.min(query.limit, this.#hooks.room(mirror));
    if (limit <= 0) return "full";
    const asked = this.#hooks.asked(mirror);
    const { journal } = this.#context;
    const due = await journal.take({ ...query, limit: limit + asked.size });
    return due.filter(({ id }) => !asked.has(id)).slice(0, limit);
  }
}

function isSettled(change: Change): boolean {
  return change.type === "event" && change.event.type === "settled";
}
