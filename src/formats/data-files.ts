import { STEERING } from "../std/printable.ts";

/** A document inside a digidoc container. */
export type DataFile = {
  /** Its last part only, without control characters; never empty, `.` or `..`. */
  name: string;
  /** As the container has it: for comparing only, since it may lead anywhere. */
  path: string;
  /** Bytes. */
  size: number;
  bytes: Buffer;
};

/** Decoded bytes of one container; a guess at what a server can hold in memory. */
const TOTAL_BYTES_MAX = 256 * 1024 * 1024;
/** Data files of one container. */
const FILES_MAX = 1000;
/** Longer names fit no file system. Characters. */
const NAME_LENGTH_MAX = 255;
/** Nor paths; a container may have one as long as itself. Characters. */
const PATH_LENGTH_MAX = 4096;

/** Collects the data files of a container and keeps them within bounds. */
export class DataFiles {
  readonly list: DataFile[] = [];
  #left = TOTAL_BYTES_MAX;

  /** No more are taken. */
  get isFull(): boolean {
    return this.list.length >= FILES_MAX;
  }

  /** Decoded bytes that there is still room for. */
  get room(): number {
    return this.#left;
  }

  /** Adds a data file; one that is too large for what is left, or one too many, is passed over. */
  add(name: string, bytes: Buffer): void {
    if (this.isFull || bytes.length > this.#left) return;
    this.#left -= bytes.length;
    this.list.push({ name: safeName(name), path: name, size: bytes.length, bytes });
  }
}

/** The last part of the name, without control characters and marks that turn the text around. */
function safeName(name: string): string {
  const parts = name.slice(-PATH_LENGTH_MAX).split(/[/\\]/);
  const last = parts.findLast((part) => part !== "") ?? "";
  const plain = last.replace(STEERING, "").trim();
  const cut = Array.from(plain).slice(0, NAME_LENGTH_MAX).join("");
  return cut === "" || cut === "." || cut === ".." ? "unnamed" : cut;
}
