/**
 * Settling: rows whose quiet time is over are looked at closely. Unchanged, whole and hashed, they
 * become `pending`, once a hook has had its say, unless their bytes are in the archive already: a
 * touched file, or one that was only renamed or moved.
 */
import type { Document } from "../domain/document.ts";
import { LARGE_BYTES } from "../domain/feed.ts";
import { type Quiet, ripeness, unfitSize } from "../domain/settle.ts";
import type { Change, DueQuery, Note } from "../journal/journal.ts";
import { LineCut } from "../reader/line.ts";
import type { Inspection } from "../source/source.ts";
import { joinRaw } from "../std/raw-path.ts";
import { alreadySent, type Whole } from "./already-sent.ts";
import { asSeen } from "./as-seen.ts";
import { BeforeHooks } from "./before-hooks.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import { listAnew } from "./list-anew.ts";
import { SetForward } from "./mended-clock.ts";
import { BESIDE, HOLD } from "./patience.ts";
import { loop, untilNext } from "./loop.ts";
import { PuttingAway } from "./putting-away.ts";
import { Readying } from "./readying.ts";
import { type Followed, recall } from "./recall.ts";
import type { Stream } from "./send-queue.ts";

/** Files of one inspection at most. */
const INSPECT_MAX = 64;

/**
 * While more is ready than can leave, a group of small files is followed by a rest this many times as long as the
 * group took: what is sent needs the same processors, and the first of thousands are not to wait for the last.
 */
const REST_PER_GROUP = 3;
/** But no longer than this, milliseconds: an archive that takes its time needs no processor. */
const REST_MS_MAX = 250;
/** How often it is looked whether what is ready is about to run out, milliseconds. */
const REST_LOOK_MS = 10;

/** A reader that is down comes back by itself; until then nothing can be inspected. */
const READER_DOWN_MS = 500;

/** What is another file at each look, be it written to or on a share that dates it anew, is not looked at all the time. */
const CHANGING_MS_MIN = 250;

/** Small files and large ones settle beside each other. */
type Lane = { sizeMaxBytes: number } | { sizeOverBytes: number };

/** What becomes of a revision that nobody saw whole. What was sent before it stays its path's. */
const REMOVED = "the file was removed before it was sent";

export class Settler {
  readonly #context: SyncContext;
  readonly #readying: Readying;
  readonly #hooks: BeforeHooks;
  readonly #setForward: SetForward;
  readonly #puttingAway: PuttingAway;
  readonly #stream: Pick<Stream, "isSupplied" | "ready"> | undefined;
  /** When small files may be looked at again, by the monotonic clock. */
  #restUntil = Number.NEGATIVE_INFINITY;
  /** Now, and by the monotonic clock: how long ago that was no clock that is set can hide. */
  readonly #startedAt: { readonly now: number; readonly monotonic: number };

  constructor(
    context: SyncContext,
    puttingAway = new PuttingAway(),
    stream?: Pick<Stream, "isSupplied" | "ready">,
  ) {
    this.#context = context;
    this.#stream = stream;
    this.#puttingAway = puttingAway;
    this.#readying = new Readying(context);
    this.#hooks = new BeforeHooks(context, this.#readying);
    const { clock } = context;
    this.#setForward = new SetForward(clock);
    this.#startedAt = { now: clock.now(), monotonic: clock.monotonic() };
  }

  /** Two lanes a mirror, so that hashing one large file does not keep small ones waiting. */
  async run(stopping: AbortSignal): Promise<void> {
    const { mirrors } = this.#context;
    await Promise.all([
      this.#hooks.run(stopping),
      ...[...mirrors.values()].flatMap((mirror) => [
        loop(mirror.settling.small, this.#context, stopping, () => this.#stepSmall(mirror)),
        loop(mirror.settling.large, this.#context, stopping, () =>
          this.#step(mirror, { sizeOverBytes: LARGE_BYTES }, 1),
        ),
      ]),
    ]);
  }

  async #stepSmall(mirror: LiveMirror): Promise<number> {
    const { clock } = this.#context;
    const begunAt = clock.monotonic();
    const restMs = this.#stream?.isSupplied ? this.#restUntil - begunAt : 0;
    if (restMs > 0) return Math.min(restMs, REST_LOOK_MS);
    const waitMs = await this.#step(mirror, { sizeMaxBytes: LARGE_BYTES }, INSPECT_MAX);
    const endedAt = clock.monotonic();
    this.#restUntil = endedAt + Math.min(REST_PER_GROUP * (endedAt - begunAt), REST_MS_MAX);
    return waitMs;
  }

