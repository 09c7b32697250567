/** Tells when a pass is over: nothing is left that continues automatically. */
import { GATE_CODES } from "../domain/code-sets.ts";
import type { Document, State } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import { ASKED_FREE } from "../domain/gate.ts";
import { quietMsOf } from "../domain/settle.ts";
import type { DocumentReader, Journal } from "../journal/journal.ts";
import { isSame } from "../journal/cluster.ts";
import { type Listeners, Wakeup } from "../std/wakeup.ts";
import type { Clock } from "../std/clock.ts";
import { Fault } from "../std/fault.ts";
import { restAfterMs, type RestPolicy } from "../std/work-share.ts";
import type { WaitReason } from "../sync/pace.ts";
import { isAnyToTell } from "../sync/after-hooks.ts";
import { isShared } from "../sync/ownership.ts";
import type { IdentityState } from "../sync/archive-identity.ts";
import { isReadWhole, type ScanScheduler } from "../sync/scan-scheduler.ts";
import type { Outage } from "../sync/outage.ts";
import { statusOf, type StatusReport } from "../report/status.ts";
import type { LiveAccount } from "./bind-archives.ts";

/** `waitConverted`: what was uploaded is waited for until it is CONVERTED and cared for. */
export type IdleWait = { readonly waitConverted: boolean };

type ScanScheduled = Pick<ScanScheduler, "isLed" | "mirror" | "state">;

type Watched = {
  readonly journal: Journal;
  readonly scanSchedulers: readonly ScanScheduled[];
  /** False: what is ready stays so. */
  readonly sending: boolean;
  readonly outage: () => Outage | undefined;
  /** Has the archive asked about all that is not CONVERTED. */
  readonly askConverted: () => void;
  /** What is known of which archive it is. */
  readonly identity: () => IdentityState;
  readonly changed: Listeners;
  readonly clock: Clock;
  readonly status: () => Promise<StatusReport>;
};

/** Attempts to reach the archive before a pass gives up; the daemon never does. */
const TRIES_MAX = 4;

/** A pause that the archive asked for is waited out up to this long. */
const PAUSE_MS_MAX = 60_000;

/** Whatever keeps a file from being moved or deleted for a moment, it is tried again within this. */
const PUT_OFF_MS = 10_000;

/** What was not tried yet is due first: among so many it is found. */
const DUE_MAX = 100;

/** Counting a large journal takes a moment: it takes a twentieth of the time at most. */
const LOOK_REST: RestPolicy = { times: 19, minMs: 50, maxMs: 100 };

