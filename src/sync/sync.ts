/**
 * Sync: all loops together, over one journal, one archive and the readers. It owns none of them;
 * the daemon opens and closes what it is given.
 */
import type { DaemonCalls, MirrorStatus } from "../reader/protocol.ts";
import type { Applied } from "../journal/journal.ts";
import type { ProbePolicy } from "../domain/gate.ts";
import { aborted, Stopping } from "../std/abort.ts";
import { AfterLoop } from "./after-loop.ts";
import { identify } from "./archive-identity.ts";
import { Assignments } from "./assignments.ts";
import { AwayNote } from "./away.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import type { Ownership } from "./ownership.ts";
import { Bandwidth } from "./bandwidth.ts";
import { Doubts } from "./doubts.ts";
import { FirstRun } from "./first-run.ts";
import { Folders } from "./folders.ts";
import { followOutside } from "./follow-outside.ts";
import { AccountGate } from "./account-gate.ts";
import { Held } from "./held.ts";
import { followLost } from "./interrupted.ts";
import { Intake } from "./intake.ts";
import { isKnown, type Outage } from "./outage.ts";
import { Placement } from "./placement.ts";
import { AfterActions } from "./after-actions.ts";
import { Receipts } from "./receipts.ts";
import { Poller } from "./poller.ts";
import { readerCalls } from "./reader-calls.ts";
import { wakeFor } from "./wake-for.ts";
import { Sender } from "./sender.ts";
import { Settler } from "./settler.ts";
import { RESCAN_KEY, ScanScheduler } from "./scan-scheduler.ts";
import { together } from "./run-all.ts";
import { AfterHooks } from "./after-hooks.ts";
import { Tidier } from "./tidier.ts";

export class Sync {
  readonly #context: SyncContext;
  readonly #ownership: Ownership;
  readonly #keeper: AccountGate;
  readonly #folders: Folders;
  readonly #held: Held;
  readonly #firstRun: FirstRun;
  readonly #sender: Sender;
  readonly #poller: Poller;
  readonly #intake: Intake;
  readonly #afterHooks: AfterHooks;
  readonly #receipts: Receipts;
  readonly scanSchedulers: ReadonlyMap<number, ScanScheduler>;
  readonly #outsideWrites: number;
  /** When a person last asked any daemon of the cluster for a rescan. */
  #rescanAsked: string | null = null;
  /** Rejects with what failed next to the loops. */
  readonly #broken = Promise.withResolvers<never>();
  readonly #changed: () => void;
  readonly #bandwidth: Bandwidth;
  /** Aborts when no loop runs any more. */
  readonly #over = new AbortController();
  readonly #afterActions = new AfterActions();
  readonly #afterLoop: AfterLoop;
  readonly #away: AwayNote;
  readonly #assignments: Assignments;

