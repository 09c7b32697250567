/**
 * Scan schedulers: when a mirror is scanned, and what a scan means. At the start, on schedule, when a person
 * asks, when events may have been missed, when a source comes back; in polling mode all the time.
 */
import { ChannelClosed } from "../reader/rpc-channel.ts";
import type { MirrorStatus } from "../reader/protocol.ts";
import type { ScanReport, FoundLinks } from "../source/source.ts";
import { restAfterMs } from "../std/work-share.ts";
import { Wakeup } from "../std/wakeup.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import { shown, joinRaw, type RawPath } from "../std/raw-path.ts";
import type { ArchiveState, DocumentReader, Registry, Sharing } from "../journal/journal.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import type { Intake } from "./intake.ts";
import { loop } from "./loop.ts";
import { isShared } from "./ownership.ts";
import { FAILED_SCAN_REST, POLLING_REST } from "./waits.ts";

/** What it uses of the journal. */
type Roles = ArchiveState & DocumentReader & Registry & Sharing;

/** Directories that could not be read whole: what is in them is not known. One of them stands for all. */
export type Unread = { readonly directories: number; readonly path: string; readonly why: string };

/** What is known of a mirror's source. */
export type ScanSchedulerState = {
  readonly status: MirrorStatus | undefined;
  /** Scans that were completed since the start. */
  readonly scans: number;
  /** By the last whole scan; null where everything could be read. */
  readonly unread: Unread | null;
  /** The same of its links. */
  readonly links: Links | null;
};

/** Whether all of the source was read since the start: what could not be may have anything in it. */
export function isReadWhole({ scans, unread }: ScanSchedulerState): boolean {
  return scans > 0 && unread === null;
}

export class ScanScheduler {
  readonly mirror: LiveMirror;
  /** Whether this daemon scans it; it is asked whether it is there all the same. */
  get isLed(): boolean {
    return this.#context.ownership.owns(this.mirror.row.id);
  }

  readonly #context: SyncContext<Roles>;
  readonly #intake: Intake;
  readonly #wakeup = new Wakeup();
  readonly #changed: () => void;
  /** Why a scan is wanted now; empty when none is. */
  readonly #wanted = new Set<string>();
  /** The one that comes on its own, at a monotonic time. */
  #next: { readonly why: string; readonly at: number } | undefined;
  /** What could not be read, as it was warned of last: a polled source is scanned every few seconds. */
  #warned = "";
  /** The same for why the last scan ended early; empty after one that did not. */
  #endedBy = "";
  #state: ScanSchedulerState = { status: undefined, scans: 0, unread: null, links: null };

  constructor(
    context: SyncContext<Roles>,
    mirror: LiveMirror,
    intake: Intake,
    changed: () => void,
  ) {
    this.#context = context;
    this.mirror = mirror;
    this.#intake = intake;
    this.#changed = changed;
  }

  get state(): ScanSchedulerState {
    return this.#state;
  }

  /** Asks for a whole scan; several requests before it begins are one. */
  request(why: string): void {
    this.#wanted.add(why);
    this.#wakeup.notify();
  }

  /** The reader says whether the source is there. One that came back is scanned. */
  async told(status: MirrorStatus): Promise<void> {
    const { log, journal } = this.#context;
    const was = this.#state.status;
    this.#state = { ...this.#state, status };
    const context = { mirror: this.mirror.row.name, source: this.mirror.settings.source };
    if (!status.online) {
      if (was?.online !== false || was.why !== status.why) {
        log.warn(context, `source offline: ${status.why}; no file is treated as deleted`);
      }
    } else {
      if (was?.online === false) log.info(context, "source online again");
      if (this.isLed && status.device !== null)
        await journal.setDevice(this.mirror.row.id, status.device);
      if (!was?.online) this.request("source online");
      this.#toldWatching(status.unwatched, was?.unwatched ?? null);
    }
    this.#changed();
  }

