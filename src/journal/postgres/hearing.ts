/** How sessions on one journal hear of each other's writes: messages on a channel of its schema. */
import type { Clock } from "../../std/clock.ts";
import { CLUSTER_CHANGED, tellOthers } from "./cluster-statements.ts";
import type { Link } from "./link.ts";

/** Others learn about writes at most so often, milliseconds. */
const TELL_MS = 50;

/** The channel of a journal. */
export function channelOf(schema: string): string {
  return `scanferry ${schema}`;
}

export class Hearing {
  readonly #session: string;
  readonly #channel: string;
  readonly #clock: Clock;
  readonly #onClusterChange: () => void;
  #outside = 0;
  #cancel: (() => void) | undefined;
  #outboxEntry: Promise<void> = Promise.resolve();

  constructor(session: string, channel: string, clock: Clock, onClusterChange: () => void) {
    this.#session = session;
    this.#channel = channel;
    this.#clock = clock;
    this.#onClusterChange = onClusterChange;
  }

  /** Goes up when others wrote, or may have. */
  get outside(): number {
    return this.#outside;
  }

  /** Listening began, or began again: what was said before is not known. */
  began(): void {
    this.#outside++;
    this.#onClusterChange();
  }

  /** A message of the channel, made by `payload`; those of this session itself count for nothing. */
  heard(payload: string): void {
    const [session, what] = payload.split(" ");
    if (session === this.#session) return;
    this.#outside++;
    if (what === CLUSTER_CHANGED) this.#onClusterChange();
  }

  /**
   * Tells the others before long that something was written. Outside the transaction that wrote it:
   * those that notify commit one after another.
   */
  tell(link: Link): void {
    this.#cancel ??= this.#clock.alarm(TELL_MS, () => this.#tellNow(link));
  }

  /** What is to be told, is; one who does not hear of it looks by himself in a while. */
  async end(link: Link): Promise<void> {
    if (this.#cancel) {
      this.#cancel();
      this.#tellNow(link);
    }
    await this.#outboxEntry;
  }

  #tellNow(link: Link): void {
    this.#cancel = undefined;
    this.#outboxEntry = link
      .connection()
      .then(({ query }) => tellOthers(query, this.#channel, this.#session))
      .catch(() => undefined);
  }
}
