import type { Fence } from "./archive.ts";
import { ArchiveError } from "./archive-error.ts";

/** What goes last, without which a request has no end; shorter than any closing boundary. */
const END_BYTES = 16;

/**
 * What goes before it on its own. Where these had to wait for room in the kernel there is much of it
 * afterwards, so that the end does not lie about in this process, from where a later moment could
 * send it.
 */
const BEFORE_END_BYTES = 1_024;

/**
 * The same body in pieces, before each of which it is looked at once more whether there is time: most
 * of all before the last few bytes. Torn down before those, a request is proven not to have been
 * sent. Needs a line that hands over one piece after another (`ArchiveSettings.stepwise`).
 */
export function fencedBody(body: RequestBody, fence: Fence): RequestBody {
  return new FencedBody(body, fence);
}

/** The time to send is over, and the request has no end. */
export function timeOver(during: string): ArchiveError {
  const message = `another daemon may take over: given up ${during}`;
  return new ArchiveError("notSent", "LEASE_OVER", message);
}

class FencedBody implements RequestBody {
  ended = false;
  readonly #body: RequestBody;
  readonly #fence: Fence;
  #failure: RequestBody["failure"];

  constructor(body: RequestBody, fence: Fence) {
    this.#body = body;
    this.#fence = fence;
  }

  get length(): number {
    return this.#body.length;
  }

  get waiting(): boolean {
    return this.#body.waiting;
  }

  get held(): boolean {
    return this.#body.held;
  }

  get failure(): RequestBody["failure"] {
    return this.#failure ?? this.#body.failure;
  }

  get content(): AsyncIterable<Buffer> {
    return this.#send();
  }

  close(): void {
    this.#body.close();
  }

  async *#send(): AsyncGenerator<Buffer> {
    const { content } = this.#body;
    let sent = 0;
    for await (const chunk of Buffer.isBuffer(content) ? [content] : content) {
      for (const piece of this.#pieces(chunk, sent)) {
        sent += piece.length;
        this.#assertTime();
        if (sent >= this.length) this.ended = true;
        yield piece;
      }
    }
  }

  /** Copies what is cut: a chunk may be overwritten while small pieces of it wait to be written. */
  *#pieces(chunk: Buffer, from: number): Generator<Buffer> {
    const to = from + chunk.length;
    const cuts = [this.length - BEFORE_END_BYTES, this.length - END_BYTES].filter(
      (cut) => cut > from && cut < to,
    );
    let at = from;
    for (const cut of [...cuts, to]) {
      const piece = chunk.subarray(at - from, cut - from);
      yield at === from ? piece : Buffer.from(piece);
      at = cut;
    }
  }

  #assertTime(): void {
    if (this.#fence.leftMs > 0) return;
    const error = timeOver("while the request was being sent");
    this.#failure = { error };
    throw error;
  }
}

/** What is sent, and how far that has come. */
export interface RequestBody {
  readonly content: Buffer | AsyncIterable<Buffer>;
  readonly length: number;
  /** The request's last bytes were handed over, so they may have left. */
  readonly ended: boolean;
  /** Just now the file is awaited, not the network. */
  readonly waiting: boolean;
  /** Just now we hold it back ourselves: that is no silence of the network. */
  readonly held: boolean;
  /** The error with which the file itself ended the request. */
  readonly failure: { error: unknown } | undefined;
  /** The request is over: lets go of the file. */
  close(): void;
}
