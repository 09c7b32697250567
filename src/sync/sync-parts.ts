import type { ProbePolicy } from "../domain/gate.ts";
import { AccountGate } from "./account-gate.ts";
import { AfterActions } from "./after-actions.ts";
import { AfterHooks } from "./after-hooks.ts";
import { AfterLoop } from "./after-loop.ts";
import { AwayNote } from "./away.ts";
import type { SyncContext, LiveMirror } from "./context.ts";
import { FirstRun } from "./first-run.ts";
import { DecidedMirrors } from "./decided-again.ts";
import { Folders, Placement } from "./folders.ts";
import { Held } from "./held.ts";
import { Intake } from "./intake.ts";
import { Poller } from "./poller.ts";
import { Receipts } from "./receipts.ts";
import { isReadWhole, RESCAN_KEY, ScanScheduler } from "./scan-scheduler.ts";
import { Sender } from "./sender.ts";
import { Wakeup } from "../std/wakeup.ts";
import { decideAgain } from "./decided-again.ts";
import { doubtInterrupted } from "./interrupted.ts";
import { asLearned } from "./learned-settle.ts";
import { loop, type Begin } from "./loop.ts";
import { pullInUnexplained } from "./clock-skew.ts";

/** What `wired` has wired together. */
export type SyncParts = Awaited<ReturnType<typeof wired>>;

/** Wires the loops of an archive; see `Sync.open`. */
export async function wired(
  context: SyncContext,
  scheduledAfter: ProbePolicy["scheduledAfter"],
  onChange: () => void,
) {
  const { archive, clock, journal, mirrors, ownership } = context;
  // Taken before anything is read: what the command line writes from here on is noticed.
  const outsideWrites = await journal.outsideWrites();
  const assignments = new Assignments(context);
  await assignments.takeUp();
  const keeper = await AccountGate.open(context, scheduledAfter);
  const scanSchedulers = new Map<number, ScanScheduler>();
  const isScanned = async (id: number) => {
    const scheduler = scanSchedulers.get(id);
    return scheduler !== undefined && isReadWhole(scheduler.state);
  };
  const firstRun = await FirstRun.open(context, isScanned);
  const away = await AwayNote.open(context);
  const changed = () => {
    firstRun.notify();
    onChange();
  };
  const folders = new Folders(archive, clock, ownership.isShared);
  const placement = new Placement(folders);
  const decided = new DecidedMirrors(context);
  await decided.look();
  // Alone, what cannot be read is held for that, and told.
  const isThere = (id: number) =>
    !ownership.isShared ||
    (decided.has(id) && scanSchedulers.get(id)?.state.status?.online === true);
  const sender = new Sender(context, keeper, placement, firstRun, isThere);
  const afterActions = new AfterActions();
  const intake = new Intake(context, afterActions, sender.stream);
  for (const [id, mirror] of mirrors)
    scanSchedulers.set(id, new ScanScheduler(context, mirror, intake, changed));
  await sender.reread();
  return {
    keeper,
    folders,
    held: new Held(context, folders, placement),
    firstRun,
    sender,
    poller: new Poller(context, keeper),
    intake,
    afterActions,
    decided,
    afterLoop: new AfterLoop(assignments.context, afterActions),
    afterHooks: new AfterHooks(context),
    receipts: new Receipts(context),
    away,
    assignments,
    /** By the mirror's id. */
    scanSchedulers,
    /** What others had written to the journal before any of it was read. */
    outsideWrites,
    /** When a person last asked any daemon of the cluster for a rescan. */
    rescanAsked: await journal.keyValue(RESCAN_KEY),
    /** To be called whenever something is journaled or the state of a source changes. */
    changed,
  };
}

/** What is begun for an assignment. */
type AssignmentLoops = {
  /** Of the archive. */
  readonly account: () => void;
  /** Of the mirrors of this context. */
  readonly mirrors: (own: SyncContext) => void;
  /** Another daemon did these until now; called before their loops begin. */
  readonly takenOver: (mirrorId: number) => Promise<void>;
};

/** What of an archive's work this daemon does where several share a journal (docs/adr/0017): it stays its own until it ends. */
class Assignments {
  readonly #context: SyncContext;
  readonly #mirrors: Map<number, LiveMirror>;
  #hasAccount: boolean;

  constructor(context: SyncContext) {
    const { ownership, mirrors } = context;
    this.#context = context;
    this.#mirrors = new Map([...mirrors].filter(([id]) => ownership.owns(id)));
    this.#hasAccount = ownership.account;
  }

  /** Of loops that know only the mirrors whose loops run; there are more of them with each that is taken over. */
  get context(): SyncContext {
    return { ...this.#context, mirrors: this.#mirrors };
  }

  /** Takes up what the last run left, before any loop begins: times, doubts, and decisions by other settings. */
  async takeUp(): Promise<void> {
    if (this.#hasAccount) await this.#takeUpAccount();
    await decideAgain(this.context);
  }

  /** Begins the loops of what this daemon has, and then of what it takes over. */
  async run(loops: AssignmentLoops, begin: Begin, signal: AbortSignal): Promise<void> {
    const { journal, mirrors, ownership } = this.#context;
    if (this.#hasAccount) loops.account();
    loops.mirrors({ ...this.#context, mirrors: new Map(this.#mirrors) });
    if (!ownership.isShared) return;
    const wakeup = new Wakeup();
    const begun = new Set(this.#mirrors.keys());
    const remove = journal.cluster.listen(({ type }) => {
      if (type === "gained") wakeup.notify();
    });
    try {
      await loop(wakeup, this.#context, signal, async () => {
        if (!this.#hasAccount && ownership.account) {
          this.#hasAccount = true;
          begin(this.#takeUpAccount().then(loops.account));
        }
        for (const [id, mirror] of mirrors) {
          if (begun.has(id) || !ownership.owns(id)) continue;
          begun.add(id);
          begin(this.#takeOver(id, mirror, loops));
        }
        return Number.POSITIVE_INFINITY;
      });
    } finally {
      remove();
    }
  }

  async #takeOver(id: number, mirror: LiveMirror, loops: AssignmentLoops): Promise<void> {
    const own = { ...this.#context, mirrors: new Map([[id, mirror]]) };
    // First: what the other daemon left half moved or deleted is put back, and nothing is in hand here yet.
    await mirror.reader.host(id);
    mirror.settings = await asLearned(this.#context.journal, id, mirror.settings);
    await decideAgain(own);
    this.#mirrors.set(id, mirror);
    await loops.takenOver(id);
    loops.mirrors(own);
  }

  async #takeUpAccount(): Promise<void> {
    await pullInUnexplained(this.#context);
    await doubtInterrupted(this.#context);
  }
}
