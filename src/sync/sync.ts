/**
 * Sync: all loops together, over one journal, one archive and the readers. It owns none of them;
 * the daemon opens and closes what it is given.
 */
import { LineCut } from "../reader/line.ts";
import type { DaemonCalls, MirrorStatus } from "../reader/protocol.ts";
import type { Applied, Change } from "../journal/journal.ts";
import type { State } from "../domain/document.ts";
import type { ProbePolicy } from "../domain/gate.ts";
import { aborted, isAbortOf, Stopping } from "../std/abort.ts";
import { Aftercare } from "./aftercare.ts";
import type { SyncContext } from "./context.ts";
import { Bandwidth } from "./bandwidth.ts";
import { Doubts } from "./doubts.ts";
import { FirstRun } from "./first-run.ts";
import { Folders } from "./folders.ts";
import { Gatekeeper } from "./gatekeeper.ts";
import { Held } from "./held.ts";
import { Intake } from "./intake.ts";
import type { Outage } from "./outage.ts";
import { ClockWatch, pullInUnexplained } from "./mended-clock.ts";
import { Placement } from "./placement.ts";
import { PuttingAway } from "./putting-away.ts";
import { Receipts } from "./receipts.ts";
import { Poller } from "./poller.ts";
import { Sender } from "./sender.ts";
import { Settler } from "./settler.ts";
import { Survey } from "./survey.ts";
import { AfterHooks } from "./after-hooks.ts";
import { Tidier } from "./tidier.ts";

/** How often the journal is asked whether the command line has written to it. */
const OUTSIDE_MS = 250;

/** States in which a document is not under conversion any more. */
const CONCLUDED: readonly State[] = ["converted", "failed"];

/** States in which there may be something to tell a hook. */
const TOLD: readonly State[] = [...CONCLUDED, "held"];

export class Sync {
  readonly #context: SyncContext;
  readonly #keeper: Gatekeeper;
  readonly #folders: Folders;
  readonly #held: Held;
  readonly #firstRun: FirstRun;
  readonly #sender: Sender;
  readonly #poller: Poller;
  readonly #intake: Intake;
  readonly #afterHooks: AfterHooks;
  readonly #receipts: Receipts;
  readonly #surveys: ReadonlyMap<number, Survey>;
  readonly #outsideWrites: number;
  /** Rejects with what failed beside the loops. */
  readonly #broken = Promise.withResolvers<never>();
  readonly #changed: () => void;
  readonly #bandwidth: Bandwidth;
  /** Aborts when no loop runs any more. */
  readonly #over = new AbortController();

  private constructor(
    context: SyncContext,
    { keeper, firstRun }: { keeper: Gatekeeper; firstRun: FirstRun },
    outsideWrites: number,
    changed: () => void,
  ) {
    this.#context = context;
    this.#broken.promise.catch(() => {});
    this.#outsideWrites = outsideWrites;
    this.#keeper = keeper;
    this.#changed = changed;
    const { bytesPerSecond } = context.config.upload;
    this.#bandwidth = context.bandwidth ?? new Bandwidth(bytesPerSecond, context.clock);
    this.#folders = new Folders(context.archive);
    const placement = new Placement(this.#folders);
    this.#held = new Held(context, this.#folders, placement);
    this.#firstRun = firstRun;
    this.#sender = new Sender(context, keeper, placement, firstRun);
    this.#poller = new Poller(context, keeper);
    this.#afterHooks = new AfterHooks(context);
    this.#receipts = new Receipts(context);
    const intake = new Intake(context);
    this.#intake = intake;
    this.#surveys = new Map(
      [...context.mirrors].map(([id, mirror]) => [
        id,
        new Survey(context, mirror, intake, changed),
      ]),
    );
  }

  /**
   * What was under way when the last run ended is in doubt from now on. `changed` is called
   * whenever something is journaled or the state of a source changes.
   */
  static async open(
    context: SyncContext,
    scheduledAfter: ProbePolicy["scheduledAfter"],
    changed: () => void,
  ): Promise<Sync> {
    // Taken before anything is read: what the command line writes from here on is noticed.
    const outsideWrites = await context.journal.outsideWrites();
    await pullInUnexplained(context);
    await doubtInterrupted(context);
    const keeper = await Gatekeeper.open(context, scheduledAfter);
    let sync: Sync | undefined;
    const firstRun = await FirstRun.open(
      context,
      (id) => (sync?.surveys.get(id)?.state.scans ?? 0) > 0,
    );
    sync = new Sync(context, { keeper, firstRun }, outsideWrites, changed);
    await sync.#afterHooks.keep();
    await sync.#sender.reread();
    return sync;
  }

  get surveys(): ReadonlyMap<number, Survey> {
    return this.#surveys;
  }

  /** Documents that are claimed or being sent. */
  get underWay(): number {
    return this.#sender.underWay;
  }

  /** The functions that readers call. */
  get readerCalls(): DaemonCalls {
    return {
      listing: (mirrorId, listing) => this.#intake.listing(mirrorId, listing),
      hint: (mirrorId, files) => this.#intake.hint(mirrorId, files),
      allowance: (bytes) => this.#bandwidth.take(bytes, this.#over.signal),
      doubt: async (mirrorId, why) => {
        const survey = this.#surveys.get(mirrorId);
        this.#context.log.warn({ mirror: survey?.mirror.row.name, why }, "events may be missing");
        survey?.request(why);
      },
      status: (status) => this.told(status),
    };
  }

  /** A reader has fallen silent, or speaks again. */
  readerSilence(): void {
    this.#sender.rebalance();
  }

