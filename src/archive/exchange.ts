import type { Readable } from "node:stream";
import type { Dispatcher, Pool } from "undici";
import type { Clock } from "../std/clock.ts";
import type { Fence } from "./archive.ts";
import { ArchiveError, connectFailure, connectionLost, timeOver } from "./archive-error.ts";

/** One request. */
export type Request = {
  path: string;
  contentType: string;
  body: RequestBody;
  /** A longer reply is not read. */
  replyBytesMax: number;
  /** What is not handed over to its end in this time is given up; without it there is no such time. */
  fence?: Fence;
};

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

/** What came back, unjudged. */
export type Reply = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body, or why there is none to read. */
  body: Buffer | "encoded" | "too big";
  /** The reply came after the whole request had been handed over. */
  afterRequest: boolean;
};

/** Ends a deadline; made once, because an error with its stack is dear to make for every request. */
const OVER = new Error("the request is over");

/** Where requests go and how long they may take. */
export type Transport = {
  pool: Pool;
  host: string;
  /** What the way there asks every request to carry. */
  headers: Readonly<Record<string, string>>;
  clock: Clock;
  timeoutMs: number;
};

/**
 * Sends one request over the line and reads its reply; never sends it twice, never follows a
 * redirect. Rejects with an `ArchiveError` of the kind `notSent` or `inDoubt`, or with what the
 * file threw.
 *
 * Time: until the body is handed over, `timeoutMs` without progress is too long (so a small request
 * has that long in all to get a connection); from then on the whole reply has `timeoutMs`, however
 * it trickles. Small requests and uploads differ in nothing but the number of pieces.
 */
export async function exchange(
  line: Transport,
  request: Request,
  signal: AbortSignal,
): Promise<Reply> {
  const deadline = new Deadline(line.clock, line.timeoutMs);
  const handler = new ExchangeHandler(line.host, request, deadline);
  const over = new AbortController();
  const onAbort = () => handler.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  silence(deadline, request.body, over.signal).then(
    () => handler.timeOut(),
    () => {}, // the request was over first
  );
  if (request.fence) {
    expiry(line.clock, request.fence, over.signal).then(
      () => handler.expire(),
      () => {},
    );
  }
  try {
    if (signal.aborted) onAbort();
    else line.pool.dispatch(optionsOf(request, line.headers), handler);
    return await handler.reply;
  } finally {
    over.abort(OVER);
    signal.removeEventListener("abort", onAbort);
    request.body.close();
  }
}

/** Resolves once the deadline has passed, but not for a time in which the body was held back. */
async function silence(deadline: Deadline, body: RequestBody, over: AbortSignal): Promise<void> {
  for (;;) {
    await deadline.passed(over);
    if (!body.held) return;
    deadline.restart();
  }
}

/** Resolves once the time is over. */
async function expiry(clock: Clock, fence: Fence, over: AbortSignal): Promise<void> {
  for (;;) {
    const { leftMs } = fence;
    if (leftMs <= 0) return;
    await clock.sleep(leftMs, over);
  }
}

function optionsOf(
  { path, contentType, body }: Request,
  headers: Transport["headers"],
): Dispatcher.DispatchOptions {
  return {
    method: "POST",
    path,
    headers: {
      "content-type": contentType,
      "content-length": String(body.length),
      accept: "application/json",
      "accept-encoding": "identity",
      ...headers,
    },
    // undici takes any async iterable; its types name only streams.
    body: body.content as Buffer | Readable,
  };
}

/** Where the request is: nothing written; being written; all of it handed to the socket. */
type Phase = "queued" | "sending" | "sent";

