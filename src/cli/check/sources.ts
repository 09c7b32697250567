import type { Config, Mirror } from "../../config/config.ts";
import { assertApart } from "../../daemon/sources-apart.ts";
import type { Journal, MirrorRow } from "../../journal/journal.ts";
import { isNetwork, type Mount, mountOf, readMounts, watchMode } from "../../source/mounts.ts";
import { awayOf, ofMirror, observersOf } from "../../sync/away.ts";
import { readJournal, runningDaemon } from "../journals.ts";
import { LINK_HINT, otherLinksLine, replacedLines } from "../links-text.ts";
import { StatReader } from "../stat-reader.ts";
import type { Shell } from "../shell.ts";
import { fail, failOf, type CheckResult, ok, warn } from "./check-result.ts";
import { examineHardLinks } from "./hard-links.ts";
import { examineWatching } from "./watching.ts";

/** Are the sources there and readable, how are they watched, and are there watches enough? */
export async function* examineSources(config: Config, shell: Shell): AsyncGenerator<CheckResult> {
  // The journal's own examination reports what is wrong with it.
  await using journal = await readJournal(config).catch(() => undefined);
  const rows = new Map((await journal?.mirrors())?.map((row) => [row.name, row]));
  const mounts = readMounts();
  try {
    assertApart(config.mirrors, mounts);
  } catch (error) {
    yield failOf("mirrors", error);
  }
  const isRunning = journal && (await runningDaemon(config)) !== undefined;
  const observers = journal
    ? observersOf(await journal.cluster.instances(), isRunning === true)
    : [];
  let directories = 0;
  let isWatching = false;
  for (const mirror of config.mirrors) {
    const row = rows.get(mirror.name);
    const mount = mountOf(mirror.source, mounts);
    yield await sourceFinding(mirror, row, shell);
    const away = journal && row && (await awayOf(journal.of(row.archiveId), observers));
    const links = (away && ofMirror(away.links, mirror.name)) ?? null;
    for (const line of replacedLines(mirror.name, links)) yield warn(`mirror ${line}`, LINK_HINT);
    const others = otherLinksLine(mirror.name, links);
    if (others !== undefined) yield ok(`mirror ${others}`);
    yield* mountFindings(mirror, mount);
    const { mode } = watchMode(mirror.watch, mount);
    isWatching ||= mode === "native";
    if (mode === "native" && row) directories += await directoriesOf(journal, row);
  }
  if (isWatching) yield* examineWatching(directories);
  yield* examineHardLinks();
}

async function sourceFinding(
  mirror: Mirror,
  row: MirrorRow | undefined,
  shell: Shell,
): Promise<CheckResult> {
  const { clock, random } = shell.processContext;
  const known = { id: row?.id ?? 1, device: row?.device ?? null };
  const what = `mirror ${mirror.name}: source`;
  try {
    await using statReader = await StatReader.open(mirror, known, { clock, random });
    const { online, why } = statReader.status;
    if (online) return ok(`${what} ${mirror.source} is readable`);
    const hint = "Fix `source`, or mount the share, or give this user the right to read it.";
    return fail(`${what} is offline: ${why}`, hint);
  } catch (error) {
    return failOf(what, error);
  }
}

/** How it is watched: on a share perhaps in vain. And a file on a read-only mount stays where it is. */
function* mountFindings(
  { name, watch, after }: Mirror,
  mount: Mount | undefined,
): Generator<CheckResult> {
  const { mode, why } = watchMode(watch, mount);
  const on = mount === undefined ? "" : ` on ${mount.fsType},`;
  const what = `mirror ${name}:${on} watched by ${mode} (${why})`;
  if (mode !== "native" || (mount && !isNetwork(mount))) yield ok(what);
  else yield warn(what, "Set `watch: auto`: scanferry then scans the folder regularly.");
  if (after.kind === "keep" || mount?.readOnly !== true) return;
  const vain = `mirror ${name}: \`after: ${after.kind}\`, but ${mount.point} is mounted read-only`;
  yield warn(vain, "Mount it for writing, or set `after: keep`.");
}

async function directoriesOf(journal: Journal | undefined, { id }: MirrorRow): Promise<number> {
  return (await journal?.directories(id))?.length ?? 0;
}
