/**
 * The daemon: opens everything in order, runs the loops, and closes it all in reverse. The journal
 * opens first and closes last, so that it outlives whatever writes to it.
 */
import type { Config } from "../config/config.ts";
import type { Dashboard, Health } from "../dashboard/dashboard.ts";
import type { Journal } from "../journal/journal.ts";
import { type Clock, type Random, systemClock, systemRandom } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { askRescan } from "../sync/ask-rescan.ts";
import { probeNow, retryAll } from "../sync/retry.ts";
import { type StatusReport, statusOf } from "../sync/status.ts";
import { whyWaits } from "../sync/why-waits.ts";
import { startedWith } from "./daemon-journal.ts";
import { healthOf, type HealthWatch } from "./health.ts";
import type { StartOver } from "./crew-watch.ts";
import { KeptJournal } from "./kept-journal.ts";
import { type Parts, type PartsOptions, openParts } from "./parts.ts";
import { type Quiescence, quiescent, withUnread } from "./quiescent.ts";
import { Schedule } from "./schedule.ts";
import { statusLine } from "./status-line.ts";
import { Teller } from "./teller.ts";
import { version } from "./version.ts";
import type { Look } from "./vigil.ts";

/** Of `shutdown`, what is left for tearing requests down, ending readers and closing the journal. */
const CLOSING_MS = 2_500;

/** What beside the configuration differs between `run`, `sync`, `adopt` and tests. */
export type DaemonOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly clock?: Clock;
  readonly random?: Random;
  /** False: files are watched and journaled, and nothing is sent (`adopt`). Default true. */
  readonly sending?: boolean;
  /** False: no web listener, whatever the config says (`sync`). */
  readonly web?: boolean;
  /** False: nobody is told of anything, whatever the config says (`sync`). */
  readonly tells?: boolean;
  /** How often to look for what people are to be told; milliseconds. */
  readonly tellLookMs?: number;
  /** Of a daemon that ended so that this one may begin; else one is opened, and closed at the end. */
  readonly keptJournal?: KeptJournal | undefined;
  /** See `JournalOpening`. */
  readonly patience?: AbortSignal;
  /** Aborts when it is asked to end, where it has no patience; see `JournalOpening`. */
  readonly ending?: AbortSignal;
  /** Told of everything that is journaled, after it is durable. */
  readonly journaled?: NonNullable<PartsOptions["journaled"]>;
};

export class Daemon implements AsyncDisposable {
  readonly #config: Config;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #owned: AsyncDisposableStack;
  readonly #parts: Parts;
  readonly #kept: KeptJournal;
  readonly #sending: boolean;
  readonly #healthWatches = new Map<string, HealthWatch>();
  #dashboard: Dashboard | undefined;
  #teller: Teller | undefined;
  #closed: Promise<void> | undefined;

  private constructor(
    options: DaemonOptions,
    owned: AsyncDisposableStack,
    parts: Parts,
    kept: KeptJournal,
  ) {
    this.#config = options.config;
    this.#log = options.log;
    this.#clock = parts.clock;
    this.#kept = kept;
    this.#owned = owned;
    this.#sending = options.sending ?? true;
    this.#parts = parts;
  }

  /** Opens journal, archive, readers and page. What was opened is closed again when a step fails. */
  static async open(options: DaemonOptions): Promise<Daemon> {
    const { clock = systemClock, random = systemRandom } = options;
    await using stack = new AsyncDisposableStack();
    // Set once there is one; what comes before that is nobody's news.
    let teller: Teller | undefined;
    const told: Pick<PartsOptions, "journaled" | "readerRestarted"> = {
      journaled: (applied, nameOf) => {
        options.journaled?.(applied, nameOf);
        teller?.journaled(applied);
      },
      readerRestarted: (mirrors) => teller?.readerRestarted(mirrors),
    };
    const journal = options.keptJournal ?? (await KeptJournal.open({ ...options, clock }));
    // Before the parts, which close first.
    stack.defer(() => journal.letGo());
    const parts = await openParts({ ...options, ...told, journal, clock, random }, stack);
    await using daemon = new AsyncDisposableStack();
    const opened = daemon.use(new Daemon(options, stack.move(), parts, journal));
    teller = await opened.#openTeller(options, random);
    if (options.web !== false) await opened.#listen();
    daemon.move();
    return opened;
  }

  get journal(): Journal {
    return this.#parts.journal;
  }

  /**
   * Resolves when the loops have to begin anew: they would have more to do, or this daemon is lost
   * and nothing it does is journaled. Only where several share the journal.
   */
  get startOver(): Promise<StartOver> {
    return this.#parts.crew.startOver;
  }

