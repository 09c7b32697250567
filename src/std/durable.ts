/** What a rename or a write needs, next to itself, to survive a power cut. */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";

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

/**
 * Writes a file next to its place and renames it there: anyone who reads it sees the old one or the new one, whole, and
 * a link in its place is replaced, not followed.
 */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  // Always the same one, so that what a crash left is not left for ever.
  const draft = `${path}.partial`;
  await rm(draft, { force: true });
  {
    await using file = await open(draft, "wx", mode);
    await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  }
  await rename(draft, path);
}
