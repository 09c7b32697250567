/**
 * Makes a directory, and those above it, where it is missing. Level by level: Node's recursive `mkdir`
 * never returns where the kernel makes no directories, below `/proc` say.
 */
import { existsSync, mkdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "./fault.ts";

/** `mode` is that of every directory it makes. Throws the error of the first that cannot be made. */
export function makeDirectory(directory: string, mode?: number): void {
  if (existsSync(directory)) return;
  const above = dirname(directory);
  if (above !== directory) makeDirectory(above, mode);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    assertThere(error);
  }
}

/** The same for a place that may hang: only anyone who waits for it does. */
export async function makeDirectoryAsync(directory: string, mode?: number): Promise<void> {
  const above = dirname(directory);
  const make = () => mkdir(directory, { mode }).catch(assertThere);
  try {
    await make();
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || above === directory) throw error;
    await makeDirectoryAsync(above, mode);
    await make();
  }
}

/** Another process may have been quicker. */
function assertThere(error: unknown): void {
  if (codeOf(error) !== "EEXIST") throw error;
}
