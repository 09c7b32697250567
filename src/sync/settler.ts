/**
 * Settling: rows whose quiet time is over are looked at closely. Unchanged, whole and hashed, they
 * become `pending`, once a hook has had its say, unless their bytes are in the archive already: a
 * touched file, or one that was only renamed or moved.
 */
import type { Document, Problem } from "../domain/document.ts";
import { LARGE_BYTES } from "../domain/feed.ts";
import { isAskedFor, quietMsOf } from "../domain/settle.ts";
import type { Change, DueQuery } from "../journal/journal.ts";
import { ChannelClosed } from "../reader/rpc-channel.ts";
import type { Inspection } from "../source/source.ts";
import { DutyCycle } from "../std/duty-cycle.ts";
import { joinRaw } from "../std/raw-path.ts";
import { alreadySent, sentOften, type Settled, type Whole } from "./already-sent.ts";
import { asSeen } from "./if-unchanged.ts";
import { BeforeHooks } from "./before-hooks.ts";
import { CloseLook } from "./close-look.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import { judge } from "./decision.ts";
import { invalidateDirectory } from "./invalidate-directory.ts";
import { learn, type Suspect, suspectOf } from "./learned-settle.ts";
import { COMPANION, HOLD, READER_DOWN_MS, SETTLER_REST } from "./waits.ts";
import { loop, untilNext } from "./loop.ts";
import { AfterActions } from "./after-actions.ts";
import { QuietTime } from "./quiet-time.ts";
import { Readying } from "./prepare.ts";
import { type Followed, recall } from "./recall.ts";
import type { QueueState } from "./send-queue.ts";

/** Files of one inspection at most. */
const INSPECT_MAX = 64;

/** While it rests it looks this often whether what is ready is about to run out. */
const REST_LOOK_MS = 10;

/** What is another file at each look, be it written to or on a share that dates it again, is not looked at all the time. */
const CHANGING_MS_MIN = 250;

/** Small files and large ones settle next to each other. */
type Lane = { sizeMaxBytes: number } | { sizeOverBytes: number };

/** What is known of what was sent before a file that is looked at. */
type Before = Followed & { readonly suspect: Suspect | undefined };

/** What becomes of a revision that nobody saw whole. What was sent before it stays its path's. */
const REMOVED = "the file was removed before it was sent";

export class Settler {
  readonly #context: SyncContext;
  readonly #readying: Readying;
  readonly #hooks: BeforeHooks;
  readonly #quietTime: QuietTime;
  readonly #afterActions: AfterActions;
  readonly #look: CloseLook;
  readonly #stream: Pick<QueueState, "isSupplied" | "ready"> | undefined;
  /** Of looking at small files, while more is ready than can leave. */
  readonly #duty: DutyCycle;

  constructor(
    context: SyncContext,
    afterActions = new AfterActions(),
    stream?: Pick<QueueState, "isSupplied" | "ready">,
  ) {
    this.#context = context;
    this.#stream = stream;
    this.#duty = new DutyCycle(context.clock, SETTLER_REST);
    this.#afterActions = afterActions;
    this.#look = new CloseLook(context);
    this.#readying = new Readying(context);
    this.#hooks = new BeforeHooks(context, this.#readying);
    this.#quietTime = new QuietTime(context.clock);
  }

  /** Two lanes a mirror, so that hashing one large file does not keep small ones waiting. */
  async run(stopping: AbortSignal): Promise<void> {
    const { mirrors } = this.#context;
    this.#look.begin(stopping);
    this.#readying.begin(stopping);
    await Promise.all([
      this.#hooks.run(stopping),
      ...[...mirrors.values()].flatMap((mirror) => [
        loop(mirror.settling.small, this.#context, stopping, () =>
          this.#givingWay(() => this.#step(mirror, { sizeMaxBytes: LARGE_BYTES }, INSPECT_MAX)),
        ),
        loop(mirror.settling.large, this.#context, stopping, () =>
          this.#step(mirror, { sizeOverBytes: LARGE_BYTES }, 1),
        ),
      ]),
    ]);
  }

