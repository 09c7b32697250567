/**
 * Sending: takes documents that are ready from the journal, commits the intent of each, and carries
 * them through the queue. The feed is bounded: the journal holds the backlog, not memory.
 */
import type { Document } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import { LARGE_BYTES } from "../domain/feed.ts";
import { isClosed, mayProbe } from "../domain/gate.ts";
import type { Outcome } from "../domain/outcome.ts";
import { pieceBytesAt } from "./bandwidth.ts";
import { Budget } from "./budget.ts";
import { Candidates, type QueueState, sendOrder, SendQueue, type TakeLine } from "./send-queue.ts";
import { type ClaimedDocument, Claimer, type Claims, recordOutcome } from "./claimer.ts";
import type { SendJournal, SyncContext } from "./context.ts";
import type { FirstRun } from "./first-run.ts";
import type { AccountGate } from "./account-gate.ts";
import { loop, untilNext } from "./loop.ts";
import { type Outage, Outages } from "./outage.ts";
import type { Placement } from "./folders.ts";

/** How long requests that are torn down may take to say so, and what is asked before a claim to be answered. */
const CUT_MS = 1_000;

/** Nothing is begun with less than this left of the lease: it could hardly be ended. */
const BEGIN_MS_MIN = 500;

/** A lease that has run out is renewed on its own, or never. */
const LEASE_LOOK_MS = 1_000;

/** What another daemon has taken is anyone's again after this long. */
const TAKEN_MS = 5_000;

/** How an attempt ended, and when it was begun (monotonic ms). */
type Sent = { readonly outcome: Outcome; readonly begunAt: number };

export class Sender {
  readonly #context: SyncContext<SendJournal>;
  readonly #keeper: AccountGate;
  readonly #placement: Placement;
  readonly #budget: Budget;
  readonly #candidates: Candidates;
  readonly #claimer: Claimer;
  readonly #queue: SendQueue;
  readonly #cut = new AbortController();
  readonly #pieceBytes: number | null;
  #large = 0;
  #paused = false; // Read before each claim, too: anyone who said `pause` waits for no notice of it.
  #draining = false;
  #probing = false;
  /** The step that is under way; what it claims is in the queue once it ends. */
  #stepping: Promise<unknown> = Promise.resolve();
  /** A journal that refused an outcome; ends the loop. */
  #failure: unknown;
  readonly #outages: Outages;

  /** `isThere`: whether a mirror's source can be read from here. */
  constructor(
    context: SyncContext<SendJournal>,
    keeper: AccountGate,
    placement: Placement,
    firstRun?: FirstRun,
    isThere?: (mirrorId: number) => boolean,
  ) {
    this.#context = context;
    this.#keeper = keeper;
    this.#placement = placement;
    this.#outages = new Outages(context);
    this.#budget = Budget.of(context);
    this.#candidates = new Candidates(context, this.#budget, isThere);
    this.#claimer = new Claimer(context, placement, firstRun);
    this.#pieceBytes = pieceBytesAt(context.config.upload.bytesPerSecond);
    this.#queue = new SendQueue(context.pace.limit, context.clock);
  }

  get outage(): Outage | undefined {
    return this.#outages.current;
  }

  /** Documents that are claimed and not settled yet. */
  get underWay(): number {
    return this.#queue.underWay;
  }

  /** How documents leave just now. */
  get stream(): QueueState {
    return this.#queue;
  }

  /** A reader has fallen silent, or speaks again. */
  rebalance(): void {
    this.#queue.rebalance();
    this.#context.wakeups.sending.notify();
  }

