/** The after-action of a document, and of what stands beside it. */
import { closeSync, fstatSync } from "node:fs";
import type { RawPath } from "../std/raw-path.ts";
import { shown } from "../std/raw-path.ts";
import { act, type AfterAction } from "./after.ts";
import { markerOf, sidecarsOf } from "./beside.ts";
import { besideUse } from "./eligible.ts";
import { FileGone, fileFault, NotRegular } from "./file-fault.ts";
import { openInside } from "./open-inside.ts";
import { digestOf } from "./read-file.ts";
import type { Acted, SourceSettings } from "./source.ts";

/**
 * Acts on a file as `act` does, and where that went well, or had before, on its sidecar as it is
 * now. A sidecar that cannot be moved or deleted stays, and is told of.
 *
 * @throws only the signal's reason
 */
export async function actWithBeside(
  settings: SourceSettings,
  path: RawPath,
  expected: { digest: string },
  action: AfterAction,
  signal: AbortSignal,
): Promise<Acted> {
  const acted = await act(settings, path, expected, action, signal);
  if (acted.kind === "refused") return acted;
  const stayed: string[] = [];
  for (const beside of besideOf(settings, path)) {
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
