/** The after-action of a document, and of what stands next to it. */
import { closeSync, fstatSync } from "node:fs";
import type { SidecarRead } from "../domain/attributes.ts";
import type { RawPath } from "../std/raw-path.ts";
import { shown } from "../std/raw-path.ts";
import { act, type AfterAction } from "./after.ts";
import { markerOf, sidecarsOf } from "./companions.ts";
import { companionUse } from "./eligible.ts";
import { FileGone, fileFault, NotRegular } from "./file-fault.ts";
import { openInside, statInside } from "./open-inside.ts";
import { digestOf } from "./read-file.ts";
import type { Acted, ArchivedFile, SourceSettings } from "./source.ts";

/** What stands next to a document; `read`: as what it was read, null: nobody did, absent: that does not matter. */
type Companion = { readonly path: RawPath; readonly read?: SidecarRead | null };

/** It may be the next document's, or say what was never archived. */
const NEVER_SENT = "what it says was not sent";

/**
 * Acts on a file as `act` does, and where that went well, on its marker and on the sidecar that was read for it.
 * What cannot be moved or deleted stays, as does any other sidecar, and learns about. Next to a file that is gone,
 * perhaps by an earlier try that was cut short, only what has stood there since before the document was sent is
 * touched: the rest is of the next one of that name.
 *
 * @throws only the signal's reason
 */
export async function actWithCompanions(
  settings: SourceSettings,
  path: RawPath,
  expected: ArchivedFile,
  action: AfterAction,
  signal: AbortSignal,
): Promise<Acted> {
  const acted = await act(settings, path, expected, action, signal);
  if (acted.kind === "refused") return acted;
  const stayed: string[] = [];
  for (const companion of companionsOf(settings, path, expected.sidecar)) {
    if (acted.kind === "gone" && !stoodThere(settings, companion.path, expected.sentAt)) continue;
    const why = await follow(settings, companion, action, signal);
    if (why !== undefined) stayed.push(`${shown(companion.path)} stayed: ${why}`);
  }
  if (acted.kind === "gone" || stayed.length === 0) return acted;
  return { ...acted, stayed: stayed.join("; ") };
}

function companionsOf(
  settings: SourceSettings,
  path: RawPath,
  sidecar: SidecarRead | null,
): Companion[] {
  const use = companionUse(settings);
  const sidecars = sidecarsOf(path).map(({ path: at, ending }): Companion => {
    return { path: at, read: sidecar?.ending === ending ? sidecar : null };
  });
  return [...(use.sidecars ? sidecars : []), ...(use.markers ? [{ path: markerOf(path) }] : [])];
}

/** A ctime cannot be set, and is that of its own change, of its coming there, or a later one. */
function stoodThere(
  { source, network }: SourceSettings,
  path: RawPath,
  sentAt: number | null,
): boolean {
  if (network || sentAt === null) return false;
  try {
    const stat = statInside(source, path);
    return stat !== undefined && Number(stat.ctimeMs) < sentAt;
  } catch {
    // Not to be looked at, it cannot be followed either; next to a file that is gone nobody waits for it.
    return false;
  }
}

/** Why it stayed; undefined when it did not, or was not there. */
async function follow(
  settings: SourceSettings,
  { path, read }: Companion,
  action: AfterAction,
  signal: AbortSignal,
): Promise<string | undefined> {
  let digest: string;
  try {
    if (read !== undefined) {
      const stat = statInside(settings.source, path);
      if (!stat) return undefined;
      if (Number(stat.mtimeMs) !== read?.modifiedAt) return NEVER_SENT;
    }
    digest = read?.digest ?? (await digestNow(settings, path, signal));
  } catch (error) {
    signal.throwIfAborted();
    const fault = fileFault(error, path);
    return fault instanceof FileGone || fault instanceof NotRegular ? undefined : fault.message;
  }
  const acted = await act(settings, path, { digest }, action, signal);
  if (acted.kind !== "refused") return undefined;
  const { code, message } = acted.problem;
  return read && code === "FILE_CHANGED" ? NEVER_SENT : message;
}

async function digestNow(
  { source }: SourceSettings,
  path: RawPath,
  signal: AbortSignal,
): Promise<string> {
  const fd = openInside(source, path);
  try {
    return (await digestOf(fd, fstatSync(fd).size, signal)).digest;
  } finally {
    closeSync(fd);
  }
}
