/**
 * The lifetime of `run`: signals in, a clean end out; the service manager learns about each step.
 *
 *     starting -> running    everything is open                                        READY
 *     running  -> draining   SIGTERM or SIGINT: what is being sent is finished
 *                            within `shutdown`                                         STOPPING
 *     draining -> killed     a second SIGTERM or SIGINT: at once; what had left is in doubt
 *     running  -> starting   SIGHUP with a config that is good, or another secret in its file: a bad
 *                            one changes nothing, and one that cannot be run with gives way to the
 *                            old one again                                             RELOADING
 *     running  -> starting   a source has come to lie on another file system
 *     running  -> starting   this one of several daemons on a journal was taken for lost, and joins
 *                            again as another; or an archive is another one
 */
import { isDeepStrictEqual } from "node:util";
import { archivesOf, type Config } from "../config/config.ts";
import { ConfigError } from "../config/config-problems.ts";
import { isPassing } from "../journal/journal-fault.ts";
import type { StampedFile } from "../std/small-file.ts";
import { Stopping, unlessEnded } from "../std/abort.ts";
import { type Clock, systemClock } from "../std/clock.ts";
import { codeOf, Fault, messageOf } from "../std/fault.ts";
import { type Log, silentLog } from "../std/log.ts";
import { Daemon } from "./daemon.ts";
import { soundAlarm } from "./sound-alarm.ts";
import type { DaemonJournal } from "./daemon-journal.ts";
import type { LifetimeOptions } from "./lifetime-options.ts";
import type { OpenLog } from "./open-log.ts";
import { type Notifier, silentNotifier } from "./notifier.ts";
import { isUnusable, Outwait } from "./outwait.ts";
import { watchSecrets } from "./secret-watch.ts";
import { SourcePlaces } from "./source-places.ts";
import { type ServiceStatus, reportStatus } from "./status-reporter.ts";

/** Starting, and closing, may take this long until it counts as stuck: a large journal is checked. */
const BETWEEN_LIVES_MS = 30 * 60_000;

/** Between a lease that was lost and the next one. */
const COOL_DOWN_MS = 1_000;

/** The end waits this long for the manager to be told about it, not longer. */
const FAREWELL_MS = 1_000;

/** One daemon after another, each with its own config; its methods may be called at any moment. */
export class Lifetime {
  readonly #options: LifetimeOptions;
  readonly #notifier: Notifier;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  /** Ends the present life. */
  #ending = new AbortController();
  #daemon: Daemon | undefined;
  /** When the last life ended, by the monotonic clock. */
  #endedAt: number;
  #log: OpenLog | undefined;
  /** The one that was tried last. */
  #config: Config | undefined;
  readonly #outwait: Outwait;
  #next: Config | undefined;
  /** Opened for the life that comes, by this config. */
  #opened: { readonly journal: DaemonJournal; readonly of: Config } | undefined;
  #farewell: Promise<unknown> = Promise.resolve();
  /** Why a config was refused since the one in use was taken. */
  #refused: string | undefined;
  /** What the secrets' files were when they were last noticed, if that is not in use yet. */
  #noticed: readonly StampedFile[] | undefined;

  constructor(options: LifetimeOptions) {
    this.#options = options;
    this.#notifier = options.notifier ?? silentNotifier;
    this.#clock = options.clock ?? systemClock;
    this.#endedAt = this.#clock.monotonic();
    this.#outwait = new Outwait(this.#clock, this.#notifier);
  }

