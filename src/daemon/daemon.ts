/**
 * The daemon: opens everything in order, runs the loops, and closes it all in reverse. The journal
 * opens first and closes last, so that it outlives whatever writes to it.
 */
import type { Config } from "../config/config.ts";
import type { Dashboard, Health } from "../dashboard/dashboard.ts";
import type { Document } from "../domain/document.ts";
import type { Change, Journal } from "../journal/journal.ts";
import { type Clock, type Random, systemClock, systemRandom } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import { probeNow, retryOf } from "../sync/retry.ts";
import { type StatusReport, statusOf } from "../sync/status.ts";
import { HealthWatch } from "./health.ts";
import { type Parts, type PartsOptions, openParts } from "./parts.ts";
import { type Quiescence, quiescent } from "./quiescent.ts";
import { Schedule } from "./schedule.ts";
import { statusLine } from "./status-line.ts";
import { version } from "./version.ts";
import type { Look } from "./vigil.ts";

/** Of `shutdown`, what is left for tearing requests down, ending readers and closing the journal. */
const CLOSING_MS = 2_500;

export type DaemonOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly clock?: Clock;
  readonly random?: Random;
  /** False: files are watched and journaled, and nothing is sent (`adopt`). Default true. */
  readonly sending?: boolean;
  /** False: no web listener, whatever the config says (`sync`). */
  readonly web?: boolean;
  /** Told of everything that is journaled, after it is durable. */
  readonly journaled?: NonNullable<PartsOptions["journaled"]>;
};

export class Daemon implements AsyncDisposable {
  readonly #config: Config;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #owned: AsyncDisposableStack;
  readonly #parts: Parts;
  readonly #sending: boolean;
  readonly #healthWatch = new HealthWatch();
  #dashboard: Dashboard | undefined;
  #closed: Promise<void> | undefined;

  private constructor(
    options: DaemonOptions & { clock: Clock },
    owned: AsyncDisposableStack,
    parts: Parts,
  ) {
    this.#config = options.config;
    this.#log = options.log;
    this.#clock = options.clock;
    this.#owned = owned;
    this.#sending = options.sending ?? true;
    this.#parts = parts;
  }

  /** Opens journal, archive, readers and page. What was opened is closed again when a step fails. */
  static async open(options: DaemonOptions): Promise<Daemon> {
    const { clock = systemClock, random = systemRandom } = options;
    await using stack = new AsyncDisposableStack();
    const parts = await openParts({ ...options, clock, random }, stack);
    await using daemon = new AsyncDisposableStack();
    const opened = daemon.use(new Daemon({ ...options, clock }, stack.move(), parts));
    if (options.web !== false) await opened.#listen();
    daemon.move();
    return opened;
  }

  get journal(): Journal {
    return this.#parts.journal;
  }

  /** Where the page is; undefined without one. */
  get webUrl(): string | undefined {
    return this.#dashboard?.url;
  }

