import type { NotifyConfig } from "../config/notify-section.ts";
import type { Applied, Batches, Journal, Registry } from "../journal/journal.ts";
import { USAGE_BUCKET_MS } from "../journal/usage-bucket.ts";
import type { Clock, Random } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { openChannel } from "./channel.ts";
import { ClosedBatches } from "./closed-batches.ts";
import { decide, noteDown, policyOf } from "./decide.ts";
import {
  bodyOf,
  type ChannelNotification,
  digestOf,
  type Message,
  type MessageBody,
  type MessageOrigin,
  receiptOf,
} from "./message.ts";
import { type ChannelReport, Outlet } from "./outlet.ts";
import { absentIn, alertsOf, type Sight } from "./alerts.ts";
import { type Memory, NOTHING_TOLD, type Notice, type Notification } from "./alert.ts";

/**
 * Tells people what goes on: looks every few seconds at what is wrong, decides what of it is news,
 * keeps that in the journal, and hands it to the channels. Nobody waits for any of this.
 */

/** Where `sight` rejects, that is logged once, and it is asked again at the next look. */
export type NotifyOptions = {
  readonly config: NotifyConfig;
  readonly journal: Journal;
  readonly sight: () => Promise<Sight>;
  readonly sender: MessageOrigin;
  /** A batch that nothing joined for this long is closed. */
  readonly batchQuietMs: number;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Opens a channel; the real ones unless a test brings others. */
  readonly open?: typeof openChannel;
  /** How often to look; milliseconds. */
  readonly lookMs?: number;
};

/** How often it is looked at how things are. */
const LOOK_MS = 10_000;

const DAY_MS = 24 * 3_600_000;

/**
 * Once a message has receipts of so many documents it gets no more: what was kept back for a night may
 * be more than any receiver takes, and all that comes after it would wait.
 */
const RECEIPT_LINES_MAX = 2_000;

export class Notify {
  readonly #options: NotifyOptions;
  readonly #keeping: Keeping;
  readonly #outlets: ReadonlyMap<string, Outlet>;
  readonly #batches: ClosedBatches | undefined;
  #happened: Notice[] = [];
  /** Looking failed, and that was logged. */
  #isBlind = false;

  private constructor(
    options: NotifyOptions,
    keeping: Keeping,
    outlets: ReadonlyMap<string, Outlet>,
  ) {
    const { config, journal, clock, batchQuietMs } = options;
    this.#options = options;
    this.#keeping = keeping;
    this.#outlets = outlets;
    const wantsBatches = config.channels.some(({ events }) => events.includes("batch"));
    if (wantsBatches) this.#batches = new ClosedBatches(journal, clock, batchQuietMs);
  }

  /** Takes up what the last run left undelivered. Rejects where the journal or a channel cannot be opened. */
  static async open(options: NotifyOptions): Promise<Notify> {
    const { config, journal, clock, random, log, sender, open: openOne = openChannel } = options;
    const keeping = await Keeping.open(journal);
    const outlets = new Map<string, Outlet>();
    for (const settings of config.channels) {
      const { name } = settings;
      const outlet = new Outlet({
        channel: await openOne(settings, clock),
        queue: keeping.now.queues[name] ?? [],
        bodyOf: (message) => renderedOf(message, journal, sender),
        changed: (queue) => keeping.change({ queues: { ...keeping.now.queues, [name]: queue } }),
        timeoutMs: config.timeoutMs,
        clock,
        random,
        log,
      });
      outlets.set(name, outlet);
    }
    return new Notify(options, keeping, outlets);
  }

