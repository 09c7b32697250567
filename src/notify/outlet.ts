/**
 * What goes out through one channel: one message after another, each until it is taken. A channel
 * that fails delays nobody: its queue is bounded, a try is cut short, and it is tried ever more rarely.
 * Nor does a message that its receiver will never take keep those behind it waiting for long.
 */
import { backoffMs } from "../domain/backoff.ts";
import { unlessAborted } from "../std/abort.ts";
import { Wakeup } from "../std/wakeup.ts";
import type { Clock, Random } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import type { Channel } from "./channel.ts";
import type { Message, MessageBody } from "./message.ts";

/** What one channel did since the start. */
export type ChannelReport = {
  readonly name: string;
  readonly sent: number;
  /** Tries that failed. */
  readonly failed: number;
  /** Messages that were given up. */
  readonly dropped: number;
  readonly waiting: number;
};

/** `queue` is what the last run left; a single try may take `timeoutMs`. */
export type OutletOptions = {
  readonly channel: Channel;
  readonly queue: readonly Message[];
  /** Makes what is sent of a message; undefined: there is nothing to tell any more. */
  readonly bodyOf: (message: Message) => Promise<MessageBody | undefined>;
  /** The queue has changed: keeps it. */
  readonly changed: (queue: readonly Message[]) => Promise<void>;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

/** More than a channel could tell in a day of outage; the oldest go first. */
export const QUEUE_MAX = 50;

/** Nobody is helped by a message that is older than this. */
const GIVE_UP_MS = 24 * 3_600_000;

/** Within a quarter of an hour. What failed so often may be refused for what it says: others go first. */
const TRIES_FIRST = 5;

const RETRY = { initialMs: 30_000, maxMs: 30 * 60_000 };

export class Outlet {
  readonly #options: OutletOptions;
  readonly #wakeup = new Wakeup();
  #queue: readonly Message[];
  /** How often each that waits has failed. */
  readonly #failures = new WeakMap<Message, number>();
  #tries = 0;
  #sent = 0;
  #failed = 0;
  #dropped = 0;

  constructor(options: OutletOptions) {
    this.#options = options;
    this.#queue = options.queue;
  }

  get report(): ChannelReport {
    const { name } = this.#options.channel;
    const counts = { sent: this.#sent, failed: this.#failed, dropped: this.#dropped };
    return { name, ...counts, waiting: this.#queue.length };
  }

  /** What waits, oldest first; what is being tried is the first of them. */
  get queue(): readonly Message[] {
    return this.#queue;
  }

  /** Takes a message; anyone who calls this keeps the queue. */
  add(message: Message): void {
    const queue = [...this.#queue, message];
    this.#drop(Math.max(0, queue.length - QUEUE_MAX), "too many wait");
    this.#queue = queue.slice(-QUEUE_MAX);
    this.#wakeup.notify();
  }

  /** Never returns; ends with `stopping`'s abort, or with a failure of the journal. */
  async run(stopping: AbortSignal): Promise<never> {
    const { clock, random } = this.#options;
    for (;;) {
      const message = this.#next();
      if (!message) {
        await this.#wakeup.wait(GIVE_UP_MS, clock, stopping);
        continue;
      }
      const reason = await this.#try(message, stopping);
      if (reason === undefined) {
        this.#tries = 0;
        this.#reconsider();
        await this.#done(message);
        continue;
      }
      this.#tries += 1;
      this.#failed += 1;
      this.#failures.set(message, this.#failuresOf(message) + 1);
      if (clock.now() - message.at > GIVE_UP_MS) {
        this.#drop(1, reason);
        await this.#done(message);
      }
      await clock.sleep(backoffMs(RETRY, this.#tries, random), stopping);
    }
  }

  /** The oldest that did not fail often; else the one that failed least. */
  #next(): Message | undefined {
    const late = (message: Message) => Math.max(TRIES_FIRST - 1, this.#failuresOf(message));
    return this.#queue.toSorted((a, b) => late(a) - late(b))[0];
  }

  #failuresOf(message: Message): number {
    return this.#failures.get(message) ?? 0;
  }

  /** The channel works: whatever was passed over is tried once more before what came after it. */
  #reconsider(): void {
    for (const message of this.#queue) {
      this.#failures.set(message, Math.min(TRIES_FIRST - 1, this.#failuresOf(message)));
    }
  }

  /** Why it did not go out; undefined when it did. */
  async #try(message: Message, stopping: AbortSignal): Promise<string | undefined> {
    const { channel, bodyOf, log, clock, timeoutMs } = this.#options;
    const body = await bodyOf(message);
    if (!body) return undefined;
    const { name } = channel;
    try {
      const remark = await sendWithin(channel, body, timeoutMs, clock, stopping);
      if (remark !== undefined)
        log.warn({ channel: name, remark }, "some recipients did not get the notification");
    } catch (error) {
      stopping.throwIfAborted();
      const reason = messageOf(error);
      const context = { channel: name, reason };
      if (this.#tries === 0)
        log.warn(context, "cannot send notifications by this channel; trying again");
      return reason;
    }
    this.#sent += 1;
    if (this.#tries > 0) log.info({ channel: name }, "the channel works again");
    return undefined;
  }

  async #done(message: Message): Promise<void> {
    this.#queue = this.#queue.filter(({ id }) => id !== message.id);
    await this.#options.changed(this.#queue);
  }

  #drop(messages: number, reason: string): void {
    if (messages === 0) return;
    this.#dropped += messages;
    const { channel, log } = this.#options;
    log.error(
      { channel: channel.name, messages, reason },
      "notifications dropped: the channel did not work for too long",
    );
  }
}

/** Sends once, as `Channel.send` does; rejects after `timeoutMs`, whatever the channel does. */
export async function sendWithin(
  channel: Channel,
  body: MessageBody,
  timeoutMs: number,
  clock: Clock,
  stopping: AbortSignal,
): Promise<string | undefined> {
  const over = new AbortController();
  const tooLong = new Error(`did not finish within ${timeoutMs / 1_000} s (\`notify.timeout\`)`);
  const cancel = clock.alarm(timeoutMs, () => over.abort(tooLong));
  const signal = AbortSignal.any([stopping, over.signal]);
  const sending = channel.send(body, signal);
  // One that does not heed its signal ends later, unheard.
  sending.catch(() => {});
  try {
    return await unlessAborted(sending, signal);
  } finally {
    cancel();
  }
}
