/** How far the uploads of this daemon are, and how fast documents leave: in memory, for people who watch. */
import type { Document } from "../domain/document.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { Clock } from "../std/clock.ts";
import { Listeners } from "../std/wakeup.ts";
import type { UploadWatch } from "../sync/context.ts";

/** One upload: bytes that were handed over, of all. */
export type UploadProgress = {
  /** Of the document's row. */
  readonly id: number;
  readonly sentBytes: number;
  readonly sizeBytes: number;
};

/** All uploads at one moment; the rates are those of the last minute. */
export type UploadsProgress = {
  readonly uploads: readonly UploadProgress[];
  readonly bytesPerSecond: number;
  readonly documentsPerSecond: number;
};

const WINDOW_MS = 60_000;
/** A rate of less time than this says little. */
const WINDOW_MS_MIN = 1_000;
const SECOND_MS = 1_000;

type Second = { readonly at: number; bytes: number; documents: number };

export class UploadMeter implements UploadWatch {
  /** Notified when an upload begins, moves or ends. */
  readonly changed = new Listeners();
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #uploads = new Map<number, UploadProgress>();
  /** The seconds of the last minute in which something left, oldest first. */
  #seconds: Second[] = [];
  /** Since when something has been under way without a pause of a minute. */
  #since = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  async during(
    { id, seen: { sizeBytes } }: Pick<Document, "id" | "seen">,
    send: () => Promise<Outcome>,
  ): Promise<Outcome> {
    if (this.#recent().length === 0 && this.#uploads.size === 0) this.#since = this.#now;
    this.#set({ id, sizeBytes, sentBytes: 0 });
    try {
      const outcome = await send();
      if (outcome.kind === "accepted") {
        this.sent(id, sizeBytes);
        this.#second().documents += 1;
      }
      return outcome;
    } finally {
      this.#uploads.delete(id);
      this.changed.tell();
    }
  }

  sent(id: number, sentBytes: number): void {
    const upload = this.#uploads.get(id);
    if (!upload) return;
    this.#second().bytes += Math.max(0, sentBytes - upload.sentBytes);
    this.#set({ ...upload, sentBytes });
  }

  read(): UploadsProgress {
    const seconds = this.#recent();
    const spanMs = Math.min(WINDOW_MS, Math.max(WINDOW_MS_MIN, this.#now - this.#since));
    const rate = (what: "bytes" | "documents") =>
      (seconds.reduce((sum, second) => sum + second[what], 0) * SECOND_MS) / spanMs;
    return {
      uploads: [...this.#uploads.values()],
      bytesPerSecond: rate("bytes"),
      documentsPerSecond: rate("documents"),
    };
  }

  get #now(): number {
    return this.#clock.monotonic();
  }

  #set(upload: UploadProgress): void {
    this.#uploads.set(upload.id, upload);
    this.changed.tell();
  }

  #recent(): Second[] {
    const from = this.#now - WINDOW_MS;
    if ((this.#seconds[0]?.at ?? from) < from)
      this.#seconds = this.#seconds.filter(({ at }) => at >= from);
    return this.#seconds;
  }

  #second(): Second {
    const seconds = this.#recent();
    const last = seconds.at(-1);
    if (last && this.#now - last.at < SECOND_MS) return last;
    const second = { at: this.#now, bytes: 0, documents: 0 };
    seconds.push(second);
    return second;
  }
}
