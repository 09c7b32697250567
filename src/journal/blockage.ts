/**
 * What keeps a journal's file from being used for a while: another process's lock, or a disk without
 * room. Says how long that is waited for, and tells a daemon when it lasts.
 */
import type { Clock } from "../std/clock.ts";
import { Fault } from "../std/fault.ts";
import type { ClusterChange } from "./cluster.ts";
import { fullFault } from "./journal-fault.ts";
import { roomOf } from "./room.ts";

/** How long an opening of the journal waits. */
export type BlockageOptions = {
  /** The disk has to have room; absent: SQLite is asked. */
  readonly needsRoom?: boolean;
  /** Waits for everything until this has been aborted for `lastMs`; absent: for a lock, a minute. */
  readonly patience?: { readonly signal: AbortSignal; readonly lastMs?: number } | undefined;
  /** Told when it lasts, and when it is over. Must not throw. */
  readonly tell?: (change: ClusterChange) => void;
};

/** A command waits so long for another process's lock, milliseconds. */
const LOCK_MS_MAX = 60_000;
/** Others lock the journal for moments: nothing learns about less, milliseconds. */
const TOLD_MS = 1_000;
/** A disk with that much room, bytes, is not full within so many milliseconds. */
const AMPLE_BYTES = 2_000_000_000;
const AMPLE_MS = 50;
/** Between two tries, milliseconds: from the one, doubling, to the other. */
const PAUSE_MS_MIN = 5;
const PAUSE_MS_MAX = 250;

export class Blockage {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #options: BlockageOptions;
  /** By the monotonic clock; undefined: nothing is in the way. */
  #since: number | undefined;
  #tries = 0;
  #told = false;
  /** Until then the disk has room, by the monotonic clock. */
  #roomyUntil = 0;
  /** When a wait was first asked for after `patience` had aborted. */
  #endingSince: number | undefined;

  constructor(path: string, clock: Clock, options: BlockageOptions) {
    this.#path = path;
    this.#clock = clock;
    this.#options = options;
  }

  /** How long to wait before the next try, milliseconds. */
  get pauseMs(): number {
    return Math.min(PAUSE_MS_MIN * 2 ** Math.min(this.#tries, 10), PAUSE_MS_MAX);
  }

  /** The fault of a disk without room, where that matters. */
  full(): Fault | undefined {
    if (this.#options.needsRoom !== true) return undefined;
    const now = this.#clock.monotonic();
    if (now < this.#roomyUntil) return undefined;
    if ((roomOf(this.#path) ?? 0) >= AMPLE_BYTES) this.#roomyUntil = now + AMPLE_MS;
    return fullFault(this.#path);
  }

  /** Whether `error`, which was just met, is to be waited for. */
  waitsFor(error: unknown): boolean {
    if (!isWaited(error) || !this.#isPatient(error)) {
      this.over();
      return false;
    }
    this.#tries += 1;
    this.#since ??= this.#clock.monotonic();
    if (!this.#told && this.#lastedMs() >= (error.code === "JOURNAL_BUSY" ? TOLD_MS : 0)) {
      this.#told = true;
      this.#options.tell?.({ type: "away", why: error.message, fault: error });
    }
    return true;
  }

  /** Nothing is in the way any more. */
  over(): void {
    this.#since = undefined;
    this.#tries = 0;
    if (this.#told) this.#options.tell?.({ type: "back" });
    this.#told = false;
  }

  #lastedMs(): number {
    return this.#clock.monotonic() - (this.#since ?? this.#clock.monotonic());
  }

  #isPatient({ code }: Fault): boolean {
    const { patience } = this.#options;
    if (!patience) return code === "JOURNAL_BUSY" && this.#lastedMs() < LOCK_MS_MAX;
    if (!patience.signal.aborted) return true;
    this.#endingSince ??= this.#clock.monotonic();
    return this.#clock.monotonic() - this.#endingSince < (patience.lastMs ?? 0);
  }
}

/** What passes for this very connection: another disk, or another file, takes another one. */
function isWaited(error: unknown): error is Fault {
  return error instanceof Fault && (error.code === "JOURNAL_BUSY" || error.code === "JOURNAL_FULL");
}