  #toldWatching(why: string | null, before: string | null): void {
    if (why === before) return;
    const context = { mirror: this.mirror.row.name };
    if (why === null) this.#context.log.info(context, "all folders are watched again");
    else this.#context.log.warn(context, `some folders are not watched: ${why}`);
    // For what happened while they were not.
    this.request("not all folders were watched");
  }

  async run(stopping: AbortSignal): Promise<never> {
    return loop(this.#wakeup, this.#context, stopping, () => this.#step(stopping));
  }

  async #step(signal: AbortSignal): Promise<number> {
    const { clock } = this.#context;
    const { status } = this.#state;
    if (!status?.online) return Number.POSITIVE_INFINITY;
    const startedAt = clock.monotonic();
    const leftMs = (this.#next?.at ?? Number.POSITIVE_INFINITY) - startedAt;
    if (this.#wanted.size === 0 && leftMs > 0) return leftMs;
    const why = [...this.#wanted].join(", ") || (this.#next?.why ?? "");
    this.#wanted.clear();
    const isWhole = await this.#scan(why, signal);
    const endedAt = clock.monotonic();
    const tookMs = endedAt - startedAt;
    if (!isWhole) this.#next = { why, at: endedAt + restAfterMs(FAILED_SCAN_REST, tookMs) };
    else if (status.mode === "polling")
      this.#next = { why: "polling", at: endedAt + restAfterMs(POLLING_REST, tookMs) };
    else this.#next = undefined;
    // The next step says how long that is, unless another one was asked for meanwhile.
    return 0;
  }

  /** False when it ended early. */
  async #scan(why: string, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#context;
    const startedAt = clock.monotonic();
    try {
      const report = await this.mirror.reader.scan(this.mirror.row.id, null);
      await this.#found(report, why, clock.monotonic() - startedAt);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ChannelClosed || codeOf(error) === "SOURCE_OFFLINE")) throw error;
      this.#warnOfEnd(messageOf(error));
      return false;
    }
    this.#endedBy = "";
    return true;
  }

  /** A source may look there, and never be scanned to its end: a directory that the disk cannot read any more. */
  #warnOfEnd(why: string): void {
    if (why === this.#endedBy) return;
    this.#endedBy = why;
    this.#context.log.warn({ mirror: this.mirror.row.name }, `scan ended early: ${why}`);
  }

  #warn(unreadable: ScanReport["unreadable"]): void {
    const warned = JSON.stringify(unreadable);
    if (warned === this.#warned) return;
    this.#warned = warned;
    for (const { path, problem } of unreadable) {
      this.#context.log.warn(
        { mirror: this.mirror.row.name, path: shown(path), code: problem.code },
        `cannot be read: ${problem.message}`,
      );
    }
  }

  async #found(report: ScanReport, why: string, tookMs: number): Promise<void> {
    const { log } = this.#context;
    const { id } = this.mirror.row;
    // Before what was below them is known to be gone, and forgotten where it was not sent.
    const known = this.#state.links?.replaced;
    const links = await linksIn(this.#context.journal, id, report.links, known);
    await this.#intake.vanished(id, report.vanished);
    const { directories, files, leftOut, unreadable } = report;
    this.#warn(unreadable);
    const context = { mirror: this.mirror.row.name, why, directories, files, leftOut };
    const quiet = why === "polling" || why === "schedule";
    log[quiet ? "debug" : "info"]({ ...context, tookMs: Math.round(tookMs) }, "scanned");
    const unread = unreadOf(unreadable);
    this.#state = { ...this.#state, scans: this.#state.scans + 1, unread, links };
    this.#changed();
  }
}

function unreadOf(unreadable: ScanReport["unreadable"]): Unread | null {
  const [first] = unreadable;
  if (!first) return null;
  const path = shown(first.path) || ".";
  return { directories: unreadable.length, path, why: first.problem.message };
}

/** When a person last asked for a rescan, where several daemons share the journal. */
export const RESCAN_KEY = "rescan";

/** Asks the other daemons on the journal to scan what they lead; nothing where there are none. */
export async function askRescan(journal: ArchiveState & Sharing, now: number): Promise<void> {
  // Another word each time.
  if (isShared(journal.cluster))
    await journal.setKeyValue(RESCAN_KEY, `${now} ${journal.cluster.instanceId}`);
}

/** Links of a source, none of which is followed: those with a folder's former name, and how many others. */
export type Links = { readonly replaced: readonly string[]; readonly others: number };

/**
 * What was found, told apart by what the journal knows below each; null without any. A folder of which no document
 * was ever journaled, or all were forgotten, is not known to have been one.
 */
export async function linksIn(
  journal: DocumentReader | undefined,
  mirrorId: number,
  { paths, number }: FoundLinks,
  before: readonly string[] = [],
): Promise<Links | null> {
  const replaced: string[] = [];
  for (const path of paths) {
    const isKnown = before.includes(shown(path)) || (await isAboveOne(journal, mirrorId, path));
    if (isKnown) replaced.push(shown(path));
  }
  return number === 0 ? null : { replaced, others: number - replaced.length };
}

async function isAboveOne(
  journal: DocumentReader | undefined,
  mirrorId: number,
  path: RawPath,
): Promise<boolean> {
  for await (const { dir, name } of journal?.list({ path: { mirrorId, path } }) ?? [])
    if (joinRaw(dir, name) !== path) return true;
  return false;
}
