import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * A thread for an engine that may hang, crash or use up its memory over broken documents: with a heap of its own
 * and without a voice. It is asked one thing at a time, so that it is known which document broke it; the next one gets
 * a new thread. Who has it has to end it: it keeps its program alive.
 */
export class QuietThread {
  /** The thread that runs; undefined: none does. */
  running: Worker | undefined;
  readonly #url: URL;
  readonly #heapMbMax: number;

  constructor(url: URL, heapMbMax: number) {
    this.#url = url;
    this.#heapMbMax = heapMbMax;
  }

  /** Begins a new thread. */
  start(): Worker {
    const worker = new Worker(this.#url, {
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMbMax },
      stdout: true,
      stderr: true,
    });
    // What the engine has to say about broken documents is for nobody.
    worker.stdout.resume();
    worker.stderr.resume();
    // It is heard by anyone who waits for an answer; unheard, it would end the program.
    worker.on("error", () => {});
    worker.on("exit", () => {
      if (this.running === worker) this.running = undefined;
    });
    this.running = worker;
    return worker;
  }

  /** What the thread answers. Rejects, and the thread has ended, when it breaks or `given` aborts before that. */
  async ask(message: unknown, given: AbortSignal): Promise<unknown> {
    const worker = this.running ?? this.start();
    const answered = new AbortController();
    const signal = AbortSignal.any([given, answered.signal]);
    try {
      // `once` rejects on 'error'; an exit without an error comes from `terminate`.
      const reply = Promise.race([
        once(worker, "message", { signal }),
        once(worker, "exit", { signal }).then(() => Promise.reject(new Error("the thread ended"))),
      ]);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(message);
      return (await reply)[0];
    } catch (error) {
      await worker.terminate();
      throw error;
    } finally {
      answered.abort();
    }
  }
}
