import { readFileSync } from "node:fs";
import type { Config, Mirror } from "../../config/config.ts";
import type { Journal, MirrorRow } from "../../journal/journal.ts";
import { isNetwork, type Mount, mountOf, readMounts, watchMode } from "../../source/mounts.ts";
import { readJournal } from "../journals.ts";
import { Looker } from "../looker.ts";
import type { Shell } from "../shell.ts";
import { counted } from "../wording.ts";
import { fail, failOf, type Finding, ok, warn } from "./finding.ts";

/** Others on the host watch directories too: beyond this share of the limit it gets tight. */
const WATCHES_SHARE = 0.8;

/** Are the sources there and readable, how are they watched, and are there watches enough? */
export async function* examineSources(config: Config, shell: Shell): AsyncGenerator<Finding> {
  // What is wrong with the journal is told by its own examination.
  await using journal = await readJournal(config).catch(() => undefined);
  const rows = new Map((await journal?.mirrors())?.map((row) => [row.name, row]));
  const mounts = readMounts();
  let directories = 0;
  for (const mirror of config.mirrors) {
    const row = rows.get(mirror.name);
    const mount = mountOf(mirror.source, mounts);
    yield await sourceFinding(mirror, row, shell);
    yield* mountFindings(mirror, mount);
    const { mode } = watchMode(mirror.watch, mount);
    if (mode === "native" && row) directories += await directoriesOf(journal, row);
  }
  yield* watchesFinding(directories);
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

/** How it is watched: on a share perhaps in vain. And a file on a read-only mount stays where it is. */
function* mountFindings(
  { name, watch, after }: Mirror,
  mount: Mount | undefined,
): Generator<Finding> {
  const { mode, why } = watchMode(watch, mount);
  const what = `mirror ${name}: watched by ${mode} (${why})`;
  if (mode !== "native" || (mount && !isNetwork(mount))) yield ok(what);
  else yield warn(what, "Leave `watch: auto`, which scans there.");
  if (after.kind === "keep" || mount?.readOnly !== true) return;
  const vain = `mirror ${name}: \`after: ${after.kind}\`, but ${mount.point} is mounted read-only`;
  yield warn(vain, "Mount it for writing, or say `after: keep`.");
}

async function directoriesOf(journal: Journal | undefined, { id }: MirrorRow): Promise<number> {
  return (await journal?.directories(id))?.length ?? 0;
}

/** One watch a directory; known only once they have been scanned. */
function* watchesFinding(directories: number): Generator<Finding> {
  const max = readLimit();
  if (max === undefined || directories === 0) return;
  const what = `${counted(directories, "directory").replace("directorys", "directories")} to watch, ${max} watches allowed`;
  if (directories < max * WATCHES_SHARE) yield ok(what);
  else yield warn(what, `Raise fs.inotify.max_user_watches, e.g. to ${directories * 4}.`);
}

function readLimit(): number | undefined {
  try {
    const limit = Number(readFileSync("/proc/sys/fs/inotify/max_user_watches", "utf8"));
    return Number.isSafeInteger(limit) ? limit : undefined;
  } catch {
    // Not Linux, or not mounted: there is no such limit to tell of.
    return undefined;
  }
}
