import { Fault } from "../../std/fault.ts";
import { Folders } from "../../sync/folders.ts";
import type { Shell } from "../shell.ts";
import type { ArchiveAccess } from "./setup.ts";
import { type CheckResult, fail, failOf, ok, warn } from "../../check/check-result.ts";
import { openClient } from "../../archive/archive-settings.ts";

/** A person waits for the answer. */
const TIMEOUT_MS = 15_000;

/** Asks the archive for its root folder and for `target`; what it says to that. Sends nothing. */
export async function tryArchive(
  { url, accountKey, signing }: ArchiveAccess,
  target: string,
  shell: Shell,
): Promise<CheckResult[]> {
  const settings = { url, accountKey, signing, timeoutMs: TIMEOUT_MS, connections: 1 };
  try {
    await using client = await openClient(settings, shell.clock);
    await client.folder(undefined, shell.stopping());
    const reached = ok(`the archive ${url} accepts the account`);
    const found = await new Folders(client).resolve(target, shell.stopping());
    if (found.kind === "found") return [reached, ok(`archive folder ${target} exists`)];
    const fix = "Create it in the archive; documents wait until it is there.";
    return [reached, warn(found.problem.message, fix)];
  } catch (error) {
    if (error instanceof Fault) return [failOf("archive", error)];
    return [fail(`archive: ${String(error)}`, "See scanferry check.")];
  }
}