  async run(stopping: AbortSignal): Promise<never> {
    return loop(this.#context.wakeups.sending, this.#context, stopping, () => {
      const step = this.#step(stopping);
      this.#stepping = step.catch(() => {});
      return step;
    });
  }

  /** `pause` and `resume` write to the journal; this reads what they wrote. */
  async reread(): Promise<void> {
    this.#paused = await this.#context.journal.paused();
    this.#context.wakeups.sending.notify();
  }

  /**
   * Finishes what is being sent, gives back what is only claimed. When `deadline` aborts, requests
   * are torn down; what had left is in doubt and is settled at the next start. A reader that does
   * not even answer that is not waited for.
   */
  async drain(deadline: AbortSignal): Promise<void> {
    this.#draining = true;
    const over = Promise.withResolvers<void>();
    const cut = () => {
      this.#cut.abort(new Error("the time to shut down is over"));
      const grace = this.#context.clock.sleep(CUT_MS, new AbortController().signal);
      grace.then(() => over.resolve(), over.reject);
    };
    if (deadline.aborted) cut();
    deadline.addEventListener("abort", cut, { once: true });
    // A step that has not claimed by now claims nothing: an archive that hangs holds nothing up.
    const patience = this.#context.clock.sleep(CUT_MS, deadline).catch(() => {});
    const idle = Promise.race([this.#stepping, patience]).then(() => this.#queue.idle());
    await Promise.race([idle, over.promise]);
    deadline.removeEventListener("abort", cut);
  }

  async #step(signal: AbortSignal): Promise<number> {
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#context.sending) return Number.POSITIVE_INFINITY;
    if (isClosed(this.#keeper.gate)) return this.#stepClosed(signal);
    if (this.#context.ownership.account && (await this.#keeper.sweep())) return 0;
    this.#paused = await this.#context.journal.paused();
    if (this.#paused || this.#draining) return Number.POSITIVE_INFINITY;
    if (!this.#hasLease) return LEASE_LOOK_MS;
    const now = this.#context.clock.now();
    const waitMs = Math.max(this.#outages.waitMs, this.#context.pace.waitMs);
    if (waitMs > 0) return waitMs;
    const slots = Math.min(this.#slots(), await this.#context.pace.room(this.underWay));
    if (slots <= 0) return Number.POSITIVE_INFINITY;
    const candidates = await this.#candidates.next(slots, this.#large, now);
    this.#queue.found(candidates.length, slots);
    if (candidates.length === 0) {
      return Math.min(this.#budget.endOf(now) - now, await this.#untilNext(now));
    }
    for (const each of (await this.#claim(candidates, signal)).claimed) this.#enqueue(each, false);
    return 0;
  }

  /** Enough is left of this daemon's lease to begin something. */
  get #hasLease(): boolean {
    return this.#context.journal.cluster.sendLeftMs > BEGIN_MS_MIN;
  }

  async #untilNext(now: number): Promise<number> {
    const { journal } = this.#context;
    const next = await untilNext(journal, { state: "pending" }, now);
    if (!this.#context.ownership.isShared || next <= TAKEN_MS) return next;
    // What another daemon has taken and does not claim rings no wake-up.
    const due = await journal.due({ state: "pending", now, limit: 1 });
    return due.length > 0 ? TAKEN_MS : next;
  }

  /**
   * Behind a closed gate: everything that waits is held, and one document probes in its time. Of
   * several daemons one does that.
   */
  async #stepClosed(signal: AbortSignal): Promise<number> {
    if (!this.#context.ownership.account) return Number.POSITIVE_INFINITY;
    if (await this.#keeper.sweep()) return 0;
    const { clock, pace } = this.#context;
    const now = clock.now();
    if (this.#paused || this.#draining || this.#probing) return Number.POSITIVE_INFINITY;
    if (!this.#hasLease) return LEASE_LOOK_MS;
    if (!mayProbe(this.#keeper.gate, now)) return this.#keeper.waitMs(now);
    if (!this.#keeper.probesByUpload) {
      if (pace.pauseMs > 0) return pace.pauseMs;
      await this.#keeper.probeFree(signal);
      return 0;
    }
    if (pace.waitMs > 0) return pace.waitMs;
    if ((await pace.room(this.underWay)) <= 0) return Number.POSITIVE_INFINITY;
    // What was under way when the gate closed may still bring news of its own.
    if (this.underWay > 0) return Number.POSITIVE_INFINITY;
    const probe = await this.#keeper.probe((document) => this.#claim([document], signal));
    if (probe === "nothing") return Number.POSITIVE_INFINITY;
    if (probe) this.#enqueue(probe, true);
    return 0;
  }

  /** How many more may be claimed. */
  #slots(): number {
    if (this.#outages.current) return this.underWay === 0 ? 1 : 0;
    return this.#queue.room;
  }

  /** Claims what can be claimed; an archive that cannot be asked is the account's problem, or an outage. */
  async #claim(candidates: readonly Document[], signal: AbortSignal): Promise<Claims> {
    const claims = await this.#claimer.claim(candidates, () => !this.#draining, signal);
    const { problem } = claims;
    if (problem) {
      if (failureOf(problem.code).fate === "gate") await this.#keeper.refused(problem, false);
      else this.#outages.met(problem, 0);
    }
    return claims;
  }

  #enqueue(claimed: ClaimedDocument, probe: boolean): void {
    if (probe) this.#probing = true;
    this.#queue.add(claimed.mirror.reader, async (line) => {
      try {
        await this.#attempt(claimed, probe, line);
      } catch (error) {
        this.#failure ??= error;
      } finally {
        if (probe) this.#probing = false;
        this.#context.wakeups.sending.notify();
      }
    });
  }

  /**
   * Once a document is stored the line is free again, and the journal follows next to it. Any other
   * outcome may mean that nothing more is to be sent: it is taken in first.
   */
  async #attempt(claimed: ClaimedDocument, probe: boolean, line: TakeLine): Promise<void> {
    const large = claimed.document.seen.sizeBytes > LARGE_BYTES ? 1 : 0;
    this.#large += large;
    const stored = await line(async () => {
      const sent = await this.#send(claimed, probe);
      this.#large -= large;
      if (sent.outcome.kind === "accepted") return sent;
      await this.#ended(claimed, sent, probe);
    });
    if (stored) await this.#ended(claimed, stored, probe);
  }

  async #send({ document, mirror }: ClaimedDocument, probe: boolean): Promise<Sent> {
    const begunAt = this.#context.clock.monotonic();
    if (mirror.reader.silent || !this.#mayBegin(probe)) {
      return { outcome: { kind: "released" }, begunAt };
    }
    const order = sendOrder(document, this.#pieceBytes);
    const { uploads } = this.#context;
    const send = () => mirror.reader.send(order, this.#cut.signal);
    return { outcome: await (uploads ? uploads.during(document, send) : send()), begunAt };
  }

  /** What was claimed a while ago may have to wait by now. */
  #mayBegin(probe: boolean): boolean {
    if (this.#draining || this.#paused || !this.#hasLease) return false;
    if (this.#context.pace.waitMs > 0) return false;
    return probe || !isClosed(this.#keeper.gate);
  }

  async #ended(claimed: ClaimedDocument, sent: Sent, probe: boolean): Promise<void> {
    const outcome = await this.#keeper.confirmed(sent.outcome, this.#cut.signal);
    const recording = recordOutcome(this.#context, claimed, outcome);
    // A pause that the archive asks for is kept from now on, not once the journal has the outcome.
    const learning = this.#context.pace.learn(outcome, sent.begunAt);
    const [recorded] = await Promise.all([recording, learning]);
    this.#queue.limit = this.#context.pace.limit;
    await this.#consequences(claimed.document, recorded, probe);
  }

  /** What the outcome says about the account and the way to the archive. */
  async #consequences(document: Document, outcome: Outcome, probe: boolean): Promise<void> {
    if (outcome.kind === "accepted" || outcome.kind === "refused") this.#outages.answered();
    if (outcome.kind === "accepted") {
      this.#outages.over();
      await this.#keeper.passed();
      return;
    }
    if (outcome.kind === "refused") {
      if (outcome.problem.code !== "ARCHIVE_BUSY") this.#outages.over();
      if (failureOf(outcome.problem.code).fate === "gate") {
        await this.#keeper.refused(outcome.problem, probe);
        return;
      }
      this.#placement.doubted(outcome.problem.code);
      await this.#keeper.met(document, outcome.problem, probe);
      if (outcome.problem.code === "ARCHIVE_BUSY") {
        this.#outages.met(outcome.problem, outcome.retryAfterMs ?? 0);
      }
    }
    if (outcome.kind === "notSent") {
      this.#outages.met(outcome.problem, outcome.retryAfterMs ?? 0);
    }
    if (outcome.kind === "inDoubt") {
      if (outcome.unnamed) await this.#keeper.met(document, outcome.problem, probe);
      else this.#outages.lost(outcome.problem);
    }
    if (probe) await this.#keeper.unanswered();
  }
}
