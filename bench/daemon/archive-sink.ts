/** The sink, as a process of its own. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SinkReport } from "./sink.ts";

const PROGRAM = fileURLToPath(new URL("./sink.ts", import.meta.url));

export type SinkOptions = {
  /** Every reply waits that long. */
  readonly latencyMs?: number;
  /** A document is CONVERTED that long after its upload. */
  readonly convertMs?: number;
  /** The content of every n-th upload is hashed; 0: of none. */
  readonly sample?: number;
};

export class ArchiveSink implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  static async open({ latencyMs = 0, convertMs = 0, sample = 0 }: SinkOptions = {}) {
    const env = {
      ...process.env,
      SINK_LATENCY_MS: String(latencyMs),
      SINK_CONVERT_MS: String(convertMs),
      SINK_SAMPLE: String(sample),
    };
    const child = fork(PROGRAM, [], { env });
    const [port] = (await once(child, "message")) as [number];
    return new ArchiveSink(`http://127.0.0.1:${port}`, child);
  }

  async report(detailed = false): Promise<SinkReport> {
    this.#child.send(detailed ? "detailed" : "brief");
    const [report] = (await once(this.#child, "message")) as [SinkReport];
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }
}
