/** The after-action of a document, and of what stands beside it. */
import { closeSync, fstatSync } from "node:fs";
import type { RawPath } from "../std/raw-path.ts";
import { shown } from "../std/raw-path.ts";
import { act, type AfterAction } from "./after.ts";
import { markerOf, sidecarsOf } from "./beside.ts";
import { besideUse } from "./eligible.ts";
import { FileGone, fileFault, NotRegular } from "./file-fault.ts";
import { openInside, statInside } from "./open-inside.ts";
import { digestOf } from "./read-file.ts";
import type { Acted, SourceSettings } from "./source.ts";

/** What was sent, and when, epoch milliseconds; null: it was not. */
type Sent = { readonly digest: string; readonly sentAt: number | null };

/**
 * Acts on a file as `act` does, and where that went well, on its sidecar as it is now. A sidecar that
 * cannot be moved or deleted stays, and is told of. Beside a file that is gone, perhaps by an earlier try
 * that was cut short, only what has stood there since before the document was sent is touched: the rest
 * is of the next one of that name.
 *
 * @throws only the signal's reason
 */
export async function actWithBeside(
  settings: SourceSettings,
  path: RawPath,
  expected: Sent,
  action: AfterAction,
  signal: AbortSignal,
): Promise<Acted> {
  const acted = await act(settings, path, expected, action, signal);
  if (acted.kind === "refused") return acted;
  const stayed: string[] = [];
  for (const beside of besideOf(settings, path)) {
    if (acted.kind === "gone" && !stoodThere(settings, beside, expected.sentAt)) continue;
    const why = await follow(settings, beside, action, signal);
    if (why !== undefined) stayed.push(`${shown(beside)} stayed: ${why}`);
  }
  if (acted.kind === "gone" || stayed.length === 0) return acted;
  return { ...acted, stayed: stayed.join("; ") };
}

function besideOf(settings: SourceSettings, path: RawPath): RawPath[] {
  const { sidecars, markers } = besideUse(settings);
  return [
    ...(sidecars ? sidecarsOf(path).map((each) => each.path) : []),
    ...(markers ? [markerOf(path)] : []),
  ];
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
    // Not to be looked at, it cannot be followed either; beside a file that is gone nobody waits for it.
    return false;
  }
}

/** Why it stayed; undefined when it did not, or was not there. */
async function follow(
  settings: SourceSettings,
  path: RawPath,
  action: AfterAction,
  signal: AbortSignal,
): Promise<string | undefined> {
  let digest: string;
  try {
    digest = await digestNow(settings, path, signal);
  } catch (error) {
    signal.throwIfAborted();
    const fault = fileFault(error, path);
    return fault instanceof FileGone || fault instanceof NotRegular ? undefined : fault.message;
  }
  const acted = await act(settings, path, { digest }, action, signal);
  return acted.kind === "refused" ? acted.trouble.message : undefined;
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