  private constructor(
    context: SyncContext,
    {
      keeper,
      firstRun,
      away,
      assignments,
    }: { keeper: AccountGate; firstRun: FirstRun; away: AwayNote; assignments: Assignments },
    outsideWrites: number,
    changed: () => void,
  ) {
    this.#context = context;
    this.#ownership = context.ownership;
    this.#broken.promise.catch(() => {});
    this.#outsideWrites = outsideWrites;
    this.#keeper = keeper;
    this.#away = away;
    this.#assignments = assignments;
    this.#changed = () => {
      firstRun.notify();
      changed();
    };
    const { bytesPerSecond } = context.config.upload;
    this.#bandwidth = context.bandwidth ?? new Bandwidth(bytesPerSecond, context.clock);
    this.#folders = new Folders(context.archive, context.clock, this.#ownership.isShared);
    const placement = new Placement(this.#folders);
    this.#held = new Held(context, this.#folders, placement);
    this.#firstRun = firstRun;
    this.#sender = new Sender(context, keeper, placement, firstRun, (id) => this.#isThere(id));
    this.#poller = new Poller(context, keeper);
    this.#afterLoop = new AfterLoop(assignments.context, this.#afterActions);
    this.#afterHooks = new AfterHooks(context);
    this.#receipts = new Receipts(context);
    this.#intake = new Intake(context, this.#afterActions, this.#sender.stream);
    const scanScheduler = (mirror: LiveMirror) =>
      new ScanScheduler(context, mirror, this.#intake, this.#changed);
    this.scanSchedulers = new Map(
      [...context.mirrors].map(([id, mirror]) => [id, scanScheduler(mirror)]),
    );
  }

  /**
   * What was under way when the last run ended is in doubt from now on. `changed` is called
   * whenever something is journaled or the state of a source changes. Which loops run is what
   * `context.assignments` says.
   */
  static async open(
    context: SyncContext,
    scheduledAfter: ProbePolicy["scheduledAfter"],
    changed: () => void,
  ): Promise<Sync> {
    // Taken before anything is read: what the command line writes from here on is noticed.
    const outsideWrites = await context.journal.outsideWrites();
    const assignments = new Assignments(context);
    await assignments.takeUp();
    const keeper = await AccountGate.open(context, scheduledAfter);
    let sync: Sync | undefined;
    const firstRun = await FirstRun.open(context, async (id) => sync?.isScanned(id) ?? false);
    const away = await AwayNote.open(context);
    sync = new Sync(context, { keeper, firstRun, away, assignments }, outsideWrites, changed);
    await sync.#sender.reread();
    sync.#rescanAsked = await context.journal.keyValue(RESCAN_KEY);
    return sync;
  }

  /** Documents that are claimed or being sent. */
  get underWay(): number {
    return this.#sender.underWay;
  }

  /** The functions that readers call. */
  get readerCalls(): DaemonCalls {
    return readerCalls(this.#context, {
      intake: this.#intake,
      scanSchedulers: this.scanSchedulers,
      allowance: (bytes) => this.#bandwidth.take(bytes, this.#over.signal),
      told: (status) => this.told(status),
    });
  }

  /** A reader has fallen silent, or speaks again. */
  readerSilence(): void {
    this.#sender.rebalance();
    this.#context.wakeups.after.notify();
  }

  async told(status: MirrorStatus): Promise<void> {
    const scanScheduler = this.scanSchedulers.get(status.mirrorId);
    const isBack = status.online && scanScheduler?.state.status?.online !== true;
    // At the start too, and before the scan: a pass that finds nothing else is over with it.
    if (isBack) await this.#held.release(["SOURCE_OFFLINE"]);
    await scanScheduler?.told(status);
    // Told after every start of a reader: what it is to send, move or delete waits for that.
    if (!status.online) return;
    this.#context.wakeups.sending.notify();
    this.#context.wakeups.after.notify();
  }

