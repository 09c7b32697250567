import { randomUUID } from "node:crypto";
import FormData from "form-data";
import type { UploadFile } from "./archive.ts";
import { ArchiveError } from "./archive-error.ts";
import type { RequestField } from "./credentials.ts";
import type { RequestBody } from "./exchange.ts";

/**
 * Up to here a request is one Buffer, which is the fastest; beyond, it goes out in slices, so that
 * a slow line shows as progress and not as a timeout, and a reply that comes before the end shows.
 */
const WHOLE_BYTES_MAX = 512 * 1024;

/** Slices of `bytes`: large enough that undici waits for each to reach the kernel. */
const SLICE_BYTES = 256 * 1024;

/** The request body of an upload. Throws FILE_CHANGED when `bytes` are not `sizeBytes` long. */
export function uploadBody(frame: Frame, file: UploadFile): RequestBody {
  const { head, tail } = frame;
  if (!("bytes" in file)) return new StreamedBody(frame, file.sizeBytes, file.chunks);
  if (file.bytes.length !== file.sizeBytes) throw fileChanged(file.sizeBytes, file.bytes.length);
  if (file.sizeBytes > WHOLE_BYTES_MAX) {
    return new StreamedBody(frame, file.sizeBytes, () => slices(file.bytes));
  }
  return wholeBody(Buffer.concat([head, file.bytes, tail]));
}

/** A body that is handed over at once: its end leaves with its beginning. */
export function wholeBody(content: Buffer): RequestBody {
  return {
    content,
    length: content.length,
    ended: true,
    waiting: false,
    held: false,
    failure: undefined,
    close: () => {},
  };
}

async function* slices(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES);
}

function fileChanged(expected: number, found: number): ArchiveError {
  const what = found > expected ? `more than ${expected}` : `${found} of ${expected}`;
  return new ArchiveError("notSent", "FILE_CHANGED", `the file gave ${what} bytes`);
}

/**
 * A body that is made while it is sent, in constant memory. Its closing boundary is handed over
 * only after the file was read to its end and had the right length: when the file throws, or is
 * shorter or longer than it was said to be, the request is torn down without an end.
 */
class StreamedBody implements RequestBody {
  readonly length: number;
  ended = false;
  waiting = false;
  readonly held = false;
  failure: { error: unknown } | undefined;
  readonly #frame: Frame;
  readonly #sizeBytes: number;
  readonly #chunks: () => AsyncIterable<Buffer>;
  #iterator: AsyncIterator<Buffer> | undefined;
  #closed = false;

  constructor(frame: Frame, sizeBytes: number, chunks: () => AsyncIterable<Buffer>) {
    this.length = frame.head.length + sizeBytes + frame.tail.length;
    this.#frame = frame;
    this.#sizeBytes = sizeBytes;
    this.#chunks = chunks;
  }

  get content(): AsyncIterable<Buffer> {
    return this.#send();
  }

  close(): void {
    this.#closed = true;
    // Not awaited: a file on a dead share may never answer. What closing throws changes nothing
    // about the request.
    this.#iterator?.return?.().catch(() => {});
  }

  async *#send(): AsyncGenerator<Buffer> {
    yield this.#frame.head;
    try {
      yield* this.#file();
    } catch (error) {
      this.failure ??= { error };
      throw error;
    }
    this.ended = true;
    yield this.#frame.tail;
  }

  async *#file(): AsyncGenerator<Buffer> {
    const iterator = this.#chunks()[Symbol.asyncIterator]();
    this.#iterator = iterator;
    let sent = 0;
    for (;;) {
      this.waiting = true;
      const step = await iterator.next();
      this.waiting = false;
      // A file that answers after its request is over must not get an end sent.
      if (this.#closed) throw new Error("the request is over");
      if (step.done) break;
      sent += step.value.length;
      if (sent > this.#sizeBytes) throw fileChanged(this.#sizeBytes, sent);
      if (step.value.length > 0) yield step.value;
    }
    if (sent < this.#sizeBytes) throw fileChanged(this.#sizeBytes, sent);
  }
}

/** A multipart body around a file: what comes before its bytes and what comes after. */
export type Frame = {
  head: Buffer;
  /** The closing boundary. Until it has left, the request has no end. */
  tail: Buffer;
  contentType: string;
};

/**
 * Renders the frame: a named part per field, then the part `file`, the last (endpoint 7). The
 * boundary is random (122 bits), so no value can hold it, and values need no escaping; in headers
 * quotes and line ends are escaped by form-data.
 */
export function frameOf(fields: readonly RequestField[], filename: string): Frame {
  const form = new FormData();
  // Its own asks for random bytes each time, which takes a quarter of the time of a frame.
  form.setBoundary(randomUUID());
  for (const [name, value] of fields) form.append(name, value);
  // Strict parsers refuse control characters in a part's header. The part `filename` has the true
  // name, so nothing is lost.
  form.append("file", Buffer.alloc(0), { filename: filename.replace(/\p{Cc}/gu, "_") });
  const whole = form.getBuffer();
  const tailLength = Buffer.byteLength(`\r\n--${form.getBoundary()}--\r\n`);
  return {
    head: whole.subarray(0, whole.length - tailLength),
    tail: whole.subarray(whole.length - tailLength),
    contentType: `multipart/form-data; boundary=${form.getBoundary()}`,
  };
}

/** Content type of every request but upload (the interface's conventions, 1). */
export const FORM_TYPE = "application/x-www-form-urlencoded; charset=UTF-8";

/**
 * The fields as an url-encoded body. Everything but letters, digits and `-_.~` is percent-encoded,
 * a space too: `sig` must be percent-encoded (Authentication 2), and every decoder of forms takes
 * `%20`. Values must be well-formed.
 */
export function formBody(fields: readonly RequestField[]): Buffer {
  return Buffer.from(
    fields.map(([name, value]) => `${percent(name)}=${percent(value)}`).join("&"),
    "latin1",
  );
}

function percent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
