/** What a rename or a write needs, beside itself, to survive a power cut. */
import { closeSync, fsyncSync, openSync } from "node:fs";

/** Has the disk hold the file's content. */
export function syncFile(path: string): void {
  sync(path, "r+");
}

/** Makes a rename in `directory` durable. */
export function syncDirectory(directory: string): void {
  sync(directory, "r");
}

function sync(path: string, flags: "r" | "r+"): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
