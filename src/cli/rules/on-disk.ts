/** A path tried as it is on the disk, with what stands next to it; a file need not be there. */
import type { Mirror } from "../../config/config.ts";
import { failureOf } from "../../domain/failure.ts";
import { mountOf, readMounts } from "../../source/mounts.ts";
import { Fault } from "../../std/fault.ts";
import type { RawPath } from "../../std/raw-path.ts";
import type { Shell } from "../shell.ts";
import { sourceSettings } from "../../sync/reader-mirror.ts";
import { whyLeftOut } from "../../source/left-out.ts";
import { StatReader } from "../../report/stat-reader.ts";
import { askedHook, type Trial, trialOf } from "../../report/trial.ts";

/** Tries the rules of a mirror on paths below its source; `hooks`: and runs its `before` hook. */
export async function trialsOn(
  mirror: Mirror,
  paths: readonly RawPath[],
  shell: Shell,
  hooks = false,
): Promise<Trial[]> {
  const { clock, random } = shell.processContext;
  const settings = sourceSettings(mirror, mountOf(mirror.source, readMounts()), null);
  const trials: Trial[] = [];
  let statReader: StatReader | undefined;
  let offline: string | undefined;
  try {
    statReader = await StatReader.open(mirror, { id: 1, device: null }, { clock, random });
    if (!statReader.status.online) offline = statReader.status.why;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    offline = error.message;
  }
  try {
    for (const path of paths) {
      const leftOut = whyLeftOut(settings, path);
      const notes = leftOut === undefined ? [] : [`never sent: ${leftOut}`];
      if (offline === undefined && statReader)
        trials.push(await onDisk(statReader, mirror, path, { notes, hooks }, clock.now()));
      else
        trials.push(
          unseen(mirror, path, [...notes, `the source is offline: ${offline}`], clock.now()),
        );
    }
    return trials;
  } finally {
    await statReader?.[Symbol.asyncDispose]();
  }
}

async function onDisk(
  statReader: StatReader,
  mirror: Mirror,
  path: RawPath,
  { notes, hooks }: { readonly notes: readonly string[]; readonly hooks: boolean },
  now: number,
): Promise<Trial> {
  const [seen] = await statReader.reader.look(statReader.mirrorId, [path]);
  const isThere = seen !== null && seen !== undefined;
  const read = await statReader.reader.notes(statReader.mirrorId, path, isThere);
  const told = isThere
    ? notes
    : [...notes, "there is no such file; scanferry uses the current time for it"];
  const facts = {
    mirror: mirror.name,
    path,
    modifiedAt: seen?.modifiedAt ?? now,
    at: now,
    sidecar: read.kind === "notes" ? read.sidecar : null,
  };
  const trial = trialOf({ mirror, facts, notes: told });
  if (read.kind === "notes")
    return hooks && isThere ? askedHook(statReader, mirror, facts, trial) : trial;
  const { code, message } = read.problem;
  return { ...trial, error: { code, message, hint: failureOf(code).hint } };
}

function unseen(mirror: Mirror, path: RawPath, notes: readonly string[], now: number): Trial {
  const facts = {
    mirror: mirror.name,
    path,
    modifiedAt: now,
    at: now,
    sidecar: null,
  };
  return trialOf({ mirror, facts, notes });
}
