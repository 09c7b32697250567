import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { BIN } from "../../test/fixtures/a-process.ts";
import { check, WrongResult } from "./bench.ts";
import { endWithThis } from "./cost.ts";

const LOOK_MS = 5;
const SCANNED = '"msg":"scanned"';

/**
 * `scanferry run`, which tells a file of every document, as it would tell the journal of the host:
 * a million lines that nobody must wait for. Disposing kills it.
 */
export class RunningDaemon implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #spare: () => void;
  readonly #log: number;
  readonly #piece = Buffer.alloc(1024 * 1024);
  #at = 0;
  #rest = "";
  #scans = 0;

  constructor(config: string, log: string) {
    this.#log = openSync(log, "w+");
    const words = ["--config", config, "run"];
    this.#child = spawn(BIN, words, { stdio: ["ignore", this.#log, "inherit"] });
    this.#spare = endWithThis(this.#child);
    this.#ended = once(this.#child, "exit");
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Waits until it has told about that many scans since its start. @throws when it ends before */
  async scanned(scans: number): Promise<void> {
    while (this.#read() < scans) {
      if (this.#child.exitCode !== null) throw new WrongResult("the daemon ended");
      await sleep(LOOK_MS);
    }
  }

  /** Asks for another scan and waits for it; seconds. */
  async rescan(): Promise<number> {
    const scans = this.#read();
    const begun = performance.now();
    this.#child.kill("SIGUSR1");
    await this.scanned(scans + 1);
    return (performance.now() - begun) / 1_000;
  }

  /** Ends it as a service manager does. @throws when it does not end with 0 */
  async end(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#ended;
    const { exitCode, signalCode } = this.#child;
    check(exitCode === 0, `the daemon ended with ${exitCode ?? signalCode}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
    this.#spare();
    closeSync(this.#log);
  }

  /** Scans told about so far; reads on where it left off. */
  #read(): number {
    for (;;) {
      const bytes = this.#next();
      if (bytes === 0) return this.#scans;
      const text = this.#rest + this.#piece.toString("latin1", 0, bytes);
      this.#scans += text.split(SCANNED).length - 1;
      // What is cut in two is met whole the next time.
      this.#rest = text.slice(-(SCANNED.length - 1));
    }
  }

  #next(): number {
    const bytes = readSync(this.#log, this.#piece, 0, this.#piece.length, this.#at);
    this.#at += bytes;
    return bytes;
  }
}
