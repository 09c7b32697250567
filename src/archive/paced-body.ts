import type { Allowance } from "./archive.ts";
import type { RequestBody } from "./fenced-body.ts";

/**
 * The same body in pieces, of which each leaves only once `allowance` lets it. Its end leaves with the
 * last piece and not before: torn down until then, it is proven not to have been sent.
 */
export function pacedBody(body: RequestBody, allowance: Allowance): RequestBody {
  return new PacedBody(body, allowance);
}

class PacedBody implements RequestBody {
  ended = false;
  held = false;
  readonly #body: RequestBody;
  readonly #allowance: Allowance;
  #closed = false;

  constructor(body: RequestBody, allowance: Allowance) {
    this.#body = body;
    this.#allowance = allowance;
  }

  get length(): number {
    return this.#body.length;
  }

  get waiting(): boolean {
    return this.#body.waiting;
  }

  get failure(): RequestBody["failure"] {
    return this.#body.failure;
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
      for (const piece of this.#pieces(chunk)) {
        await this.#allowed(piece.length);
        sent += piece.length;
        if (sent >= this.length) this.ended = true;
        yield piece;
      }
    }
  }

  /** Copies, where a chunk is cut: it may be overwritten while small pieces of it wait to be written. */
  *#pieces(chunk: Buffer): Generator<Buffer> {
    const { pieceBytes } = this.#allowance;
    if (chunk.length <= pieceBytes) {
      yield chunk;
      return;
    }
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      yield Buffer.from(chunk.subarray(at, at + pieceBytes));
    }
  }

  async #allowed(bytes: number): Promise<void> {
    this.held = true;
    await this.#allowance.take(bytes);
    this.held = false;
    if (this.#closed) throw new Error("the request is over");
  }
}
