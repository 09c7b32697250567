import { STEERING } from "../std/raw-path.ts";

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
/** Longer names fit no file system. Characters. */
const NAME_LENGTH_MAX = 255;

/** Collects the data files of a container and keeps them within bounds. */
export class DataFiles {
  readonly list: DataFile[] = [];
  #left = TOTAL_BYTES_MAX;

  /** Decoded bytes that there is still room for. */
  get room(): number {
    return this.#left;
  }

  /** Adds a data file; one that is too large for what is left is passed over. */
  add(name: string, bytes: Buffer): void {
    if (bytes.length > this.#left) return;
    this.#left -= bytes.length;
    this.list.push({ name: safeName(name), path: name, size: bytes.length, bytes });
  }
}

/** The last part of the name, without control characters and marks that turn the text around. */
function safeName(name: string): string {
  const last = name.split(/[/\\]/).findLast((part) => part !== "") ?? "";
  const plain = last.replace(STEERING, "").trim();
  const cut = Array.from(plain).slice(0, NAME_LENGTH_MAX).join("");
  return cut === "" || cut === "." || cut === ".." ? "unnamed" : cut;
}
