/**
 * Notifies people of what the journal cannot keep: that it cannot be used itself.
 * What was sent is known for as long as the process lives; see `decide`.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { NotifyConfig } from "../config/notify-section.ts";
import { Stopping } from "../std/abort.ts";
import type { Clock, Random } from "../std/clock.ts";
import { type Fault, messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { overText } from "../report/finding-text.ts";
import { journalFinding } from "../report/findings.ts";
import { alertOf } from "./alerts.ts";
import { openChannel } from "./channel.ts";
import { decide, policyOf } from "./decide.ts";
import { bodyOf, type MessageOrigin } from "./message.ts";
import { Outlet } from "./outlet.ts";
import { type Memory, NOTHING_TOLD, type Notification, type Alert } from "./alert.ts";

export type AlarmOptions = {
  readonly sender: MessageOrigin;
  readonly clock: Clock;
  readonly random: Random;
};

/** What is wrong with the journal passes, mostly within this, milliseconds. */
const PATIENCE_MS = 60_000;

/** The channels of one configuration. */
type Open = {
  readonly config: NotifyConfig;
  readonly outlets: Promise<
    readonly { readonly events: readonly string[]; readonly outlet: Outlet }[]
  >;
  readonly ending: AbortController;
};

export class Alarm implements Disposable {
  readonly #options: AlarmOptions;
  #memory: Memory = NOTHING_TOLD;
  #open: Open | undefined;

  constructor(options: AlarmOptions) {
    this.#options = options;
  }

  /** Looks at what there is, `fault` or nothing. Nobody waits for what comes of it. */
  look(config: NotifyConfig, fault: Fault | undefined, log: Log): void {
    const now = this.#options.clock.now();
    const found = { alerts: fault ? alertsOf(fault, now) : [], absent: () => "over" as const };
    const { memory, notifications } = decide(this.#memory, found, policyOf(config, now), now);
    this.#memory = memory;
    if (notifications.length === 0) return;
    this.#tell(config, notifications, log).catch((error: unknown) => {
      log.error({ reason: messageOf(error) }, "cannot send notifications");
    });
  }

  [Symbol.dispose](): void {
    this.#open?.ending.abort(new Stopping());
  }

  async #tell(
    config: NotifyConfig,
    notifications: readonly Notification[],
    log: Log,
  ): Promise<void> {
    for (const { events, outlet } of await this.#outletsOf(config, log)) {
      const wanted = notifications.filter(({ kind }) => events.includes(kind));
      const message = { id: randomUUID(), at: this.#options.clock.now(), notifications: wanted };
      if (wanted.length > 0) outlet.add(message);
    }
  }

  #outletsOf(config: NotifyConfig, log: Log): Open["outlets"] {
    if (this.#open && isDeepStrictEqual(this.#open.config, config)) return this.#open.outlets;
    this.#open?.ending.abort(new Stopping());
    const ending = new AbortController();
    const { clock, random, sender } = this.#options;
    const outlets = Promise.all(
      config.channels.map(async (settings) => {
        const outlet = new Outlet({
          channel: await openChannel(settings, clock),
          queue: [],
          bodyOf: async (message) => bodyOf(message, message.notifications, sender),
          changed: async () => {},
          timeoutMs: config.timeoutMs,
          clock,
          random,
          log,
        });
        // It ends with its abort alone: it keeps nothing that could fail.
        outlet.run(ending.signal).catch(() => {});
        return { events: settings.events, outlet };
      }),
    );
    this.#open = { config, outlets, ending };
    return outlets;
  }
}

/** What is wrong with the disk is notified at once; anything else passes mostly. */
function alertsOf(fault: Fault, now: number): Alert[] {
  const isDisk = fault.code === "JOURNAL_FULL" || fault.code === "JOURNAL_READ_ONLY";
  return journalFinding(fault).map((finding) => ({
    ...alertOf(finding, now),
    kind: isDisk ? "disk" : "stalled",
    cause: `host:${fault.code}`,
    over: overText(finding, false),
    afterMs: isDisk ? 0 : PATIENCE_MS,
  }));
}
