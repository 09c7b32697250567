/**
 * Sync: all loops together, over one journal, one archive and the readers. It owns none of them;
 * the daemon opens and closes what it is given.
 */
import type { DaemonCalls, MirrorStatus } from "../reader/protocol.ts";
import type { Applied } from "../journal/journal.ts";
import { aborted, Stopping } from "../std/abort.ts";
import type { State } from "../domain/document.ts";
import type { ProbePolicy } from "../domain/gate.ts";
import { identify } from "./archive-identity.ts";
import type { SyncContext } from "./context.ts";
import { Doubts } from "./doubts.ts";
import { followOutside } from "./follow-outside.ts";
import { followLost } from "./interrupted.ts";
import { isKnown, type Outage } from "./outage.ts";
import { Settler } from "./settler.ts";
import { isReadWhole, RESCAN_KEY, type ScanScheduler } from "./scan-scheduler.ts";
import { together } from "./loop.ts";
import { Tidier } from "./tidier.ts";
import { wired, type SyncParts } from "./sync-parts.ts";
import type { Intake } from "./intake.ts";

/** States in which a document is not under conversion any more. */
const CONCLUDED: readonly State[] = ["converted", "failed"];

/** States in which there may be something to tell a hook. */
const TOLD: readonly State[] = [...CONCLUDED, "held"];

/** All loops of an archive: runs them, wakes them and ends them. */
export class Sync {
  readonly #context: SyncContext;
  readonly #parts: SyncParts;
  #rescanAsked: string | null;
  /** Rejects with what failed next to the loops. */
  readonly #broken = Promise.withResolvers<never>();
  /** Aborts when no loop runs any more. */
  readonly #over = new AbortController();

  private constructor(context: SyncContext, parts: SyncParts) {
    this.#context = context;
    this.#parts = parts;
    this.#rescanAsked = parts.rescanAsked;
    this.#broken.promise.catch(() => {});
  }

  /**
   * What was under way when the last run ended is in doubt from now on. `onChange` is called whenever something is
   * journaled or the state of a source changes. Which loops run is what `context.ownership` says.
   */
  static async open(
    context: SyncContext,
    scheduledAfter: ProbePolicy["scheduledAfter"],
    onChange: () => void,
  ): Promise<Sync> {
    return new Sync(context, await wired(context, scheduledAfter, onChange));
  }

  get scanSchedulers(): ReadonlyMap<number, ScanScheduler> {
    return this.#parts.scanSchedulers;
  }

  /** Documents that are claimed or being sent. */
  get underWay(): number {
    return this.#parts.sender.underWay;
  }