/**
 * undici's callbacks for one request. `onRequestStart` is the last moment at which nothing was
 * written: an error before it is proof that nothing was sent, and a request that was given up
 * while it waited in line is stopped there.
 */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly reply: Promise<Reply>;
  readonly #resolve: (reply: Reply) => void;
  readonly #reject: (error: unknown) => void;
  readonly #host: string;
  readonly #request: Request;
  readonly #deadline: Deadline;
  #phase: Phase = "queued";
  #settled = false;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Reply["headers"] = {};
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(host: string, request: Request, deadline: Deadline) {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    this.reply = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#host = host;
    this.#request = request;
    this.#deadline = deadline;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A second start would be a second send.
    if (this.#settled || this.#phase !== "queued") {
      controller.abort(new Error("the request was given up"));
      return;
    }
    this.#controller = controller;
    this.#phase = "sending";
    this.#deadline.restart();
  }

  onBodySent(): void {
    this.#deadline.restart();
  }

  onRequestSent(): void {
    this.#phase = "sent";
    this.#deadline.restart();
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Reply["headers"],
  ): void {
    if (status < 200) return; // informational: the reply is still to come
    this.#status = status;
    this.#headers = headers;
    const encoding = headers["content-encoding"];
    if (encoding !== undefined && encoding !== "identity") this.#done("encoded");
    else if (Number(headers["content-length"]) > this.#request.replyBytesMax) this.#done("too big");
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#request.replyBytesMax) this.#done("too big");
    // undici reuses its buffer.
    else this.#chunks.push(Buffer.from(chunk));
  }

  onResponseEnd(): void {
    this.#done(Buffer.concat(this.#chunks));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const { failure } = this.#request.body;
    if (failure) this.#fail(failure.error);
    else if (this.#phase === "queued") this.#fail(connectFailure(error, this.#host));
    else this.#fail(connectionLost(error, this.#during()));
  }

  /** The caller wants no more of it. */
  abort(cause: unknown): void {
    const message = `asked to stop ${this.#during()}`;
    this.#fail(new ArchiveError(this.#torn(), "SEND_ABORTED", message, { cause }));
  }

  /** The deadline has passed. */
  timeOut(): void {
    const after = `for ${this.#deadline.timeoutMs} ms ${this.#during()}`;
    if (this.#phase === "sending" && this.#request.body.waiting) {
      this.#fail(new ArchiveError("notSent", "FILE_STALLED", `the file gave nothing ${after}`));
      return;
    }
    const kind = this.#phase === "queued" ? "notSent" : "inDoubt";
    const silence = `${this.#host} took nothing and gave nothing ${after}`;
    this.#fail(new ArchiveError(kind, "ARCHIVE_TIMEOUT", silence));
  }

  /** The time to send is over; what has its end already waits for its answer all the same. */
  expire(): void {
    if (this.#phase === "sent" || this.#request.body.ended) return;
    this.#fail(timeOver(this.#during()));
  }

  /** What tearing the request down now proves. */
  #torn(): "notSent" | "inDoubt" {
    if (this.#phase === "queued") return "notSent";
    return this.#request.body.ended ? "inDoubt" : "notSent";
  }

  #during(): string {
    if (this.#phase === "queued") return "before anything was sent";
    if (this.#phase === "sending") return "while the request was being sent";
    return this.#status === 0 ? "before a reply came" : "before the reply was whole";
  }

  #done(body: Reply["body"]): void {
    if (this.#settled) return;
    this.#settled = true;
    const afterRequest = this.#phase === "sent";
    this.#resolve({ status: this.#status, headers: this.#headers, body, afterRequest });
    if (typeof body === "string") this.#controller?.abort(new Error(`the reply is ${body}`));
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#reject(error);
    this.#controller?.abort(new Error("the request was given up"));
  }
}

/** A moment after which a request is given up; it can be pushed back while there is progress. */
export class Deadline {
  readonly timeoutMs: number;
  readonly #clock: Clock;
  #due: number;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.timeoutMs = timeoutMs;
    this.#due = clock.monotonic() + timeoutMs;
  }

  /** The whole timeout again, from now. */
  restart(): void {
    this.#due = this.#clock.monotonic() + this.timeoutMs;
  }

  /** Resolves once the deadline has passed; rejects when `over` aborts first. */
  async passed(over: AbortSignal): Promise<void> {
    for (;;) {
      const left = this.#due - this.#clock.monotonic();
      if (left <= 0) return;
      await this.#clock.sleep(left, over);
    }
  }
}
