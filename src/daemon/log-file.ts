/**
 * The log's own file: begun again before it grows too large, with a bounded number of older ones
 * (`FILE.1` is the latest). Written line by line and at once, so that a crash loses none.
 *
 * A line that the file cannot take (a full disk, a folder that is gone) is not lost for those who
 * keep the standard output, and never ends the daemon; the next line tries the file again.
 */
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
import { makeDirectory } from "../std/make-directory.ts";
import type { LogFileSettings } from "../config/service-sections.ts";

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
