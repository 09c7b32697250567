/** The daemon: opens everything in order, the journal first, and closes it all in reverse. */
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/config.ts";
import type { Health } from "../dashboard/dashboard.ts";
import { unlessAborted, unlessEnded } from "../std/abort.ts";
import { type Clock, type Random, systemClock, systemRandom } from "../std/clock.ts";
import { type Fault, messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { healthReason, serviceLine } from "../report/finding-text.ts";
import { type HostFaults, noteHostFaults } from "../report/finding.ts";
import { lowDiskOf, type Standing, standingOf } from "../report/standing.ts";
import { whyWaits } from "../report/explanation.ts";
import { lookAgainNow, probeNow } from "../sync/retry.ts";
import { DaemonJournal, startedWith } from "./daemon-journal.ts";
import { healthOf, type HealthWatch } from "./health.ts";
import type { StartOver } from "./cluster-watch.ts";
import { pageActions, WebPage } from "./page.ts";
import { openParts, type Parts, type PartsOptions } from "./parts.ts";
import { allIdle, type IdleWait, type PassReport, withUnread } from "./idle.ts";
import { Schedule } from "./schedule.ts";
import { OwnNotifications } from "./notifications.ts";
import type { DaemonOptions } from "./daemon-options.ts";
import { version } from "./version.ts";
import type { ServiceStatus } from "./status-reporter.ts";
import { statusOf, type StatusReport } from "../report/status.ts";
import { askRescan } from "../sync/scan-scheduler.ts";

/** Of `shutdown`, what is left for tearing requests down, ending readers and closing the journal. */
const CLOSING_MS = 2_500;

export class Daemon implements AsyncDisposable {
  readonly #config: Config;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #owned: AsyncDisposableStack;
  readonly #parts: Parts;
  readonly #sending: boolean;
  readonly #healthWatches = new Map<string, HealthWatch>();
  #page: WebPage | undefined;
  #configFault: string | undefined;
  /** What was written down of these last. */
  #noted: HostFaults | undefined;
  #notifications: OwnNotifications | undefined;
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;
  #isDraining = false;

  private constructor(options: DaemonOptions, owned: AsyncDisposableStack, parts: Parts) {
    this.#config = options.config;
    this.#log = options.log;
    this.#clock = parts.clock;
    this.#owned = owned;
    this.#sending = options.sending ?? true;
    this.#parts = parts;
  }

  /** Opens journal, archive, readers and page. What was opened is closed again when a step fails. */
  static async open(options: DaemonOptions): Promise<Daemon> {
    const { clock = systemClock, random = systemRandom } = options;
    await using stack = new AsyncDisposableStack();
    // Set once there is one; what comes before that is nobody's news.
    let notifications: OwnNotifications | undefined;
    const told: Pick<PartsOptions, "journaled" | "readerRestarted"> = {
      journaled: (applied, nameOf) => {
        options.journaled?.(applied, nameOf);
        notifications?.current?.journaled(applied);
      },
      readerRestarted: (mirrors) => notifications?.current?.readerRestarted(mirrors),
    };
    const journal = options.journal ?? (await DaemonJournal.open({ ...options, clock }));
    // Before the parts, which close first.
    stack.defer(() => journal.close());
    const parts = await openParts({ ...options, ...told, journal, clock, random }, stack);
    await using daemon = new AsyncDisposableStack();
    const opened = daemon.use(new Daemon(options, stack.move(), parts));
    notifications = await opened.#openNotifications(options, random);
    if (options.web !== false) await opened.#listen(options, random);
    daemon.move();
    return opened;
  }

  get journal(): Parts["journal"] {
    return this.#parts.journal;
  }

  /** Resolves when the loops have to start again, and why: see `StartOver`. */
  get startOver(): Promise<StartOver> {
    return this.#parts.cluster.startOver;
  }

  /** Where the page is; undefined without one. */
  get webUrl(): string | undefined {
    return this.#page?.url;
  }

  /** Why the journal cannot be used just now; undefined while it can. */
  get problem(): Fault | undefined {
    return this.#parts.cluster.problem;
  }

  /**
   * Runs until `stopping` aborts; then finishes what is being sent within `shutdown` and resolves.
   * Rejects with the first failure that no loop can fix.
   */
  async run(stopping: AbortSignal): Promise<void> {
    const { accounts } = this.#parts;
    const rescan = () => accounts.rescan("schedule");
    using _rescan = Schedule.start(this.#config.schedule.rescan, rescan, this.#clock);
    this.#log.info(startedWith(this.#config), "started");
    const loops = new AbortController();
    const running = accounts.run(loops.signal);
    const notifications = this.#notifications?.run(loops.signal);
    try {
      const ended = Promise.all([running, notifications]);
      await unlessEnded(unlessAborted(ended, stopping), stopping);
      this.#log.info({ underWay: accounts.underWay }, "stopping");
      await this.#drain();
    } finally {
      loops.abort(new Error("the daemon stops"));
      await this.#parts.endReaders();
      await notifications;
      await running;
    }
    this.#log.info({}, "stopped");
  }

  /** A person asked: every mirror is scanned, by anyone who leads it. */
  rescan(why: string): void {
    this.#parts.accounts.rescan(why);
    askRescan(this.journal, this.#clock.now()).catch((error: unknown) => {
      this.#log.warn({ reason: messageOf(error) }, "cannot ask the other daemons to rescan");
    });
  }

  /** What stopped the account may be over: the closed gate is probed at once. */
  async probe(): Promise<void> {
    await probeNow(this.journal, this.#clock.now());
    await this.#parts.accounts.reread();
  }

  /** For a pass: what looked unfinished is looked at again, whenever that is due. */
  lookAgain(): Promise<void> {
    return lookAgainNow(this.journal, this.#clock.now());
  }

  status(): Promise<StatusReport> {
    return statusOf(this.journal, this.#config, true, this.#clock.now());
  }

  /** What goes on, and whether the loops still turn; for the service manager. */
  look(): Promise<ServiceStatus> {
    const { accounts, cluster } = this.#parts;
    const ask = async () => {
      const line = serviceLine(await this.#standing());
      return { line: this.#isDraining ? `stopping; ${line}` : line, stuck: accounts.stuck() };
    };
    return cluster.answered(ask, (line) => ({ line, stuck: undefined }));
  }

  /**
   * Resolves when nothing is left that continues automatically; see `idle.ts`. Where one archive
   * cannot go on, the others are waited for before this rejects.
   */
  async idle(wanted: IdleWait, signal: AbortSignal): Promise<PassReport> {
    const { accounts, changed } = this.#parts;
    const common = { changed, clock: this.#clock, sending: this.#sending };
    await allIdle(accounts.all, common, wanted, signal);
    return withUnread(await this.status(), accounts.scanSchedulers);
  }

  close(): Promise<void> {
    this.#closing.abort(new Error("the daemon stops"));
    this.#closed ??= this.#owned.disposeAsync();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What is being sent may be finished, but everything ends within `shutdown`. */
  async #drain(): Promise<void> {
    this.#isDraining = true;
    const over = new AbortController();
    const finished = new AbortController();
    const { shutdownMs } = this.#config;
    const drainMs = Math.max(shutdownMs - CLOSING_MS, shutdownMs / 2);
    const deadline = this.#clock.sleep(drainMs, finished.signal).then(
      () => over.abort(),
      () => {},
    );
    // Of what a lost daemon ends nothing can be journaled.
    if (this.#parts.cluster.isLost) over.abort();
    await this.#parts.accounts.drain(over.signal);
    finished.abort();
    await deadline;
  }

  async #openNotifications(
    options: DaemonOptions,
    random: Random,
  ): Promise<OwnNotifications | undefined> {
    const { notify } = this.#config;
    if (!notify || options.tells === false) return undefined;
    const notifyOptions = {
      config: this.#config,
      notify,
      parts: this.#parts,
      standing: () => this.#standing(),
      health: () => this.#health(),
      clock: this.#clock,
      random,
      log: this.#log,
      ...(options.tellLookMs === undefined ? {} : { lookMs: options.tellLookMs }),
    };
    this.#notifications = await OwnNotifications.open(notifyOptions, this.#parts.tells);
    return this.#notifications;
  }

  async #listen({ pageWaits = false, inspection }: DaemonOptions, random: Random): Promise<void> {
    if (!this.#config.web) return;
    const { host, port, ...protection } = this.#config.web;
    const dashboard = {
      listen: { host, port },
      ...protection,
      journal: this.journal,
      standing: () => this.#standing(),
      waits: (document: Parameters<typeof whyWaits>[1]) =>
        whyWaits(() => this.#standing(), document),
      health: () => this.#health(),
      away: () => this.#parts.cluster.away,
      fault: () => this.#parts.cluster.fault,
      log: this.#log,
      clock: this.#clock,
      version,
      inspection,
      uploads: this.#parts.uploads,
      channels: () => this.#notifications?.current?.reports ?? [],
      actions: pageActions({
        config: this.#config,
        parts: this.#parts,
        rescan: (why) => this.rescan(why),
        closing: this.#closing.signal,
      }),
    };
    const listens = async (url: string) => {
      await this.journal.announcePage?.(url);
      this.#note();
    };
    const page = await WebPage.open({ dashboard, waits: pageWaits, random, listens });
    this.#page = this.#owned.use(page);
    this.#note();
    this.#owned.defer(this.#parts.changed.add(() => page.changed()));
  }

  /** The new configuration cannot be used; undefined: the one in use is the newest. */
  configRefused(why: string | undefined): void {
    this.#configFault = why;
    this.#note();
  }

  /** A journal that fails is reported on its own, and gets the next note. */
  #note(): void {
    const page = this.#page?.problem;
    const note = {
      page: page && { message: page.message, hint: page.hint },
      config: this.#configFault,
    };
    if (isDeepStrictEqual(note, this.#noted)) return;
    this.#noted = note;
    noteHostFaults(this.journal, note).catch(() => (this.#noted = undefined));
  }

  /** The report, and what is wrong. */
  async #standing(): Promise<Standing & { readonly health: Health }> {
    const report = await this.status();
    const [health, lowDisk] = await Promise.all([
      healthOf(this.#parts.accounts.all, this.#healthWatches, report, this.#clock),
      lowDiskOf(this.#config),
    ]);
    const known = { health, lowDisk };
    return { ...(await standingOf(this.journal, report, known)), health };
  }

  #health(): Promise<Health> {
    const ask = async () => {
      const { health, findings } = await this.#standing();
      if (this.#isDraining) return { ...health, ready: false, why: "stopping" };
      // What is unhealthy is the first finding.
      const why = health.healthy ? healthReason(findings) || health.why : health.why;
      return { ...health, why };
    };
    // Nothing could be asked: starting again would fix nothing, but the administrator has to know.
    const { cluster } = this.#parts;
    return cluster.answered(ask, (why) => ({ healthy: false, ready: false, why }));
  }
}