  async #step(mirror: LiveMirror, lane: Lane, limit: number): Promise<number> {
    const { journal, clock } = this.#context;
    this.#setForward.look();
    const division = this.#context.duties?.division(mirror.row.id);
    const query = { state: "settling", mirrorId: mirror.row.id, division, ...lane } as const;
    const now = clock.now();
    const due = await this.#due(mirror, { ...query, now, limit });
    if (due === "full") return Number.POSITIVE_INFINITY;
    if (due.length === 0) return untilNext(journal, query, now);
    try {
      const changes = await this.#judged(mirror, due);
      await journal.apply(changes);
      this.#stream?.ready(changes.filter(isSettled).length);
      const left = changes.flatMap((change) => (change.type === "directory" ? [change.dir] : []));
      if (left.length > 0) await mirror.reader.unlearn(mirror.row.id, left);
      return 0;
    } catch (error) {
      if (error instanceof LineCut) return READER_DOWN_MS;
      throw error;
    }
  }

  /** No more than the mirror's hook may be asked about now, and none of which it is being asked. */
  async #due(mirror: LiveMirror, query: DueQuery): Promise<Document[] | "full"> {
    const limit = Math.min(query.limit, this.#hooks.room(mirror));
    if (limit <= 0) return "full";
    const asked = this.#hooks.asked(mirror);
    const { journal } = this.#context;
    const wanted = { ...query, limit: limit + asked.size };
    // Of a part that is led nobody else takes anything.
    const due = await (query.division ? journal.due(wanted) : journal.take(wanted));
    return due.filter(({ id }) => !asked.has(id)).slice(0, limit);
  }

  /** What a close look at these files changes. */
  async #judged(mirror: LiveMirror, due: readonly Document[]): Promise<Change[]> {
    const files = due.map((document) => ({
      path: joinRaw(document.dir, document.name),
      seen: document.seen,
    }));
    const inspections = await mirror.reader.inspect(mirror.row.id, files, { pages: true });
    const changes: Change[] = [];
    /** What each batch came to with the last document that joined it. */
    const batches = new Map<string, Change>();
    const puttingAway = this.#puttingAway;
    const followed: Followed = { rows: new Set(), remembered: new Set(), puttingAway };
    for (const [index, document] of due.entries()) {
      const inspection = inspections[index];
      if (!inspection) continue;
      const judged = await this.#judge(mirror, document, inspection, followed);
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
    followed: Followed,
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
          listAnew(document.mirrorId, document.dir),
        ];
      case "unreadable":
        return [this.#readying.held(document, found.trouble, HOLD)];
      case "waits":
        return [this.#readying.held(document, found.trouble, BESIDE)];
      case "changed": {
        const dueAt = at + Math.max(mirror.settings.settleMs, CHANGING_MS_MIN);
        const event = { type: "changed", at, dueAt, seen: found.seen } as const;
        return [{ type: "event", id, event, from }];
      }
      case "whole":
        return this.#ripe(mirror, document, found, followed);
    }
  }

  async #ripe(
    mirror: LiveMirror,
    document: Document,
    found: Whole,
    followed: Followed,
  ): Promise<Change[]> {
    const { settleMs, incompleteMs } = mirror.settings;
    const at = this.#context.clock.now();
    const skipped = this.#setForward.look();
    const unsure = this.#quietOnceMore(document, settleMs, at, skipped.at(-1)?.to);
    if (unsure) return [unsure];
    const { ready } = mirror.settings.rules;
    const { minAgeMs } = ready;
    const { changedAt } = document;
    const quiet: Quiet = { now: at, changedAt, settleMs, incompleteMs, minAgeMs, skipped };
    const unfit = unfitSize(found.seen, ready);
    if (unfit) return [this.#readying.held(document, unfit, null)];
    const ripe = ripeness(found.seen, found.completeness, quiet);
    switch (ripe.kind) {
      case "wait": {
        const { dueAt, trouble } = ripe;
        const event = { type: "unfinished", at, dueAt, trouble } as const;
        return [{ type: "event", id: document.id, event, from: ["settling"] }];
      }
      case "empty":
        return [this.#readying.held(document, ripe.trouble, null)];
      case "ripe":
        return (
          (await alreadySent(this.#context, mirror, document, found, followed)) ??
          (await this.#recalled(mirror, document, found, followed)) ??
          this.#ready(mirror, document, found, ripe.remark)
        );
    }
  }

  /**
   * A file is quiet from when it was last seen to change, whatever made it due. What the clock says of
   * how long that is holds only while it was not set: not across a setting that was noticed, nor across
   * a time in which nobody was there to notice.
   */
  #quietOnceMore(
    { id, changedAt }: Document,
    settleMs: number,
    at: number,
    clockSetAt = Number.NEGATIVE_INFINITY,
  ): Change | undefined {
    const later = (dueAt: number, why: string, set: Note = {}): Change => {
      return { type: "note", id, at, why, set: { ...set, dueAt } };
    };
    if (changedAt > at) {
      // When it changed by the clock as it is now, nobody knows: not later than this.
      const why = "seen by a clock that ran ahead: it has to be quiet once more";
      return later(at + settleMs, why, { changedAt: at });
    }
    const quietAt = changedAt + settleMs;
    if (at < quietAt) return later(quietAt, "not quiet for `settle` yet");
    const { now, monotonic } = this.#startedAt;
    const leftMs = settleMs - (this.#context.clock.monotonic() - monotonic);
    if (changedAt < now && leftMs > 0) {
      const why = "seen before the daemon was started: it has to be quiet once more";
      return later(at + leftMs, why);
    }
    const unsetAt = clockSetAt + settleMs;
    if (at >= unsetAt) return undefined;
    return later(unsetAt, "the clock was set forward: it has to be quiet once more");
  }

  /** Decided at once; or a hook is asked, which takes its time beside all this. */
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

  /** A file that was sent so long ago that its row was dropped: the archive is asked about it again. */
  async #recalled(
    mirror: LiveMirror,
    document: Document,
    found: Whole,
    followed: Followed,
  ): Promise<Change[] | undefined> {
    const known = await recall(this.#context.journal, document, found.digest, followed);
    if (!known) return undefined;
    const at = this.#context.clock.now();
    const event = { type: "adopted", at, dueAt: at, status: null, ...known } as const;
    const settled = await this.#readying.settled(mirror, document, found, { remark: null });
    // Who settles another part of the mirror may have found the same bytes there.
    const adopted = { type: "event", id: document.id, event, from: ["pending"] } as const;
    return [...settled, { ...adopted, unclaimed: true }];
  }
}

function isSettled(change: Change): boolean {
  return change.type === "event" && change.event.type === "settled";
}
