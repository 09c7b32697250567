import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a directory, and those above it, where it is missing. Level by level: Node's recursive
 * `mkdir` never returns where the kernel makes no directories.
 */
export function makeDirectory(directory: string, mode?: number): void {
  if (existsSync(directory)) return;
  makeDirectory(dirname(directory), mode);
  mkdirSync(directory, { mode });
}
