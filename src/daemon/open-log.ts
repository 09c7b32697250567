import type { Writable } from "node:stream";
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { pino, stdTimeFunctions } from "pino";
import type { Config } from "../config/config.ts";
import { levelOf, type Log, redactor } from "../std/log.ts";
import { inert, legible } from "../std/printable.ts";
import { neverBlock } from "../std/never-block.ts";
import { makeDirectory } from "../std/make-directory.ts";
import type { LogFileSettings } from "../config/service-sections.ts";

export type LogOptions = {
  readonly level: Config["log"]["level"];
  /** Values that must appear nowhere, whatever is logged. */
  readonly secrets: readonly string[];
  /** For people at a terminal: one plain line each instead of JSON. */
  readonly pretty: boolean;
  /** Instead of the standard output. */
  readonly file?: Config["log"]["file"];
};

/** A log that holds on to something; disposing it lets go. */
export type OpenLog = Log & Disposable;

/** pino to stdout, or to a file of its own. One redactor, by value, over every line: a secret has no other way out. */
export function openLog({ level, secrets, pretty, file }: LogOptions): OpenLog {
  const redact = redactor(secrets);
  const dropped = (lines: number) =>
    log.warn({ lines }, "log lines were dropped: the standard output was not read in time");
  const toOutput = (line: string) => output.write(pretty ? plainLine(line) : line, dropped);
  const own = file && new LogFile(file, toOutput);
  const write = (line: string) => {
    // pino escapes C0 alone.
    const clean = inert(redact(line));
    recentLines.add(clean);
    if (own) own.write(clean);
    else toOutput(clean);
  };
  const log = pino(
    { level, base: { pid: process.pid }, timestamp: stdTimeFunctions.isoTime },
    { write },
  );
  return Object.assign(log, { [Symbol.dispose]: () => own?.close() });
}

function plainLine(line: string): string {
  const { time, level, msg, pid: _pid, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const context = Object.entries(rest)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
  const text = `${String(time).slice(11, 19)} ${levelOf(level).padEnd(5)} ${String(msg)}  ${context}`;
  // JSON had escaped what steers a terminal: a hook's answer, say, or a database's.
  return `${legible(text)}\n`;
}

/**
 * The log's way out, the standard output. Anyone who reads it, and whether anyone does: it neither ends
 * the daemon nor blocks it, and what waits for the reader is bounded. Beyond that lines are dropped,
 * and how many is reported once all that waited has been read.
 */

/** Characters that wait for the reader: thousands of lines, and little next to the heap. */
const WAITING_MAX = 1_048_576;

/**
 * So many times more may come in one turn of the event loop: ten thousand directories that cannot be read are
 * told in one, and no reader, however quick, can take anything before it ends.
 */
const BURST = 16;

export class LogOutput {
  readonly #stream: () => Writable;
  readonly #waitingMax: number;
  #text = "";
  #dropped = 0;
  #isOpen = false;

  /** `stream` is asked for with the first line. */
  constructor(stream: () => Writable, waitingMax = WAITING_MAX) {
    this.#stream = stream;
    this.#waitingMax = waitingMax;
  }

  /**
   * Writes a line, with those of the same turn of the event loop: thousands come with one commit, and
   * a write for each takes longer than making it. `dropped` says how many lines before it are missing.
   */
  write(line: string, dropped: (lines: number) => void): void {
    if (!this.#isOpen) this.#open();
    if (!this.#hasRoom) {
      this.#dropped += 1;
      return;
    }
    if (this.#text === "") queueMicrotask(() => this.#flush());
    const missing = this.#dropped;
    this.#dropped = 0;
    if (missing > 0) dropped(missing);
    this.#text += line;
  }

  get #hasRoom(): boolean {
    if (this.#text !== "") return this.#text.length <= BURST * this.#waitingMax;
    // Only once it has caught up: a reader that is merely slow learns about few large gaps, not of many small ones.
    return this.#stream().writableLength <= (this.#dropped > 0 ? 0 : this.#waitingMax);
  }

  #flush(): void {
    const text = this.#text;
    this.#text = "";
    if (text !== "") this.#stream().write(text, () => {});
  }

  /** Once: reloads open further logs, and their listeners would add up. */
  #open(): void {
    this.#isOpen = true;
    const stream = this.#stream();
    neverBlock(stream);
    stream.on("error", () => {});
    process.on("exit", () => this.#flush());
  }
}

/**
 * The log's own file: begun again before it grows too large, with a bounded number of older ones
 * (`FILE.1` is the latest). Written line by line and at once, so that a crash loses none.
 *
 * A line that the file cannot take (a full disk, a folder that is gone) is not lost for those who
 * keep the standard output, and never ends the daemon; the next line tries the file again.
 */

/** Readable by the daemon's user and group: paths of users' files are in it. */
const MODE = 0o640;

export class LogFile {
  readonly #settings: LogFileSettings;
  readonly #otherwise: (line: string) => void;
  #descriptor: number | undefined;
  #bytes = 0;

  /** `otherwise` takes the lines that the file cannot. Opens nothing before the first line. */
  constructor(settings: LogFileSettings, otherwise: (line: string) => void) {
    this.#settings = settings;
    this.#otherwise = otherwise;
  }

  /** Writes one line, which ends in a line break. Never throws. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    try {
      const descriptor = this.#opened();
      if (this.#bytes > 0 && this.#bytes + bytes.length > this.#settings.sizeBytesMax) {
        this.#rotate();
      }
      this.#append(this.#descriptor ?? descriptor, bytes);
    } catch {
      this.close();
      this.#otherwise(line);
    }
  }

  /** Lets go of the file; the next line opens it again. */
  close(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor === undefined) return;
    try {
      closeSync(descriptor);
    } catch {
      // Every line was written when it was logged.
    }
  }

  #opened(): number {
    if (this.#descriptor !== undefined) return this.#descriptor;
    const { path } = this.#settings;
    makeDirectory(dirname(path), 0o750);
    const descriptor = openSync(path, "a", MODE);
    this.#descriptor = descriptor;
    this.#bytes = fstatSync(descriptor).size;
    return descriptor;
  }

  /** The whole line or nothing of it: half a line would be read as part of the next. */
  #append(descriptor: number, bytes: Buffer): void {
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if (written > 0) ftruncateSync(descriptor, this.#bytes);
      throw error;
    }
    this.#bytes += bytes.length;
  }

  /** Where nothing can be renamed the file goes on: too long a log is better than none. */
  #rotate(): void {
    const { path, olderMax } = this.#settings;
    try {
      if (olderMax === 0) rmSync(path);
      for (let age = olderMax; age > 0; age--) {
        const from = age === 1 ? path : `${path}.${age - 1}`;
        renameIfThere(from, `${path}.${age}`);
      }
    } catch {
      return;
    }
    this.close();
    this.#opened();
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}

/** The latest lines of the log, for the page: in memory, and no more than a bounded number of characters. */

/** Of which the page shows some hundreds that match; and of all together. */
const LINES_MAX = 5_000;
const CHARACTERS_MAX = 2_097_152;

export class RecentLines {
  readonly #lines: string[] = [];
  #characters = 0;

  /** One line, as it is written to the log. */
  add(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    while (this.#lines.length > LINES_MAX || this.#characters > CHARACTERS_MAX) {
      this.#characters -= this.#lines.shift()?.length ?? 0;
    }
  }

  /** The oldest first. */
  get all(): readonly string[] {
    return this.#lines;
  }
}

/** One, whatever logs are opened one after another. */
export const recentLines = new RecentLines();

/** One, whatever logs are opened one after another. */
const output = new LogOutput(() => process.stdout);
