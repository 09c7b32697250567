/**
 * Surveys: when a mirror is scanned, and what a scan means. At the start, on schedule, when a person
 * asks, when events may have been missed, when a source comes back; in polling mode all the time.
 */
import { LineCut } from "../reader/line.ts";
import type { MirrorStatus } from "../reader/protocol.ts";
import type { ScanReport } from "../source/source.ts";
import { Bell } from "../std/bell.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import { shown } from "../std/raw-path.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import type { Intake } from "./intake.ts";
import { ALL_DUTIES, owns } from "./duties.ts";
import { loop } from "./loop.ts";
import { noteScanned } from "./parts-scanned.ts";

/** Without events, a source is scanned this often, or less often where a scan takes long. */
const POLLING_MS = 5_000;
const POLLING_SHARE = 10;

/** A scan that failed is tried again after this long. */
const AGAIN_MS = 5_000;

/** Why: always the same word, for what was asked for each time would add up where a share keeps none for days. */
const AGAIN = "the last scan ended early";

/** Directories that could not be read whole: what is in them is not known. One of them stands for all. */
export type Unread = { readonly directories: number; readonly path: string; readonly why: string };

/** What is known of a mirror's source. */
export type SurveyState = {
  readonly status: MirrorStatus | undefined;
  /** Scans that were completed since the start. */
  readonly scans: number;
  /** By the last whole scan; null where everything could be read. */
  readonly unread: Unread | null;
};

export class Survey {
  readonly mirror: LiveMirror;
  /** Whether this daemon scans it; it is asked whether it is there all the same. */
  readonly isLed: boolean;
  readonly #context: SyncContext;
  readonly #intake: Intake;
  readonly #bell = new Bell();
  readonly #changed: () => void;
  /** Why a scan is wanted; empty when none is. */
  readonly #wanted = new Set<string>();
  /** What could not be read, as it was warned of last: a polled source is scanned every few seconds. */
  #warned = "";
  #state: SurveyState = { status: undefined, scans: 0, unread: null };

  constructor(context: SyncContext, mirror: LiveMirror, intake: Intake, changed: () => void) {
    this.#context = context;
    this.mirror = mirror;
    this.isLed = (context.duties ?? ALL_DUTIES).leads(mirror.row.id);
    this.#intake = intake;
    this.#changed = changed;
  }

  get state(): SurveyState {
    return this.#state;
  }

  /** Asks for a whole scan; several requests before it begins are one. */
  request(why: string): void {
    this.#wanted.add(why);
    this.#bell.ring();
  }

  /** The reader says whether the source is there. One that came back is scanned. */
  async told(status: MirrorStatus): Promise<void> {
    const { log, journal } = this.#context;
    const was = this.#state.status;
    this.#state = { ...this.#state, status };
    const context = { mirror: this.mirror.row.name, source: this.mirror.settings.source };
    if (!status.online) {
      if (was?.online !== false || was.why !== status.why) {
        log.warn(context, `source offline: ${status.why}; nothing is taken for removed`);
      }
    } else {
      if (was?.online === false) log.info(context, "source online again");
      if (this.isLed && status.device !== null && !this.#isBare(status))
        await journal.setDevice(this.mirror.row.id, status.device);
      if (!was?.online) this.request("source online");
    }
    this.#changed();
  }

  /**
   * Where several lead a mirror, one without its share mounted shall not have them remember its bare mount
   * point as the mirror's source.
   */
  #isBare({ isEmpty = false }: MirrorStatus): boolean {
    const { duties = ALL_DUTIES } = this.#context;
    return isEmpty && duties.division(this.mirror.row.id) !== undefined;
  }

  async run(stopping: AbortSignal): Promise<never> {
    return loop(this.#bell, this.#context, stopping, () => this.#step(stopping));
  }

  async #step(signal: AbortSignal): Promise<number> {
    const { clock, log } = this.#context;
    const { status } = this.#state;
    if (!status?.online) return Number.POSITIVE_INFINITY;
    if (this.#wanted.size === 0) return Number.POSITIVE_INFINITY;
    const why = [...this.#wanted].join(", ");
    this.#wanted.clear();
    const startedAt = clock.monotonic();
    try {
      const report = await this.mirror.reader.scan(this.mirror.row.id, null);
      await this.#found(report, why, clock.monotonic() - startedAt);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof LineCut || codeOf(error) === "SOURCE_OFFLINE")) throw error;
      log.warn({ mirror: this.mirror.row.name }, `scan ended early: ${messageOf(error)}`);
      this.#wanted.add(AGAIN);
      return AGAIN_MS;
    }
    if (status.mode !== "polling") return this.#wanted.size === 0 ? Infinity : 0;
    const tookMs = clock.monotonic() - startedAt;
    this.#wanted.add("polling");
    return Math.max(POLLING_MS, tookMs * POLLING_SHARE);
  }

  #warn(obstacles: ScanReport["obstacles"]): void {
    const warned = JSON.stringify(obstacles);
    if (warned === this.#warned) return;
    this.#warned = warned;
    for (const { path, trouble } of obstacles) {
      this.#context.log.warn(
        { mirror: this.mirror.row.name, path: shown(path), code: trouble.code },
        `cannot be read: ${trouble.message}`,
      );
    }
  }

  async #found(report: ScanReport, why: string, tookMs: number): Promise<void> {
    const { log, duties = ALL_DUTIES } = this.#context;
    const { id } = this.mirror.row;
    await this.#intake.vanished(
      id,
      report.vanished.filter((dir) => owns(duties, id, dir)),
    );
    if (this.#state.scans === 0) await noteScanned(this.#context, id);
    const { directories, files, leftOut, obstacles } = report;
    this.#warn(obstacles);
    const context = { mirror: this.mirror.row.name, why, directories, files, leftOut };
    const quiet = why === "polling" || why === "schedule";
    log[quiet ? "debug" : "info"]({ ...context, tookMs: Math.round(tookMs) }, "scanned");
    const unread = unreadOf(obstacles);
    this.#state = { ...this.#state, scans: this.#state.scans + 1, unread };
    this.#changed();
  }
}

function unreadOf(obstacles: ScanReport["obstacles"]): Unread | null {
  const [first] = obstacles;
  if (!first) return null;
  const path = shown(first.path) || ".";
  return { directories: obstacles.length, path, why: first.trouble.message };
}