/** The pass of every account; where one archive cannot go on, the others are waited for before this rejects. */
export async function allIdle(
  accounts: readonly LiveAccount[],
  common: Pick<Watched, "changed" | "clock" | "sending">,
  wanted: IdleWait,
  signal: AbortSignal,
): Promise<void> {
  const outcomes = await Promise.allSettled(
    accounts.map(({ config, journal, sync, identity }) => {
      const watched = {
        ...common,
        journal,
        scanSchedulers: [...sync.scanSchedulers.values()],
        outage: () => sync.outage,
        askConverted: () => sync.askConverted(),
        identity: () => identity.standing,
        status: () => statusOf(journal, config, true, common.clock.now()),
      };
      return idle(watched, wanted, signal);
    }),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

/**
 * Resolves when every source has been scanned and nothing is settling, ready, being sent or in
 * doubt, but for files that were found unfinished or too young; with `waitConverted`, nothing waits for conversion, its
 * after-action or its hook to be told either. What is held or failed stays, and so does what is ready while sending waits for long
 * (`isLong`). Rejects when the archive cannot be reached; and where a source is offline, once the
 * others are through.
 */
export async function idle(
  watched: Watched,
  wanted: IdleWait,
  signal: AbortSignal,
): Promise<StatusReport> {
  const { changed, clock } = watched;
  const wakeup = new Wakeup();
  const remove = changed.add(() => wakeup.notify());
  let hasAsked = false;
  try {
    for (;;) {
      giveUp(watched);
      const begunAt = clock.monotonic();
      // First of all: what a scan finds that ends after this, the status may lack.
      const scanned = await isScanned(watched);
      if (!(await isSending(watched))) {
        // Before the status: what has become whole by then is not settling in it.
        const unfinished = await countUnfinished(watched);
        const status = await watched.status();
        const away = watched.scanSchedulers.filter(isAway);
        const left = scanned && (await leftOf(watched, status, wanted, { away, unfinished }));
        if (left === "nothing") {
          for (const scanScheduler of away) throw offlineFault(scanScheduler);
          return status;
        }
        // The user waits: for the first time it is asked before it is due.
        if (left === "conversion" && !hasAsked) watched.askConverted();
        hasAsked ||= left === "conversion";
      }
      const tookMs = clock.monotonic() - begunAt;
      await wakeup.wait(1_000, clock, signal);
      await clock.sleep(restAfterMs(LOOK_REST, tookMs), signal);
    }
  } finally {
    remove();
  }
}

/** What a pass came to; `readWhole`: the mirrors, by id, of which it has read all. */
export type PassReport = StatusReport & { readonly readWhole: ReadonlySet<number> };

/** The report with what the scans of this very pass could read or not, which may not be noted yet. */
export function withUnread(
  report: StatusReport,
  scanSchedulers: readonly ScanScheduled[],
): PassReport {
  const scanned = scanSchedulers.filter(({ isLed, state }) => isLed && state.scans > 0);
  const seen = new Map(
    scanned.map(({ mirror, state: { unread, links } }) => [mirror.row.name, { unread, links }]),
  );
  const mirrors = report.mirrors.map((mirror) => ({ ...mirror, ...seen.get(mirror.name) }));
  const whole = scanned.flatMap(({ mirror, state }) => (isReadWhole(state) ? [mirror.row.id] : []));
  return { ...report, mirrors, readWhole: new Set(whole) };
}

function giveUp({ outage, identity }: Watched): void {
  const other = identity();
  if (typeof other === "object")
    throw new Fault(other.code, other.message, failureOf(other.code).hint);
  const out = outage();
  if (out && out.tries >= TRIES_MAX) {
    const { code, message } = out.problem;
    throw new Fault(code, message, failureOf(code).hint);
  }
}

function isAway({ state }: ScanScheduled): boolean {
  return state.status?.online === false;
}

function offlineFault({ state, mirror }: ScanScheduled): Fault {
  const why = state.status?.online === false ? state.status.why : "";
  const message = `mirror ${mirror.row.name}: ${why}`;
  return new Fault("SOURCE_OFFLINE", message, failureOf("SOURCE_OFFLINE").hint);
}

/**
 * Whether every source was scanned here, or is another daemon's to scan. What is nobody's just now is waited
 * for, and so is what this daemon has gained since its loops began: they begin again for it. One that is
 * offline is not.
 */
async function isScanned({ scanSchedulers, journal: { cluster } }: Watched): Promise<boolean> {
  const isOwed = (one: ScanScheduled) => one.isLed && one.state.scans === 0 && !isAway(one);
  if (scanSchedulers.some(isOwed)) return false;
  if (!isShared(cluster)) return true;
  const others = (await cluster.instances()).filter(({ id }) => id !== cluster.instanceId);
  const theirs = others.flatMap(({ assignments }) => assignments);
  return scanSchedulers.every(
    ({ isLed, mirror: { row } }) => isLed || theirs.some(isSame({ kind: "mirror", id: row.id })),
  );
}

const SENDING: readonly State[] = ["uploading", "inDoubt"];

/** Most of the time something is, which few rows tell. */
async function isSending({ journal, scanSchedulers }: Watched): Promise<boolean> {
  const own = new Set(scanSchedulers.map(({ mirror }) => mirror.row.id));
  const counts = await journal.counts();
  return counts.some(
    (each) => own.has(each.mirrorId) && SENDING.includes(each.state) && each.documents > 0,
  );
}

/** What keeps a pass from being over; `conversion`: that alone. */
async function leftOf(
  watched: Watched,
  {
    documents,
    mirrors,
    paused,
    gate,
    sending: { waits: wait },
    pages: { allowance },
  }: StatusReport,
  { waitConverted }: IdleWait,
  { away, unfinished }: { readonly away: readonly ScanScheduled[]; readonly unfinished: number },
): Promise<"nothing" | "conversion" | "more"> {
  const { journal, sending, clock } = watched;
  const names = new Set(away.map(({ mirror }) => mirror.row.name));
  // These need their files: where the source is away they wait for it, and nothing waits for them.
  const still = (state: "settling" | "pending") =>
    mirrors
      .filter(({ name }) => names.has(name))
      .reduce((left, mirror) => left - mirror.documents[state], documents[state]);
  // Not summed: one that has become whole since it was counted may be under way by now.
  if (still("settling") > unfinished) return "more";
  if (documents.uploading + documents.inDoubt > 0) return "more";
  // All may be done, and in another archive.
  if (watched.identity() === "unknown") return "more";
  if (sending && !paused && (await isAsked(watched, gate, wait))) return "more";
  // Behind a closed gate what is ready is on its way to be held.
  let waits = !sending || (paused && !gate) || isLong(wait, clock.now());
  const isStuck = ({ problem }: Document) => problem?.code === "CONVERSION_STUCK";
  const asksForStuck = waitConverted || wait?.why === "conversion";
  const converting = documents.uploaded - (asksForStuck ? await count(journal, isStuck) : 0);
  // What takes up the ceiling will not make room any more.
  if (wait?.why === "conversion" && converting <= 0) waits = true;
  const kept = allowance?.keeps.documents ?? 0;
  if (still("pending") > kept && !waits) return "more";
  if (!waitConverted) return "nothing";
  if (converting > 0) return "conversion";
  return (await isCaredFor(watched, away)) ? "nothing" : "more";
}

/** Files that look unfinished or too young: no pass waits for that to end, but for a look that is due once they are quiet. */
async function countUnfinished({ journal, scanSchedulers, clock }: Watched): Promise<number> {
  const there = scanSchedulers.filter((scanScheduler) => !isAway(scanScheduler));
  const settleMs = new Map(
    there.map(({ mirror: { row, settings } }) => [row.id, settings.settleMs]),
  );
  let counted = 0;
  for (const code of ["FILE_UNFINISHED", "FILE_YOUNG"]) {
    for await (const document of journal.list({ state: "settling", code })) {
      const quietMs = quietMsOf(document, settleMs.get(document.mirrorId) ?? Infinity);
      if ((document.dueAt ?? 0) > clock.now() + quietMs) counted += 1;
    }
  }
  return counted;
}

/** Whether all that is converted was moved or deleted, and told to hooks, as far as that succeeds now. */
async function isCaredFor(
  { scanSchedulers, journal, clock }: Watched,
  away: readonly ScanScheduled[],
): Promise<boolean> {
  const there = scanSchedulers.filter((scanScheduler) => !isAway(scanScheduler));
  const ids = away.length === 0 ? undefined : there.map(({ mirror }) => mirror.row.id);
  const now = clock.now();
  const due = there.length > 0 ? await journal.afterDue(now + PUT_OFF_MS, DUE_MAX, ids) : [];
  // What could not be moved or deleted is tried when its time has come; until then it may be days.
  if (due.some(({ dueAt, afterMessage }) => afterMessage === null || (dueAt ?? 0) <= now))
    return false;
  for (const { mirror } of there) {
    if (!mirror.settings.hooks?.after) continue;
    if (await isAnyToTell(journal, mirror.row.id, now + PUT_OFF_MS)) return false;
  }
  return true;
}

/** The archive is about to say whether it lets the account in: what is held goes on then, or stays. */
async function isAsked(
  { journal, scanSchedulers, clock }: Watched,
  gate: StatusReport["gate"],
  wait: WaitReason | null,
): Promise<boolean> {
  const now = clock.now();
  if (wait?.why === "asked" || (gate?.nextProbeAt ?? now) > now) return false;
  if (gate && ASKED_FREE.includes(gate.code)) return true;
  if (wait) return false;
  // By one of them, if the gate is closed; once it is open all are let go.
  const ids = scanSchedulers
    .filter((scanScheduler) => !isAway(scanScheduler))
    .map(({ mirror }) => mirror.row.id);
  return (await journal.smallestHeld(GATE_CODES, ids)) !== undefined;
}

/** A pass waits out a short pause, but neither the day until the hours begin nor a long one. */
function isLong(wait: WaitReason | null, now: number): boolean {
  if (wait === null || wait.until === null) return false;
  return wait.why === "hours" || wait.why === "allowance" || wait.until - now > PAUSE_MS_MAX;
}

async function count(
  journal: DocumentReader,
  which: (document: Document) => boolean,
): Promise<number> {
  let counted = 0;
  for await (const document of journal.list({ state: "uploaded" })) {
    if (which(document)) counted += 1;
  }
  return counted;
}
