import { Fault } from "../std/fault.ts";
import type { Context } from "./archive-context.ts";
import { folderPath, MALFORMED } from "./reading.ts";
import type { Account } from "./store.ts";

/** Makes `/A/B` and all above it; a Fault with EMBEDDED_ARCHIVE_OPTIONS for what is no path. */
export function makeFolder({ store, settings }: Context, account: Account, path: string): number {
  if (folderPath(path) !== MALFORMED) return store.makeFolder(account, path, settings.clock.now());
  throw new Fault(
    "EMBEDDED_ARCHIVE_OPTIONS",
    `${JSON.stringify(path)} is not a folder's path`,
    "Write it as /A/B: a slash before every name, no empty names.",
  );
}
