/** What people get to know: gathers how things are, and keeps the schedules of digest and ping. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Config } from "../config/config.ts";
import type { NotifyConfig } from "../config/notify-section.ts";
import type { Health } from "../dashboard/dashboard.ts";
import type { Cluster } from "../journal/cluster.ts";
import type { Applied, Journal } from "../journal/journal.ts";
import type { ChannelReport } from "../notify/outlet.ts";
import { Notify } from "../notify/notify.ts";
import { Ping } from "../notify/ping.ts";
import type { Sight } from "../notify/alerts.ts";
import type { Clock, Random } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import type { Standing } from "../report/standing.ts";
import type { Accounts } from "./bind-archives.ts";
import { Schedule } from "./schedule.ts";
import { version } from "./version.ts";

export type NotificationsOptions = {
  readonly config: Config;
  readonly notify: NotifyConfig;
  readonly parts: {
    readonly journal: Journal;
    readonly accounts: Pick<Accounts, "scanSchedulers">;
  };
  readonly standing: () => Promise<Standing>;
  readonly health: () => Promise<Health>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly lookMs?: number;
};

export class Notifications {
  readonly #options: NotificationsOptions;
  readonly #notify: Notify;

  private constructor(options: NotificationsOptions, notify: Notify) {
    this.#options = options;
    this.#notify = notify;
  }

  /** Rejects where `Notify` does; nobody learns about anything before `run`. */
  static async open(options: NotificationsOptions): Promise<Notifications> {
    const { config, notify, parts, clock, random, log, lookMs } = options;
    const opened = await Notify.open({
      config: notify,
      journal: parts.journal,
      sight: () => sightOf(options),
      sender: { host: hostname(), version },
      batchQuietMs: config.batch.quietMs,
      newId: randomUUID,
      clock,
      random,
      log,
      ...(lookMs === undefined ? {} : { lookMs }),
    });
    return new Notifications(options, opened);
  }

  get reports(): ChannelReport[] {
    return this.#notify.reports;
  }

  journaled(applied: readonly Applied[]): void {
    this.#notify.journaled(applied);
  }

  /** `mirrors`: their names, of one file system and archive. */
  readerRestarted(mirrors: readonly string[]): void {
    const names = mirrors.join(", ");
    this.#notify.happened({
      kind: "reader",
      cause: `reader:${names}`,
      title: `The reader of ${names} was restarted`,
      detail: "It had died, or it did not answer, as when a share hangs. Nothing is lost.",
      hint: "Look at the share and into the log when this comes often.",
    });
  }

  /** Until `stopping` aborts. Never rejects: nothing of this ends the daemon. */
  async run(stopping: AbortSignal): Promise<void> {
    const { notify, clock } = this.#options;
    using schedules = new DisposableStack();
    if (notify.digest !== undefined) {
      schedules.use(Schedule.start(notify.digest, () => void this.#digest(), clock));
    }
    if (notify.ping) {
      const { ping, timeoutMs } = notify;
      const call = new Ping(ping, timeoutMs, this.#options.log);
      const run = () => void this.#ping(call, stopping);
      schedules.use(Schedule.start(ping.schedule, run, clock));
    }
    await this.#notify.run(stopping);
  }

  async #digest(): Promise<void> {
    try {
      await this.#notify.digest();
    } catch (error) {
      this.#options.log.error({ reason: messageOf(error) }, "cannot make the digest");
    }
  }

  async #ping(ping: Ping, stopping: AbortSignal): Promise<void> {
    try {
      const { healthy } = await this.#options.health();
      if (healthy) await ping.call(stopping);
    } catch (error) {
      // A journal that fails ends the daemon on its own; not to ping is right.
      this.#options.log.debug({ reason: messageOf(error) }, "not pinged: health is not known");
    }
  }
}

/** Tells people from when on that is this daemon's work: at once, or when it takes it over from another one. */
export class OwnNotifications {
  readonly #open: () => Promise<Notifications>;
  readonly #isOwn: () => boolean;
  readonly #cluster: Cluster;
  #current: Notifications | undefined;

  private constructor(open: () => Promise<Notifications>, isOwn: () => boolean, cluster: Cluster) {
    this.#open = open;
    this.#isOwn = isOwn;
    this.#cluster = cluster;
  }

  static async open(
    options: NotificationsOptions,
    isOwn: () => boolean,
  ): Promise<OwnNotifications> {
    const { cluster } = options.parts.journal;
    const notifications = new OwnNotifications(() => Notifications.open(options), isOwn, cluster);
    if (isOwn()) notifications.#current = await notifications.#open();
    return notifications;
  }

  /** The one who tells; undefined while another daemon does. */
  get current(): Notifications | undefined {
    return this.#current;
  }

  /** Until `stopping` aborts. */
  async run(stopping: AbortSignal): Promise<void> {
    if (!this.#current) {
      const own = Promise.withResolvers<void>();
      const look = () => {
        if (this.#isOwn() || stopping.aborted) own.resolve();
      };
      stopping.addEventListener("abort", look, { once: true });
      const remove = this.#cluster.listen(look);
      look();
      await own.promise;
      remove();
      if (stopping.aborted) return;
      this.#current = await this.#open();
    }
    await this.#current.run(stopping);
  }
}

async function sightOf({ parts, standing }: NotificationsOptions): Promise<Sight> {
  const unlooked = parts.accounts.scanSchedulers.filter(({ state }) => state.status === undefined);
  return { ...(await standing()), unlooked: unlooked.map(({ mirror }) => mirror.row.name) };
}