  async told(status: MirrorStatus): Promise<void> {
    const survey = this.#surveys.get(status.mirrorId);
    const wasOffline = survey?.state.status?.online === false;
    await survey?.told(status);
    if (wasOffline && status.online) await this.#held.release(["SOURCE_OFFLINE"]);
    // Told after every start of a reader: what it is to send waits for that.
    if (status.online) this.#context.bells.sending.ring();
  }

  /** The archive cannot be reached just now; undefined while it can. */
  get outage(): Outage | undefined {
    return this.#sender.outage ?? this.#poller.outage;
  }

  /** Scans every mirror, or one, and looks for missing folders again. */
  rescan(why: string, mirrorId?: number): void {
    for (const [id, survey] of this.#surveys) {
      if (mirrorId === undefined || mirrorId === id) survey.request(why);
    }
    this.#folders.forget();
    this.#held.recheck();
  }

  /** Rings the bells of the loops that a write concerns. */
  journaled(applied: readonly Applied[]): void {
    const { bells, mirrors, config } = this.#context;
    const { conversion, quota } = config;
    // What is concluded makes room below the ceiling, or turns out to have cost fewer pages.
    const makesRoom =
      conversion.outstandingMax !== undefined || quota.pages?.monthlyPages !== undefined;
    for (const { document, skipped } of applied) {
      if (!document || skipped) continue;
      if (document.state === "settling") {
        mirrors.get(document.mirrorId)?.settling.small.ring();
        mirrors.get(document.mirrorId)?.settling.large.ring();
      }
      if (document.state === "pending") bells.sending.ring();
      if (makesRoom && CONCLUDED.includes(document.state)) bells.sending.ring();
      if (document.state === "inDoubt") bells.doubts.ring();
      if (document.state === "uploaded") bells.polling.ring();
      if (document.state === "held") bells.held.ring();
      if (document.after === "due") bells.after.ring();
      if (TOLD.includes(document.state)) this.#afterHooks.ring();
      if (document.state === "converted") this.#receipts.ring();
    }
    this.#changed();
  }

  /** Something failed that no loop waits for: all of them end with it. */
  fail(error: unknown): void {
    this.#broken.reject(error);
  }

  /** Runs all loops until `stopping` aborts; rejects with the first failure of any of them. */
  async run(stopping: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const signal = AbortSignal.any([stopping, failed.signal]);
    const puttingAway = new PuttingAway();
    const loops = [
      new Settler(this.#context, puttingAway).run(signal),
      this.#sender.run(signal),
      new Doubts(this.#context, this.#keeper).run(signal),
      this.#poller.run(signal),
      this.#held.run(signal),
      this.#firstRun.run(signal),
      new Aftercare(this.#context, puttingAway).run(signal),
      this.#afterHooks.run(signal),
      this.#receipts.run(signal),
      new Tidier(this.#context, () => this.#scanned()).run(signal),
      this.#followOutside(signal),
      Promise.race([this.#broken.promise, aborted(signal)]),
      ...[...this.#surveys.values()].map((survey) => survey.run(signal)),
    ];
    const outcomes = await Promise.allSettled(
      loops.map(async (running) => {
        try {
          await running;
        } catch (error) {
          const stopped = isAbortOf(stopping, error) || isAbortOf(signal, error);
          if (stopped || (signal.aborted && error instanceof LineCut)) return;
          failed.abort(error);
          throw error;
        }
      }),
    );
    this.#over.abort(new Stopping("no loop runs any more"));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  #scanned(): number[] {
    return [...this.#surveys].filter(([, { state }]) => state.scans > 0).map(([id]) => id);
  }

  /** Takes up what was written to the journal beside the loops: pause, retry, a probe asked for. */
  async reread(): Promise<void> {
    await this.#keeper.reread();
    await this.#sender.reread();
    this.#held.recheck();
    for (const bell of Object.values(this.#context.bells)) bell.ring();
    for (const { settling } of this.#context.mirrors.values()) {
      settling.small.ring();
      settling.large.ring();
    }
    this.#changed();
  }

  /** Ends sending: what is being sent is finished until `deadline` aborts. */
  async drain(deadline: AbortSignal): Promise<void> {
    await this.#sender.drain(deadline);
    await this.#firstRun.conclude();
    await this.#receipts.conclude(deadline);
  }

  /** A `retry`, `pause` or `resume` from the command line shows as a write by another process. */
  async #followOutside(signal: AbortSignal): Promise<never> {
    const { journal, clock } = this.#context;
    const watch = new ClockWatch(this.#context);
    let known = this.#outsideWrites;
    for (;;) {
      await clock.sleep(OUTSIDE_MS, signal);
      const now = await journal.outsideWrites();
      const setBack = await watch.look();
      if (now === known && !setBack) continue;
      known = now;
      await this.reread();
    }
  }
}

/** Invariant (4) of the life of a document: what was `uploading` when a run ended is in doubt. */
async function doubtInterrupted({ journal, clock, log }: SyncContext): Promise<void> {
  const trouble = { code: "REPLY_LOST", message: "the daemon ended while it was under way" };
  for (;;) {
    const rows = await journal.underWay(500);
    if (rows.length === 0) return;
    log.warn({ documents: rows.length }, "under way when the last run ended; asking the archive");
    const at = clock.now();
    await journal.apply(
      rows.map(({ id }): Change => {
        const event = { type: "replyLost", at, dueAt: at, trouble } as const;
        return { type: "event", id, event, from: ["uploading"] };
      }),
    );
  }
}