  /**
   * Runs until `stopping` aborts; then finishes what is being sent within `shutdown` and resolves.
   * Rejects with the first failure that no loop can mend.
   */
  async run(stopping: AbortSignal): Promise<void> {
    const { schedule, mirrors, journal } = this.#config;
    const { sync } = this.#parts;
    using _rescan = Schedule.start(schedule.rescan, () => this.rescan("schedule"), this.#clock);
    this.#log.info({ mirrors: mirrors.map(({ name }) => name), journal, version }, "started");
    const loops = new AbortController();
    const running = sync.run(loops.signal);
    const asked = Promise.withResolvers<void>();
    const ask = () => asked.resolve();
    stopping.addEventListener("abort", ask, { once: true });
    if (stopping.aborted) ask();
    try {
      await Promise.race([running, asked.promise]);
      this.#log.info({ underWay: sync.underWay }, "stopping");
      await this.#drain();
    } finally {
      stopping.removeEventListener("abort", ask);
      loops.abort(new Error("the daemon stops"));
      await this.#parts.endReaders();
      await running;
    }
    this.#log.info({}, "stopped");
  }

  rescan(why: string): void {
    this.#parts.sync.rescan(why);
  }

  /** What stopped the account may be over: the closed gate is probed at once. */
  async probe(): Promise<void> {
    await probeNow(this.journal, this.#clock.now());
    await this.#parts.sync.reread();
  }

  async status(): Promise<StatusReport> {
    return statusOf(this.journal, this.#config, true, this.#clock.now());
  }

  /** What goes on, and whether the loops still turn; for the service manager. */
  async look(): Promise<Look> {
    const { sync, hearts } = this.#parts;
    const surveys = [...sync.surveys.values()];
    const away = surveys.filter(({ state }) => state.status?.online === false);
    const offline = away.map(({ mirror }) => mirror.row.name);
    const line = statusLine({ report: await this.status(), outage: sync.outage, offline });
    return { line, stuck: hearts.stuck() };
  }

  /** Resolves when nothing is left that goes on by itself; see `quiescent.ts`. */
  quiescent(wanted: Quiescence, signal: AbortSignal): Promise<StatusReport> {
    const { journal, sync, changed } = this.#parts;
    const surveys = [...sync.surveys.values()];
    const watched = {
      journal,
      surveys,
      changed,
      clock: this.#clock,
      outage: () => sync.outage,
      sending: this.#sending,
      status: () => this.status(),
    };
    return quiescent(watched, wanted, signal);
  }

  close(): Promise<void> {
    this.#closed ??= this.#owned.disposeAsync();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What is being sent may be finished, but everything ends within `shutdown`. */
  async #drain(): Promise<void> {
    const over = new AbortController();
    const finished = new AbortController();
    const { shutdownMs } = this.#config;
    const drainMs = Math.max(shutdownMs - CLOSING_MS, shutdownMs / 2);
    const deadline = this.#clock.sleep(drainMs, finished.signal).then(
      () => over.abort(),
      () => {},
    );
    await this.#parts.sync.drain(over.signal);
    finished.abort();
    await deadline;
  }

  async #listen(): Promise<void> {
    const { web } = this.#config;
    if (!web) return;
    const { journal, changed } = this.#parts;
    // Loaded only here: a third of all modules, and `sync` and `web: off` need none of them.
    const { Dashboard } = await import("../dashboard/dashboard.ts");
    const dashboard = await Dashboard.open({
      listen: web,
      journal,
      status: () => this.status(),
      health: () => this.#health(),
      log: this.#log,
      clock: this.#clock,
      version,
      ...(web.token === undefined ? {} : { token: web.token }),
      actions: {
        retry: (ids) => this.#retry(ids),
        pause: () => this.#setPaused(true),
        resume: () => this.#setPaused(false),
        rescan: async () => this.rescan("asked for on the page"),
      },
    });
    this.#owned.use(dashboard);
    this.#owned.defer(changed.add(() => dashboard.changed()));
    this.#dashboard = dashboard;
  }

  async #health(): Promise<Health> {
    const { sync, journal } = this.#parts;
    const now = this.#clock.now();
    const surveys = [...sync.surveys];
    const heads: Document[] = [];
    for (const [mirrorId, { state }] of surveys) {
      if (!state.status?.online) continue;
      heads.push(...(await journal.due({ state: "pending", now, limit: 1, mirrorId })));
    }
    return this.#healthWatch.look({
      status: await this.status(),
      heads,
      underWay: sync.underWay,
      outage: sync.outage?.trouble.code,
      started: surveys.some(([, { state }]) => state.status !== undefined),
      now: this.#clock.monotonic(),
    });
  }

  async #retry(ids: readonly number[]): Promise<void> {
    const at = this.#clock.now();
    const changes: Change[] = [];
    for (const id of ids) {
      const document = await this.journal.document(id);
      const change = document && retryOf(document, at);
      if (change) changes.push(change);
    }
    await this.journal.apply(changes);
    await this.probe();
  }

  async #setPaused(paused: boolean): Promise<void> {
    await this.journal.setPaused(paused);
    await this.#parts.sync.reread();
  }
}