  /**
   * Once it has run, where it ended for more duties, or fewer: the journal, with all that it has; whoever takes
   * it closes it. Undefined where something is still under way: as this member's it would stay so.
   */
  handOver(): KeptJournal | undefined {
    const { accounts, crew } = this.#parts;
    return crew.goesOn && !crew.isLost && accounts.underWay === 0 ? this.#kept.keep() : undefined;
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
    const { accounts } = this.#parts;
    const rescan = () => accounts.rescan("schedule");
    using _rescan = Schedule.start(this.#config.schedule.rescan, rescan, this.#clock);
    this.#log.info(startedWith(this.#config), "started");
    const loops = new AbortController();
    const running = accounts.run(loops.signal);
    const telling = this.#teller?.run(loops.signal);
    const asked = Promise.withResolvers<void>();
    const ask = () => asked.resolve();
    stopping.addEventListener("abort", ask, { once: true });
    if (stopping.aborted) ask();
    try {
      await Promise.race([running, asked.promise]);
      this.#log.info({ underWay: accounts.underWay }, "stopping");
      await this.#drain();
    } finally {
      stopping.removeEventListener("abort", ask);
      loops.abort(new Error("the daemon stops"));
      await this.#parts.endReaders();
      await telling;
      await running;
    }
    this.#log.info({}, "stopped");
  }

  /** A person asked: every mirror is scanned, by whoever leads it. */
  rescan(why: string): void {
    this.#parts.accounts.rescan(why);
    askRescan(this.journal, this.#clock.now()).catch((error: unknown) => {
      this.#log.warn({ reason: messageOf(error) }, "the other daemons were not asked to rescan");
    });
  }

  /** What stopped the account may be over: the closed gate is probed at once. */
  async probe(): Promise<void> {
    await probeNow(this.journal, this.#clock.now());
    await this.#parts.accounts.reread();
  }

  status(): Promise<StatusReport> {
    return statusOf(this.journal, this.#config, true, this.#clock.now());
  }

  /** What goes on, and whether the loops still turn; for the service manager. */
  look(): Promise<Look> {
    const { accounts, crew } = this.#parts;
    const ask = async () => {
      const { outages, offline } = accounts;
      const line = statusLine({ report: await this.status(), outages, offline });
      return { line, stuck: accounts.stuck() };
    };
    return crew.answered(ask, (line) => ({ line, stuck: undefined }));
  }

  /**
   * Resolves when nothing is left that goes on by itself; see `quiescent.ts`. Where one archive
   * cannot go on, the others are waited for before this rejects.
   */
  async quiescent(wanted: Quiescence, signal: AbortSignal): Promise<StatusReport> {
    const { accounts, changed } = this.#parts;
    const outcomes = await Promise.allSettled(
      accounts.all.map(({ config, journal, sync }) => {
        const watched = {
          journal,
          surveys: [...sync.surveys.values()],
          changed,
          clock: this.#clock,
          outage: () => sync.outage,
          sending: this.#sending,
          status: () => statusOf(journal, config, true, this.#clock.now()),
        };
        return quiescent(watched, wanted, signal);
      }),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    return withUnread(await this.status(), accounts.surveys);
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
    // Of what a lost daemon ends nothing can be journaled.
    if (this.#parts.crew.isLost) over.abort();
    await this.#parts.accounts.drain(over.signal);
    finished.abort();
    await deadline;
  }

  async #openTeller(options: DaemonOptions, random: Random): Promise<Teller | undefined> {
    const { notify } = this.#config;
    if (!notify || options.tells === false || !this.#parts.tells) return undefined;
    this.#teller = await Teller.open({
      config: this.#config,
      notify,
      parts: this.#parts,
      status: () => this.status(),
      health: () => this.#health(),
      clock: this.#clock,
      random,
      log: this.#log,
      ...(options.tellLookMs === undefined ? {} : { lookMs: options.tellLookMs }),
    });
    return this.#teller;
  }

  async #listen(): Promise<void> {
    const { web } = this.#config;
    if (!web) return;
    const { host, port, ...protection } = web;
    // Loaded only here: a third of all modules, and `sync` and `web: off` need none of them.
    const { Dashboard } = await import("../dashboard/dashboard.ts");
    const dashboard = await Dashboard.open({
      listen: { host, port },
      ...protection,
      journal: this.journal,
      status: () => this.status(),
      waits: (document) => whyWaits(() => this.status(), document),
      health: () => this.#health(),
      away: () => this.#parts.crew.away,
      log: this.#log,
      clock: this.#clock,
      version,
      channels: () => this.#teller?.reports ?? [],
      actions: {
        retry: (ids) => retryAll(this.journal, ids, this.#clock.now()).then(() => this.probe()),
        pause: () => this.#setPaused(true),
        resume: () => this.#setPaused(false),
        rescan: async () => this.rescan("asked for on the page"),
      },
    });
    this.#owned.use(dashboard);
    this.#owned.defer(this.#parts.changed.add(() => dashboard.changed()));
    this.#dashboard = dashboard;
    await this.#kept.announcePage(dashboard.url);
  }

  #health(): Promise<Health> {
    const ask = () => healthOf(this.#parts.accounts.all, this.#healthWatches, this.#clock);
    // Nothing could be asked; and starting again would mend nothing.
    return this.#parts.crew.answered(ask, (why) => ({ healthy: true, ready: false, why }));
  }

  async #setPaused(paused: boolean): Promise<void> {
    await this.journal.setPaused(paused);
    await this.#parts.accounts.reread();
  }
}