  async run(): Promise<void> {
    this.#next = await this.#options.load();
    const over = new AbortController();
    const watching = Promise.all([this.#watch(over.signal), this.#sound(over.signal)]);
    try {
      let used: Config | undefined;
      while (this.#next && !this.#stopping.signal.aborted) {
        const config = this.#next;
        this.#next = undefined;
        used = await this.#alive(config, used);
      }
    } finally {
      over.abort(new Stopping("the daemon has ended"));
      await watching;
      await this.#opened?.journal.close();
      const enough = new AbortController();
      await Promise.race([this.#farewell, this.#clock.sleep(FAREWELL_MS, enough.signal)]);
      this.#log?.[Symbol.dispose]();
    }
  }

  stop(): void {
    if (this.#stopping.signal.aborted) process.kill(process.pid, "SIGKILL");
    this.#farewell = this.#notifier.tell("STOPPING=1", "STATUS=stopping");
    this.#stopping.abort(new Stopping());
    this.#ending.abort(new Stopping());
  }

  rescan(): void {
    this.#daemon?.rescan("SIGUSR1");
  }

  async reload(): Promise<void> {
    // Managers that wait for the end of a reload tell old messages from new ones by this time.
    const usec = process.hrtime.bigint() / 1_000n;
    void this.#notifier.tell("RELOADING=1", `MONOTONIC_USEC=${usec}`);
    try {
      this.#next = await this.#options.load();
      this.#log?.info({}, "configuration read again; restarting with it");
      this.#ending.abort(new Stopping("reload"));
    } catch (error) {
      this.#refuse(error, "the new configuration has errors; the old one stays in use");
      void this.#notifier.tell("READY=1");
    }
  }

  /** Starts over when a source is mounted, or is not any more. */
  async #follow(places: SourcePlaces, config: Config): Promise<void> {
    const life = this.#ending;
    const sources = await unlessEnded(places.left(this.#clock, life.signal), life.signal);
    if (!sources) return;
    this.#log?.info({ sources }, "a source is on another file system now; restarting");
    this.#startOver(life, config, "mounts");
  }

  /** Starts over when the lease is lost, or an archive is another. */
  async #followCluster(daemon: Daemon, config: Config): Promise<void> {
    const life = this.#ending;
    const why = await daemon.startOver;
    if (!life.signal.aborted) this.#startOver(life, config, why);
  }

  /** A config that was read meanwhile is the one to start over with. */
  #startOver(life: AbortController, config: Config, why: string): void {
    this.#next ??= config;
    life.abort(new Stopping(why));
  }

  /** One life, also one that ends because its lease is lost. */
  async #alive(config: Config, before: Config | undefined): Promise<Config> {
    try {
      return await this.#live(config, before);
    } catch (error) {
      const isLost = codeOf(error) === "LEASE_LOST";
      // Asked to end, or to start over, while it waited for its journal: what had left is in doubt.
      const isAsked = this.#stopping.signal.aborted || this.#next !== undefined;
      if (isAsked && (isLost || isUnusable(error))) return before ?? config;
      if (isPassing(error)) {
        await this.#waitFor(error, config);
      } else {
        if (!isLost) throw error;
        const why = { code: "LEASE_LOST", reason: messageOf(error) };
        this.#log?.warn(why, "lost the lease; joining the cluster again");
        await this.#clock.sleep(COOL_DOWN_MS, this.#stopping.signal).catch(() => {});
      }
      this.#next ??= config;
      return before ?? config;
    }
  }

  #refuse(error: unknown, what: string): void {
    const problems = error instanceof ConfigError ? error.lines() : [messageOf(error)];
    this.#log?.error({ problems }, what);
    this.#refused = problems.join("; ");
    this.#daemon?.configRefused(this.#refused);
  }

  /** Aborts at the end of this life, or of all. */
  get #over(): AbortSignal {
    return AbortSignal.any([this.#ending.signal, this.#stopping.signal]);
  }

  /** One life; resolves at its end with the config that was used. */
  async #live(wanted: Config, before: Config | undefined): Promise<Config> {
    if (this.#ending.signal.aborted) this.#ending = new AbortController();
    // Before anything is decided from where they lie.
    const first = new SourcePlaces(wanted.mirrors);
    const { daemon: opened, config } = await this.#open(wanted, before);
    await using daemon = opened;
    this.#daemon = daemon;
    daemon.configRefused(this.#refused);
    const places = config === wanted ? first : new SourcePlaces(config.mirrors);
    void this.#follow(places, config);
    void this.#followCluster(daemon, config);
    try {
      if (this.#stopping.signal.aborted) return config;
      void this.#notifier.tell("READY=1");
      // What the archive refused may be let in with another key or secret.
      if (before && !isDeepStrictEqual(archivesOf(before), archivesOf(config)))
        await daemon.probe();
      this.#options.started?.(daemon);
      const over = new AbortController();
      const watching = this.#watchSecrets(config, over.signal);
      try {
        await daemon.run(this.#ending.signal);
      } finally {
        over.abort(new Stopping("this life is over"));
        await watching;
      }
      return config;
    } finally {
      // Whatever ended it, nothing waits for its end any more.
      this.#ending.abort(new Stopping("this life is over"));
      this.#daemon = undefined;
      this.#endedAt = this.#clock.monotonic();
    }
  }

  /** With the wanted config, or with the one before where that cannot be: a port taken, say. */
  async #open(
    wanted: Config,
    before: Config | undefined,
  ): Promise<{ daemon: Daemon; config: Config }> {
    try {
      // A new address that cannot be had is the config's fault.
      const pageWaits = before === undefined || isDeepStrictEqual(before.web, wanted.web);
      const daemon = await this.#daemonOf(wanted, pageWaits);
      this.#refused = undefined;
      this.#noticed = undefined;
      return { daemon, config: wanted };
    } catch (error) {
      if (before === undefined || !(error instanceof Fault) || error.code === "LEASE_LOST")
        throw error;
      // Not the config's fault.
      const isSame = isDeepStrictEqual(before.journal, wanted.journal);
      if (isUnusable(error) && (isSame || this.#ending.signal.aborted)) throw error;
      this.#refuse(error, "cannot run with the new configuration; the old one stays in use");
      const daemon = await this.#daemonOf(before);
      return { daemon, config: before };
    }
  }

  async #daemonOf(config: Config, pageWaits = true): Promise<Daemon> {
    const { journal, of } = this.#opened ?? {};
    this.#opened = undefined;
    const isMeant = isDeepStrictEqual(of?.journal, config.journal);
    if (!isMeant) await journal?.close();
    const own = { config, log: this.#logOf(config), patience: this.#over };
    const inspection = this.#options.inspection?.(config);
    return Daemon.open({ ...own, pageWaits, inspection, ...(isMeant && { journal }) });
  }

  /** Opened before the one in use is let go of, so that no line is without a log. */
  #logOf(config: Config): Log {
    const before = this.#log;
    this.#config = config;
    this.#log = this.#options.openLog(config);
    before?.[Symbol.dispose]();
    return this.#log;
  }

  /** A rotated secret is read like a new config; one that cannot be used leaves the old one in use. */
  #watchSecrets({ secretFiles = [] }: Config, signal: AbortSignal): Promise<void> {
    const changed = async (files: readonly StampedFile[]) => {
      this.#noticed = files;
      this.#log?.info({ files: files.map(({ path }) => path) }, "a secret's file has changed");
      await this.reload();
    };
    return watchSecrets(this.#noticed ?? secretFiles, changed, this.#clock, signal);
  }

  /** Waits for a journal that can be had again, and keeps it for the life that comes. */
  async #waitFor(fault: Fault, config: Config): Promise<void> {
    this.#ending = new AbortController();
    const wait = { config, log: this.#log ?? silentLog, signal: this.#over };
    const journal = await this.#outwait.wait(fault, wait);
    if (journal) this.#opened = { journal, of: config };
    this.#endedAt = this.#clock.monotonic();
  }

  /** Tells people of the host's problems, which the journal cannot keep. */
  #sound(signal: AbortSignal): Promise<void> {
    const sight = () => ({
      config: this.#config?.notify,
      fault: this.#daemon ? this.#daemon.problem : this.#outwait.fault,
      log: this.#log ?? silentLog,
    });
    return soundAlarm(this.#clock, sight, signal);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const [notifier, clock] = [this.#notifier, this.#clock];
    const wrong = (what: string) => this.#log?.error({}, what);
    if (notifier !== silentNotifier)
      await reportStatus({ notifier, clock, look: () => this.#look(), wrong }, signal);
  }

  async #look(): Promise<ServiceStatus> {
    if (this.#daemon) return this.#daemon.look();
    if (this.#outwait.line !== undefined) return { line: this.#outwait.line, stuck: undefined };
    const tookMs = this.#clock.monotonic() - this.#endedAt;
    const stuck = tookMs > BETWEEN_LIVES_MS ? "starting and closing take too long" : undefined;
    return { line: this.#stopping.signal.aborted ? "stopping" : "starting", stuck };
  }
}