  /** What is sent needs the same processors, and the first of thousands are not to wait for the last. */
  async #givingWay(step: () => Promise<number>): Promise<number> {
    const restMs = this.#stream?.isSupplied ? this.#duty.restMs : 0;
    return restMs > 0 ? Math.min(restMs, REST_LOOK_MS) : this.#duty.work(step);
  }

  async #step(mirror: LiveMirror, lane: Lane, limit: number): Promise<number> {
    const { journal, clock } = this.#context;
    this.#quietTime.look();
    const query = { state: "settling", mirrorId: mirror.row.id, ...lane } as const;
    const now = clock.now();
    const due = await this.#due(mirror, { ...query, now, limit });
    if (due === "full") return Number.POSITIVE_INFINITY;
    if (due.length === 0) return untilNext(journal, query, now);
    try {
      const changes = await this.#judged(mirror, this.#look.together(mirror, due));
      await journal.apply(changes);
      this.#stream?.ready(changes.filter(isSettled).length);
      const left = changes.flatMap((change) => (change.type === "directory" ? [change.dir] : []));
      if (left.length > 0) await mirror.reader.unlearn(mirror.row.id, left);
      return 0;
    } catch (error) {
      if (error instanceof ChannelClosed) return READER_DOWN_MS;
      throw error;
    }
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

  /** What a close look at these files changes. */
  async #judged(mirror: LiveMirror, due: readonly Document[]): Promise<Change[]> {
    const suspects = await Promise.all(
      due.map((document) => suspectOf(this.#context, mirror, document)),
    );
    const sentBytes = suspects.map((suspect) => suspect?.document.seen.sizeBytes);
    // They cost as much as all else that a close look does, and the archive counts them anyway.
    const pages = this.#context.config.quota.pages?.monthlyPages !== undefined;
    const inspections = await this.#look.at(mirror, due, { pages }, sentBytes);
    const changes: Change[] = [];
    /** What each batch came to with the last document that joined it. */
    const batches = new Map<string, Change>();
    const afterActions = this.#afterActions;
    const followed: Followed = { rows: new Set(), tombstones: new Set(), afterActions };
    for (const [index, document] of due.entries()) {
      const inspection = inspections[index];
      if (!inspection) continue;
      const suspect = suspects[index];
      const judged = await this.#judge(mirror, document, inspection, { ...followed, suspect });
      // It may be seen to change meanwhile: then the look is of another content.
      for (const change of asSeen(document, judged)) {
        if (change.type === "batch") batches.set(change.batch.id, change);
        else changes.push(change);
      }
    }
    return [...batches.values(), ...changes];
  }

  async #judge(
    mirror: LiveMirror,
    document: Document,
    found: Inspection,
    before: Before,
  ): Promise<Change[]> {
    const at = this.#context.clock.now();
    const { id } = document;
    const from = ["settling"] as const;
    if (!document.current) {
      const why = "replaced by newer content before it could be sent";
      return [{ type: "forget", id, at, why, from }];
    }
    switch (found.kind) {
      case "gone":
        return [
          { type: "forget", id, at, why: REMOVED, restore: true, goneAt: at, from },
          invalidateDirectory(document.mirrorId, document.dir),
        ];
      case "unreadable":
        return [this.#readying.held(document, found.problem, HOLD)];
      case "waits":
        return this.#lacking(mirror, document, found.problem, before);
      case "changed": {
        const { settleMs } = mirror.settings;
        const dueAt = at + Math.max(settleMs, CHANGING_MS_MIN);
        const event = { type: "changed", at, dueAt, seen: found.seen, settleMs } as const;
        return [{ type: "event", id, event, from }];
      }
      case "whole":
        return this.#ripe(mirror, document, found, before);
    }
  }

  /**
   * What is to stand next to it is missing or broken, so that it was not read. It is, once, before it is held for
   * that: archived already, it waits for nothing.
   */
  async #lacking(
    mirror: LiveMirror,
    document: Document,
    problem: Problem,
    followed: Followed,
  ): Promise<Change[]> {
    const held = [this.#readying.held(document, problem, COMPANION)];
    if (document.problem?.code === problem.code) return held;
    const quietMs = quietMsOf(document, mirror.settings.settleMs);
    const unsure = this.#quietTime.onceMore(document, quietMs);
    if (unsure) return [unsure];
    const [whole] = await this.#look.at(mirror, [document], { pages: false, alone: true });
    if (whole?.kind !== "whole") return held;
    const at = this.#context.clock.now();
    return (await this.#known({ mirror, document, whole, followed, at })) ?? held;
  }

  async #ripe(
    mirror: LiveMirror,
    document: Document,
    found: Whole,
    before: Before,
  ): Promise<Change[]> {
    const { settleMs } = mirror.settings;
    const at = this.#context.clock.now();
    const skipped = this.#quietTime.look();
    const quietTime = (ms: number) => this.#quietTime.onceMore(document, quietMsOf(document, ms));
    const unsure = quietTime(settleMs);
    if (unsure) return [unsure];
    const suspect = found.completeness === "unfinished" ? undefined : before.suspect;
    if (suspect && (await learn(this.#context, mirror, suspect, found))) {
      const notYet = quietTime(mirror.settings.settleMs);
      if (notYet) return [notYet];
    }
    // The rules are for what is to be sent: archived already, it may lack what they ask for by now.
    const file = { mirror, document, whole: found, followed: before, at };
    const known = await this.#known(file);
    if (known) return known;
    const { changedAt } = document;
    const standing = { now: at, changedAt, anyway: isAskedFor(document), skipped };
    const ripe = judge(mirror.settings, found, standing);
    if (ripe.kind === "unfit") return [this.#readying.held(document, ripe.problem, null)];
    if (ripe.kind === "wait") {
      const { dueAt, problem } = ripe;
      const event = { type: "unfinished", at, dueAt, problem } as const;
      return [{ type: "event", id: document.id, event, from: ["settling"] }];
    }
    return (
      (await sentOften(this.#context, file)) ??
      (ripe.kind === "held"
        ? [this.#readying.held(document, ripe.problem, null)]
        : this.#ready(mirror, document, found, ripe.remark))
    );
  }

  /** Decided at once; or a hook is asked, which takes its time next to all this. */
  async #ready(
    mirror: LiveMirror,
    document: Document,
    found: Whole,
    remark: string | null,
  ): Promise<Change[]> {
    const hook = mirror.settings.hooks?.before;
    if (!hook) return this.#readying.settled(mirror, document, found, { remark });
    const path = joinRaw(document.dir, document.name);
    this.#hooks.ask({ mirror, hook, document, path, found, remark });
    return [];
  }

  /** What becomes of bytes that are in the archive, or are left alone; undefined: they are to be sent. */
  async #known(file: Settled): Promise<Change[] | undefined> {
    return (await alreadySent(this.#context, file)) ?? this.#recalled(file);
  }

  /** A file that was sent so long ago that its row was dropped: the archive is asked about it again. */
  async #recalled({
    mirror,
    document,
    whole,
    followed,
    at,
  }: Settled): Promise<Change[] | undefined> {
    const known = await recall(this.#context.journal, document, whole.digest, followed);
    if (!known) return undefined;
    const sentBytes = whole.seen.sizeBytes;
    const event = { type: "adopted", at, dueAt: at, status: null, sentBytes, ...known } as const;
    const settled = await this.#readying.known(mirror, document, whole);
    // Who settles another part of the mirror may have found the same bytes there.
    const adopted = { type: "event", id: document.id, event, from: ["pending"] } as const;
    return [...settled, { ...adopted, unclaimed: true }];
  }
}

function isSettled(change: Change): boolean {
  return change.type === "event" && change.event.type === "settled";
}
