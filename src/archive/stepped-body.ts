import type { Allowance, Fence } from "./archive.ts";
import { ArchiveError, timeOver } from "./archive-error.ts";
import type { RequestBody } from "./exchange.ts";

/** What goes last, without which a request has no end; shorter than any closing boundary. */
const END_BYTES = 16;

/**
 * What goes before it on its own. Where these had to wait for room in the kernel there is much of it
 * afterwards, so that the end does not lie about in this process, from where a later moment could
 * send it.
 */
const BEFORE_END_BYTES = 1_024;

/** The same body in pieces, of which each leaves only once `allowance` lets it. */
export function pacedBody(body: RequestBody, allowance: Allowance): RequestBody {
  const { pieceBytes } = allowance;
  return new SteppedBody(body, {
    cuts: (from, to) => {
      const pieces = Math.ceil((to - from) / pieceBytes);
      return Array.from({ length: pieces - 1 }, (_, at) => from + (at + 1) * pieceBytes);
    },
    allow: (bytes) => allowance.take(bytes),
  });
}

/**
 * The same body in pieces, before each of which it is looked at once more whether there is time: most
 * of all before the last few bytes. Needs a line that hands over one piece after another
 * (`ArchiveSettings.stepwise`).
 */
export function fencedBody(body: RequestBody, fence: Fence): RequestBody {
  return new SteppedBody(body, {
    cuts: (from, to) =>
      [body.length - BEFORE_END_BYTES, body.length - END_BYTES].filter((c) => c > from && c < to),
    allow: () => {
      if (fence.leftMs <= 0) throw timeOver("while the request was being sent");
    },
  });
}

type Steps = {
  /** Where a chunk is cut that goes from one place of the request to another. */
  cuts(from: number, to: number): readonly number[];
  /** Resolves once the next piece may leave. An `ArchiveError` it throws is how the request ends. */
  allow(bytes: number): Promise<void> | void;
};

/**
 * The same body in pieces. Its end leaves with the last piece and not before: torn down until then, a
 * request is proven not to have been sent.
 */
class SteppedBody implements RequestBody {
  ended = false;
  readonly #body: RequestBody;
  readonly #steps: Steps;
  #held = false;
  #closed = false;
  #failure: RequestBody["failure"];

  constructor(body: RequestBody, steps: Steps) {
    this.#body = body;
    this.#steps = steps;
  }

  get length(): number {
    return this.#body.length;
  }

  get waiting(): boolean {
    return this.#body.waiting;
  }

  get held(): boolean {
    return this.#held || this.#body.held;
  }

  get failure(): RequestBody["failure"] {
    return this.#failure ?? this.#body.failure;
  }

  get content(): AsyncIterable<Buffer> {
    return this.#send();
  }

  close(): void {
    this.#closed = true;
    this.#body.close();
  }

  async *#send(): AsyncGenerator<Buffer> {
    const { content } = this.#body;
    let sent = 0;
    for await (const chunk of Buffer.isBuffer(content) ? [content] : content) {
      for (const piece of this.#pieces(chunk, sent)) {
        await this.#allowed(piece.length);
        sent += piece.length;
        if (sent >= this.length) this.ended = true;
        yield piece;
      }
    }
  }

  /** Copies what is cut: a chunk may be overwritten while small pieces of it wait to be written. */
  *#pieces(chunk: Buffer, from: number): Generator<Buffer> {
    const to = from + chunk.length;
    const cuts = this.#steps.cuts(from, to);
    if (cuts.length === 0) return yield chunk;
    let at = from;
    for (const cut of [...cuts, to]) {
      yield Buffer.from(chunk.subarray(at - from, cut - from));
      at = cut;
    }
  }

  async #allowed(bytes: number): Promise<void> {
    this.#held = true;
    try {
      await this.#steps.allow(bytes);
    } catch (error) {
      if (error instanceof ArchiveError) this.#failure = { error };
      throw error;
    }
    this.#held = false;
    if (this.#closed) throw new Error("the request is over");
  }
}