  /** The functions that readers call. */
  get readerCalls(): DaemonCalls {
    return readerCalls(this.#context, {
      intake: this.#parts.intake,
      scanSchedulers: this.scanSchedulers,
      allowance: (bytes) => this.#context.bandwidth.take(bytes, this.#over.signal),
      told: (status) => this.told(status),
    });
  }

  /** A reader has fallen silent, or speaks again. */
  readerSilence(): void {
    this.#parts.sender.rebalance();
    this.#context.wakeups.after.notify();
  }

  async told(status: MirrorStatus): Promise<void> {
    const scanScheduler = this.scanSchedulers.get(status.mirrorId);
    const isBack = status.online && scanScheduler?.state.status?.online !== true;
    // At the start too, and before the scan: a pass that finds nothing else is over with it.
    if (isBack) await this.#parts.held.release(["SOURCE_OFFLINE"]);
    await scanScheduler?.told(status);
    // Told after every start of a reader: what it is to send, move or delete waits for that.
    if (!status.online) return;
    this.#context.wakeups.sending.notify();
    this.#context.wakeups.after.notify();
  }

  /** The archive cannot be reached just now; undefined while it can, or nobody knows. */
  get outage(): Outage | undefined {
    const met = [this.#parts.sender.outage, this.#parts.poller.outage];
    return met.find((outage) => isKnown(outage, this.#context));
  }

  /** Scans every mirror, or one, and looks again for what is missing. */
  rescan(why: string, mirrorId?: number): void {
    for (const [id, scheduler] of this.scanSchedulers)
      if (mirrorId === undefined || mirrorId === id) scheduler.request(why);
    this.#parts.folders.forget();
    this.#recheck();
  }

  /** Has the archive asked about all that is not CONVERTED. */
  askConverted(): void {
    this.#parts.poller.askAll();
  }

  /** Looks once more at what waits for something to be fixed. */
  #recheck(): void {
    this.#parts.held.recheck();
    this.#parts.afterLoop.recheck();
  }

  /** Wakes the loops that a write concerns. */
  journaled(applied: readonly Applied[]): void {
    const { wakeups, mirrors, config } = this.#context;
    const { afterHooks, receipts } = this.#parts;
    const { conversion, quota } = config;
    // What is concluded makes room below the ceiling, or turns out to have cost fewer pages.
    const makesRoom =
      conversion.outstandingMax !== undefined || quota.pages.monthlyPages !== undefined;
    for (const { document, change, skipped } of applied) {
      // The last one that a batch was waiting for may be gone.
      if (change.type === "forget" && !skipped) receipts.notify();
      if (!document || skipped) continue;
      if (document.state === "settling") {
        mirrors.get(document.mirrorId)?.settling.small.notify();
        mirrors.get(document.mirrorId)?.settling.large.notify();
      }
      if (document.state === "pending") wakeups.sending.notify();
      if (makesRoom && CONCLUDED.includes(document.state)) wakeups.sending.notify();
      if (document.state === "inDoubt") wakeups.doubts.notify();
      if (document.state === "uploaded") wakeups.polling.notify();
      if (document.state === "held") wakeups.held.notify();
      if (document.after === "due") wakeups.after.notify();
      if (TOLD.includes(document.state)) afterHooks.notify();
      if (document.state === "converted") receipts.notify();
    }
    this.#parts.changed();
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
            await this.#parts.decided.look();
            this.#context.wakeups.sending.notify();
            await this.#parts.firstRun.release(mirrorId);
            await this.#parts.afterLoop.takeUp();
            this.scanSchedulers.get(mirrorId)?.request("taken over");
          },
        };
        const scanned = () =>
          [...this.scanSchedulers].flatMap(([id, { state }]) => (isReadWhole(state) ? [id] : []));
        begin(
          this.#parts.sender.run(signal),
          followOutside(this.#context, this.#parts.outsideWrites, this.#looks(), signal),
          Promise.race([this.#broken.promise, aborted(signal)]),
          this.#parts.firstRun.run(signal),
          this.#parts.afterLoop.run(signal),
          new Tidier(this.#context, scanned).run(signal),
          this.#parts.assignments.run(loops, begin, signal),
        );
      });
    } finally {
      this.#over.abort(new Stopping("no loop runs any more"));
    }
  }

  #looks(): Parameters<typeof followOutside>[2] {
    const look = async () => {
      const scanSchedulers = [...this.scanSchedulers.values()];
      if (await this.#parts.away.look({ outage: this.outage, scanSchedulers }))
        this.#parts.changed();
    };
    return { reread: () => this.reread(), look };
  }

  /** What one daemon does for an archive. */
  #accountLoops(signal: AbortSignal): Promise<unknown>[] {
    return [
      followLost(this.#context, signal),
      new Doubts(this.#context, this.#parts.keeper).run(signal),
      this.#parts.poller.run(signal),
      this.#parts.held.run(signal),
      this.#parts.receipts.run(signal),
      ...identify(this.#context, this.#parts.keeper, signal),
    ];
  }

  #mirrorLoops(own: SyncContext, signal: AbortSignal): Promise<unknown>[] {
    const schedulers = [...own.mirrors.keys()].flatMap((id) => this.scanSchedulers.get(id) ?? []);
    return [
      new Settler(own, this.#parts.afterActions, this.#parts.sender.stream).run(signal),
      this.#parts.afterHooks.run(signal, own),
      ...schedulers.map((each) => each.run(signal)),
    ];
  }

  /** Takes up what was written to the journal next to the loops: pause, retry, a probe asked for. */
  async reread(): Promise<void> {
    await this.#context.identity?.reread();
    await this.#parts.keeper.reread();
    await this.#parts.sender.reread();
    // What is written outside is a person's doing where this daemon is alone, and rare.
    if (this.#context.ownership.isShared) await this.#rereadOthers();
    else this.#recheck();
    for (const wakeup of Object.values(this.#context.wakeups)) wakeup.notify();
    for (const { settling } of this.#context.mirrors.values()) {
      settling.small.notify();
      settling.large.notify();
    }
    this.#parts.changed();
  }

  /** Others of the cluster write all the time; what a person has asked one of them for is a key-value entry. */
  async #rereadOthers(): Promise<void> {
    await this.#parts.decided.look();
    await this.#context.pace.reread();
    await this.#parts.firstRun.reread();
    this.#parts.afterHooks.notify();
    this.#parts.receipts.notify();
    const asked = await this.#context.journal.keyValue(RESCAN_KEY);
    if (asked === this.#rescanAsked) return;
    this.#rescanAsked = asked;
    this.rescan("asked for");
  }

  /** Ends sending: what is being sent is finished until `deadline` aborts. */
  async drain(deadline: AbortSignal): Promise<void> {
    await this.#parts.sender.drain(deadline);
    await this.#parts.firstRun.conclude();
    // Others go on, and more may join what is open.
    if (!this.#context.ownership.isShared) await this.#parts.receipts.conclude(deadline);
  }
}

/** Of what they find only what this daemon leads is taken in. */
function readerCalls(
  { log, uploads, ownership }: SyncContext<unknown>,
  {
    intake,
    scanSchedulers,
    allowance,
    told,
  }: Pick<DaemonCalls, "allowance"> & {
    readonly intake: Intake;
    readonly scanSchedulers: ReadonlyMap<number, ScanScheduler>;
    readonly told: DaemonCalls["status"];
  },
): DaemonCalls {
  return {
    listing: async (mirrorId, listing) =>
      ownership.owns(mirrorId) && (await intake.listing(mirrorId, listing)),
    hint: async (mirrorId, files) => {
      if (ownership.owns(mirrorId)) await intake.hint(mirrorId, files);
    },
    vanished: async (mirrorId, dirs) => {
      if (ownership.owns(mirrorId)) await intake.vanished(mirrorId, dirs);
    },
    allowance,
    sent: async (id, bytes) => uploads?.sent(id, bytes),
    doubt: async (mirrorId, why) => {
      const scanScheduler = scanSchedulers.get(mirrorId);
      log.info({ mirror: scanScheduler?.mirror.row.name }, `events may be missing: ${why}`);
      scanScheduler?.request(why);
    },
    status: told,
  };
}