  /** The archive cannot be reached just now; undefined while it can, or nobody knows. */
  get outage(): Outage | undefined {
    const met = [this.#sender.outage, this.#poller.outage];
    return met.find((outage) => isKnown(outage, this.#context));
  }

  /** Scans every mirror, or one, and looks again for what is missing. */
  rescan(why: string, mirrorId?: number): void {
    for (const [id, scheduler] of this.scanSchedulers)
      if (mirrorId === undefined || mirrorId === id) scheduler.request(why);
    this.#folders.forget();
    this.#recheck();
  }

  /** Looks once more at what waits for something to be fixed. */
  #recheck(): void {
    this.#held.recheck();
    this.#afterLoop.recheck();
  }

  /** Wakes the loops that a write concerns. */
  journaled(applied: readonly Applied[]): void {
    wakeFor(this.#context, applied, { told: this.#afterHooks, converted: this.#receipts });
    this.#changed();
  }

  /** Something failed that no loop waits for: all of them end with it. */
  fail(error: unknown): void {
    this.#broken.reject(error);
  }

  /** Runs all loops until `stopping` aborts; rejects with the first failure of any of them. */
  async run(stopping: AbortSignal): Promise<void> {
    try {
      await together(stopping, (signal, begin) => {
        const loops = {
          account: () => begin(...this.#accountLoops(signal)),
          mirrors: (own: SyncContext) => begin(...this.#mirrorLoops(own, signal)),
          takenOver: async (mirrorId: number) => {
            await this.#firstRun.release(mirrorId);
            await this.#afterLoop.takeUp();
            this.scanSchedulers.get(mirrorId)?.request("taken over");
          },
        };
        const scanned = () => [...this.scanSchedulers.keys()].filter((id) => this.isScanned(id));
        begin(
          this.#sender.run(signal),
          followOutside(this.#context, this.#outsideWrites, this.#looks(), signal),
          Promise.race([this.#broken.promise, aborted(signal)]),
          this.#firstRun.run(signal),
          this.#afterLoop.run(signal),
          new Tidier(this.#context, scanned).run(signal),
          this.#assignments.run(loops, begin, signal),
        );
      });
    } finally {
      this.#over.abort(new Stopping("no loop runs any more"));
    }
  }

  #looks(): Parameters<typeof followOutside>[2] {
    const look = async () => {
      const scanSchedulers = [...this.scanSchedulers.values()];
      if (await this.#away.look({ outage: this.outage, scanSchedulers })) this.#changed();
    };
    return { reread: () => this.reread(), look };
  }

  /** What one daemon does for an archive. */
  #accountLoops(signal: AbortSignal): Promise<unknown>[] {
    return [
      followLost(this.#context, signal),
      new Doubts(this.#context, this.#keeper).run(signal),
      this.#poller.run(signal),
      this.#held.run(signal),
      this.#receipts.run(signal),
      ...identify(this.#context, this.#keeper, signal),
    ];
  }

  #mirrorLoops(own: SyncContext, signal: AbortSignal): Promise<unknown>[] {
    const schedulers = [...own.mirrors.keys()].flatMap((id) => this.scanSchedulers.get(id) ?? []);
    return [
      new Settler(own, this.#afterActions, this.#sender.stream).run(signal),
      this.#afterHooks.run(signal, own),
      ...schedulers.map((each) => each.run(signal)),
    ];
  }

  /** Whether a source can be read from here, as far as that is known. */
  #isThere(mirrorId: number): boolean {
    // Alone, what cannot be read is held for that, and told.
    if (!this.#ownership.isShared) return true;
    return this.scanSchedulers.get(mirrorId)?.state.status?.online === true;
  }

  /** Whether this daemon has scanned a mirror whole since the start. */
  isScanned(mirrorId: number): boolean {
    return (this.scanSchedulers.get(mirrorId)?.state.scans ?? 0) > 0;
  }

  /** Takes up what was written to the journal next to the loops: pause, retry, a probe asked for. */
  async reread(): Promise<void> {
    await this.#context.identity?.reread();
    await this.#keeper.reread();
    await this.#sender.reread();
    // What is written outside is a person's doing where this daemon is alone, and rare.
    if (this.#ownership.isShared) await this.#rereadOthers();
    else this.#recheck();
    for (const wakeup of Object.values(this.#context.wakeups)) wakeup.notify();
    for (const { settling } of this.#context.mirrors.values()) {
      settling.small.notify();
      settling.large.notify();
    }
    this.#changed();
  }

  /** Others of the cluster write all the time; what a person has asked one of them for is a key-value entry. */
  async #rereadOthers(): Promise<void> {
    await this.#context.pace.reread();
    await this.#firstRun.reread();
    this.#afterHooks.notify();
    this.#receipts.notify();
    const asked = await this.#context.journal.keyValue(RESCAN_KEY);
    if (asked === this.#rescanAsked) return;
    this.#rescanAsked = asked;
    this.rescan("asked for");
  }

  /** Ends sending: what is being sent is finished until `deadline` aborts. */
  async drain(deadline: AbortSignal): Promise<void> {
    await this.#sender.drain(deadline);
    await this.#firstRun.conclude();
    // Others go on, and more may join what is open.
    if (!this.#ownership.isShared) await this.#receipts.conclude(deadline);
  }
}
