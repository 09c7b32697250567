/**
 * Whether the loops still turn. A loop's heart beats when it comes round to its wake-up, which an idle
 * one does every half minute, and whenever a document that it is to move on moves. One that does
 * neither for longer than its longest honest step can take is stuck: nothing in the process will
 * fix that, a restart will.
 *
 * A loop whose reader is down is not stuck: it waits, for days while a share is dead, and readers are
 * watched over on their own. Scan schedulers do little else, so they are not among them at all.
 */
import type { State } from "../domain/document.ts";
import type { Applied } from "../journal/journal.ts";
import { Wakeup } from "../std/wakeup.ts";
import type { Clock } from "../std/clock.ts";

/** What a loop serves. */
export type Service = "sending" | "doubts" | "polling" | "held" | "after" | `settling:${number}`;

/**
 * Between two beats a loop may read a whole folder tree or a long list of documents, page by page,
 * each page within `archive.timeout`. A guess: half an hour, ten times the timeout where that is more.
 */
const ASKING_MS = 30 * 60_000;
const ASKING_TIMEOUTS = 10;

/** Or read a single huge file from a slow share: 20 GB at 1 MB/s. A guess as well. */
const READING_MS = 6 * 3_600_000;

/** The loop that moves a document on, by the state the document is in. */
const SERVES: Readonly<Partial<Record<State, Service>>> = {
  pending: "sending",
  uploading: "sending",
  inDoubt: "doubts",
  uploaded: "polling",
  held: "held",
};

type Heart = {
  readonly service: Service;
  readonly patienceMs: number;
  readonly isWaiting: () => boolean;
  beatAt: number;
};

export class Heartbeats {
  readonly #clock: Clock;
  readonly #askingMs: number;
  readonly #hearts: Heart[] = [];

  /** `timeoutMs` is `archive.timeout`. */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#askingMs = Math.max(ASKING_MS, ASKING_TIMEOUTS * timeoutMs);
  }

  /**
   * A wake-up for one loop of this service: waiting at it is what makes the loop's heart beat. While it
   * `isWaiting` for something that is watched over on its own, its patience begins again.
   */
  wakeup(service: Service, isWaiting = () => false): Wakeup {
    const reads = service === "after" || service.startsWith("settling:");
    const patienceMs = reads ? READING_MS : this.#askingMs;
    const heart: Heart = {
      service,
      patienceMs,
      isWaiting,
      beatAt: this.#clock.monotonic(),
    };
    this.#hearts.push(heart);
    return new BeatingWakeup(() => this.#beat(heart));
  }

  /** What was journaled is the work of a loop. */
  journaled(applied: readonly Applied[]): void {
    const services = new Set(applied.map(serviceOf));
    for (const heart of this.#hearts) if (services.has(heart.service)) this.#beat(heart);
  }

  /** All hearts begin again. */
  rest(): void {
    for (const heart of this.#hearts) this.#beat(heart);
  }

  /** Says which loop is stuck, and for how long; undefined while all are well. Asked every few seconds. */
  stuck(): string | undefined {
    for (const heart of this.#hearts) if (heart.isWaiting()) this.#beat(heart);
    const now = this.#clock.monotonic();
    const heart = this.#hearts.find(({ beatAt, patienceMs }) => now - beatAt > patienceMs);
    if (!heart) return undefined;
    const minutes = Math.floor((now - heart.beatAt) / 60_000);
    return `the loop "${heart.service}" has not turned for ${minutes} minutes`;
  }

  #beat(heart: Heart): void {
    heart.beatAt = this.#clock.monotonic();
  }
}

function serviceOf({ change, document, from, skipped }: Applied): Service | undefined {
  if (skipped || !document) return undefined;
  if (change.type === "note") return "after";
  if (from === "settling") return `settling:${document.mirrorId}`;
  return from && SERVES[from];
}

class BeatingWakeup extends Wakeup {
  readonly #beat: () => void;

  constructor(beat: () => void) {
    super();
    this.#beat = beat;
  }

  override wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    this.#beat();
    return super.wait(ms, clock, signal);
  }
}
