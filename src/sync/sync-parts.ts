import type { ProbePolicy } from "../domain/gate.ts";
import { AccountGate } from "./account-gate.ts";
import { AfterActions } from "./after-actions.ts";
import { AfterHooks } from "./after-hooks.ts";
import { AfterLoop } from "./after-loop.ts";
import { Assignments } from "./assignments.ts";
import { AwayNote } from "./away.ts";
import type { SyncContext } from "./context.ts";
import { FirstRun } from "./first-run.ts";
import { Folders, Placement } from "./folders.ts";
import { Held } from "./held.ts";
import { Intake } from "./intake.ts";
import { Poller } from "./poller.ts";
import { Receipts } from "./receipts.ts";
import { RESCAN_KEY, ScanScheduler } from "./scan-scheduler.ts";
import { Sender } from "./sender.ts";

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
  const isScanned = async (id: number) => (scanSchedulers.get(id)?.state.scans ?? 0) > 0;
  const firstRun = await FirstRun.open(context, isScanned);
  const away = await AwayNote.open(context);
  const changed = () => {
    firstRun.notify();
    onChange();
  };
  const folders = new Folders(archive, clock, ownership.isShared);
  const placement = new Placement(folders);
  // Alone, what cannot be read is held for that, and told.
  const isThere = (id: number) =>
    !ownership.isShared || scanSchedulers.get(id)?.state.status?.online === true;
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
