import type { Config, Mirror } from "../../config/config.ts";
import type { Journal, MirrorRow } from "../../journal/journal.ts";
import { mountOf, readMounts, watchMode } from "../../source/mounts.ts";
import { readJournal } from "../journals.ts";
import { Looker } from "../looker.ts";
import type { Shell } from "../shell.ts";
import { fail, failOf, type Finding, ok } from "./finding.ts";
import { examineWatching } from "./watching.ts";

/** Are the sources there and readable, how are they watched, and are there watches enough? */
export async function* examineSources(config: Config, shell: Shell): AsyncGenerator<Finding> {
  // What is wrong with the journal is told by its own examination.
  await using journal = await readJournal(config).catch(() => undefined);
  const rows = new Map((await journal?.mirrors())?.map((row) => [row.name, row]));
  const mounts = readMounts();
  let directories = 0;
  let isWatching = false;
  for (const mirror of config.mirrors) {
    const row = rows.get(mirror.name);
    const mount = mountOf(mirror.source, mounts);
    const { mode, why } = watchMode(mirror.watch, mount);
    yield await sourceFinding(mirror, row, shell);
    const on = mount === undefined ? "" : ` on ${mount.fsType}`;
    yield ok(`mirror ${mirror.name}:${on}, watched by ${mode} (${why})`);
    isWatching ||= mode === "native";
    if (mode === "native" && row) directories += await directoriesOf(journal, row);
  }
  if (isWatching) yield* examineWatching(directories);
}

async function sourceFinding(
  mirror: Mirror,
  row: MirrorRow | undefined,
  shell: Shell,
): Promise<Finding> {
  const { clock, random } = shell.surroundings;
  const known = { id: row?.id ?? 1, device: row?.device ?? null };
  const what = `mirror ${mirror.name}: source`;
  try {
    await using looker = await Looker.open(mirror, known, { clock, random });
    const { online, why } = looker.status;
    if (online) return ok(`${what} ${mirror.source} is readable`);
    return fail(`${what} is offline: ${why}`, "Mount it, or give this user the right to read it.");
  } catch (error) {
    return failOf(what, error);
  }
}

async function directoriesOf(journal: Journal | undefined, { id }: MirrorRow): Promise<number> {
  return (await journal?.directories(id))?.length ?? 0;
}
