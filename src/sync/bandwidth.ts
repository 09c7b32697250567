/**
 * The bandwidth of all uploads together. Readers send in processes of their own; each asks here
 * before every piece of a request, and is answered when the piece may leave.
 */
import { Bucket } from "../domain/allowance.ts";
import type { Clock } from "../std/clock.ts";

/** Pieces of this much time: smooth, and few enough questions. */
const PIECES_PER_SECOND = 20;
const PIECE_BYTES_MIN = 1_024;
/** As much as is sent at once without a limit. */
const PIECE_BYTES_MAX = 256 * 1_024;

/** How large the pieces of a request are at this rate; null without one: nothing is asked for. */
export function pieceBytesAt(bytesPerSecond: number | undefined): number | null {
  if (bytesPerSecond === undefined) return null;
  const bytes = Math.floor(bytesPerSecond / PIECES_PER_SECOND);
  return Math.min(PIECE_BYTES_MAX, Math.max(PIECE_BYTES_MIN, bytes));
}

export class Bandwidth {
  readonly #bucket: Bucket | undefined;
  readonly #clock: Clock;

  constructor(bytesPerSecond: number | undefined, clock: Clock) {
    this.#bucket = bytesPerSecond === undefined ? undefined : new Bucket(bytesPerSecond);
    this.#clock = clock;
  }

  /** Resolves when `bytes` may leave; rejects when `signal` aborts. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    const waitMs = this.#bucket?.reserve(bytes, this.#clock.monotonic()) ?? 0;
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
  }
}