  get reports(): ChannelReport[] {
    return [...this.#outlets.values()].map(({ report }) => report);
  }

  /** Something happened that is not seen by looking. */
  happened(notice: Notice): void {
    this.#happened.push(notice);
  }

  /** What was journaled may have closed a batch. */
  journaled(applied: readonly Applied[]): void {
    if (!this.#batches) return;
    for (const { document, from, skipped } of applied) {
      if (skipped || document?.state !== "converted" || from === "converted") continue;
      if (document.batch !== null) this.#batches.converted(document.batch);
    }
  }

  /** Until `stopping` aborts. Nothing of it ends the daemon. */
  async run(stopping: AbortSignal): Promise<void> {
    const loops = [...this.#outlets.values()].map((outlet) => outlet.run(stopping));
    const outcomes = await Promise.allSettled([this.#watch(stopping), ...loops]);
    for (const outcome of outcomes) {
      // At the end a journal that is away is waited for no longer.
      if (outcome.status === "fulfilled" || stopping.aborted) continue;
      this.#options.log.error(
        { reason: messageOf(outcome.reason) },
        "notifications stopped after an error; restart scanferry",
      );
    }
  }

  /** Makes the digest of what happened since the last one, and tells it. */
  async digest(): Promise<void> {
    const { journal, clock, sight } = this.#options;
    // Whole usage buckets only: what is in none of this digest is in the next one.
    const to = quarterOf(clock.now());
    const from = this.#keeping.now.digestAt ?? to - DAY_MS;
    const { report, findings } = await sight();
    const names = new Map((await journal.mirrors()).map(({ id, name }) => [id, name]));
    const notification = digestOf({
      from,
      to,
      usageBuckets: await journal.usageBuckets(from, to),
      nameOf: (id) => names.get(id) ?? "",
      documents: report.documents,
      findings,
    });
    await this.#tell([notification], { digestAt: to });
  }

  async #watch(stopping: AbortSignal): Promise<never> {
    const { clock, log, lookMs = LOOK_MS } = this.#options;
    for (;;) {
      try {
        await this.#look();
        this.#isBlind = false;
      } catch (error) {
        // A journal that fails ends the daemon on its own.
        if (!this.#isBlind)
          log.error({ reason: messageOf(error) }, "cannot read the status for notifications");
        this.#isBlind = true;
      }
      await clock.sleep(lookMs, stopping);
    }
  }

  async #look(): Promise<void> {
    const { config, clock, sight } = this.#options;
    const seen = await sight();
    const closed = await this.#batches?.look(this.#keeping.now.batches);
    const now = clock.now();
    let memory: Memory = this.#keeping.now.memory;
    const happened = this.#happened;
    this.#happened = [];
    for (const notice of [...happened, ...(closed?.notices ?? [])])
      memory = noteDown(memory, notice, now);
    const found = { alerts: alertsOf(seen, config.heldAfterMs, now), absent: absentIn(seen) };
    const decision = decide(memory, found, policyOf(config, now), now);
    const batches = closed ? { batches: closed.told } : {};
    await this.#tell(decision.notifications, { memory: decision.memory, ...batches });
  }

  /** Queued and remembered in one write: after a crash nothing is missing, and nothing is new. */
  async #tell(
    notifications: readonly Notification[],
    known: Partial<{ memory: Memory; batches: readonly string[]; digestAt: number }>,
  ): Promise<void> {
    const { config, newId, clock } = this.#options;
    const queues: Record<string, readonly Message[]> = {};
    for (const { name, events } of config.channels) {
      const wanted = notifications.filter(({ kind }) => events.includes(kind));
      const outlet = this.#outlets.get(name);
      if (!outlet) continue;
      if (wanted.length > 0) outlet.add({ id: newId(), at: clock.now(), notifications: wanted });
      queues[name] = outlet.queue;
    }
    await this.#keeping.change({ ...known, queues });
  }
}

function quarterOf(at: number): number {
  return Math.floor(at / USAGE_BUCKET_MS) * USAGE_BUCKET_MS;
}

/** The body of a message, with the receipts as they are now, as far as they fit. */
async function renderedOf(
  message: Message,
  journal: Batches & Registry,
  sender: MessageOrigin,
): Promise<MessageBody> {
  const notifications: ChannelNotification[] = [];
  let lines = 0;
  for (const notification of message.notifications) {
    const { batch } = notification;
    const isTold = batch !== undefined && lines < RECEIPT_LINES_MAX;
    const receipt = isTold ? await receiptOf(journal, batch) : undefined;
    lines += receipt?.documents.length ?? 0;
    notifications.push({ ...notification, receipt });
  }
  return bodyOf(message, notifications, sender);
}

/** All that notification has to know after a restart, as which is in the journal under one name. */

/** Stands in the journal as JSON: anyone who changes the shape counts up `SHAPE`. Times are epoch ms. */
export type Kept = {
  readonly memory: Memory;
  /** What waits to go out, by channel, oldest first. */
  readonly queues: Readonly<Record<string, readonly Message[]>>;
  /** Batches that are closed and told about; null: nobody asked for that yet. */
  readonly batches: readonly string[] | null;
  /** When the last digest was made. */
  readonly digestAt: number | null;
};

const KEY = "told";

/** Raised when what is kept changes its shape: what cannot be read is begun again. */
const SHAPE = 1;

const NOTHING: Kept = { memory: NOTHING_TOLD, queues: {}, batches: null, digestAt: null };

class Keeping {
  readonly #journal: Pick<Journal, "keyValue" | "setKeyValue">;
  #kept: Kept;
  #written: string;

  private constructor(journal: Pick<Journal, "keyValue" | "setKeyValue">, written: string) {
    this.#journal = journal;
    this.#written = written;
    this.#kept = keptIn(written);
  }

  /** What was kept in another shape counts as nothing: all that is wrong is sent again. */
  static async open(journal: Pick<Journal, "keyValue" | "setKeyValue">): Promise<Keeping> {
    return new Keeping(journal, (await journal.keyValue(KEY)) ?? "");
  }

  /** As it was changed last, be that durable yet or not. */
  get now(): Kept {
    return this.#kept;
  }

  /** Resolves once it is durable; what does not differ is not written. */
  async change(fields: Partial<Kept>): Promise<void> {
    this.#kept = { ...this.#kept, ...fields };
    const text = JSON.stringify({ shape: SHAPE, ...this.#kept });
    if (text === this.#written) return;
    this.#written = text;
    await this.#journal.setKeyValue(KEY, text);
  }
}

function keptIn(text: string): Kept {
  if (text === "") return NOTHING;
  // Written by `change` alone, in the journal of this very program.
  const { shape, ...kept } = JSON.parse(text) as { shape: number } & Kept;
  return shape === SHAPE ? kept : NOTHING;
}
