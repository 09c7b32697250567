import type { Config, Mirror } from "../config/config.ts";
import { assertApart } from "../daemon/source-places.ts";
import type { FileIndex, MirrorRow } from "../journal/journal.ts";
import { isNetwork, type Mount, mountOf, readMounts, watchMode } from "../source/mounts.ts";
import { awayOf, NO_NOTE, noteOf, observersOf } from "../sync/away.ts";
import { comes } from "../reader/liveness.ts";
import type { Listing } from "../source/source.ts";
import { shown } from "../std/raw-path.ts";
import { StatReader } from "../report/stat-reader.ts";
import { readJournal, runningDaemon } from "../journal/open-journal.ts";
import { leaveOutText, NoDocuments, noDocumentsText } from "../report/no-documents.ts";
import { LINK_HINT, otherLinksLine, replacedLines } from "../report/finding-text.ts";
import { type CheckResult, fail, failOf, type Means, ok, warn } from "./check-result.ts";
import { readFileSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { codeOf } from "../std/fault.ts";
import { numberText } from "../std/wording.ts";

/** A person waits: of a source that takes longer, only the beginning is looked at. */
const WALK_MS_MAX = 10_000;
const UNREADABLE_MAX = 5;
const UNREADABLE_FIX =
  "Give that user or a group of it the right to read it (chmod, chgrp or setfacl), or leave it out by `exclude`.";

/** Are the sources there and readable, how are they watched, and are there watches enough? */
export async function* examineSources(config: Config, means: Means): AsyncGenerator<CheckResult> {
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
    const away = journal && row && (await awayOf(journal.of(row.archiveId), observers));
    const { unread, links } = away ? noteOf(away, mirror.name) : NO_NOTE;
    yield* sourceFindings(mirror, row, means, unread ? `${unread.path}: ${unread.why}` : undefined);
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

/** Is it there, can all of it be read (if not by the daemon: `unread`), and is there anything in it that is no document? */
async function* sourceFindings(
  mirror: Mirror,
  row: MirrorRow | undefined,
  means: Means,
  unread: string | undefined,
): AsyncGenerator<CheckResult> {
  const { clock, random } = means;
  const known = { id: row?.id ?? 1, device: row?.device ?? null };
  const what = `mirror ${mirror.name}: source`;
  const noDocuments = new NoDocuments();
  const listing = async ({ files }: Listing) => {
    for (const { name } of files) noDocuments.add(name);
  };
  try {
    await using statReader = await StatReader.open(mirror, known, { clock, random, listing });
    const { online, why } = statReader.status;
    if (!online) {
      const hint = "Fix `source`, or mount the share, or give this user the right to read it.";
      yield fail(`${what} is offline: ${why}`, hint);
      return;
    }
    const scanned = statReader.reader.scan(statReader.mirrorId, null);
    const isOver = await comes(
      scanned.then(() => {}),
      WALK_MS_MAX,
      clock,
    );
    yield ok(`${what} ${mirror.source} is readable`);
    const { unreadable } = isOver ? await scanned : { unreadable: [] };
    const own = unreadable.map((it) => `cannot read ${shown(it.path)}: ${it.problem.message}`);
    const closed = own.length > 0 || !unread ? own : [`the daemon cannot read ${unread}`];
    for (const text of closed.slice(0, UNREADABLE_MAX))
      yield fail(`${what}: ${text}`, UNREADABLE_FIX);
    const more = closed.length - UNREADABLE_MAX;
    if (more > 0) yield fail(`${what}: cannot read ${more} more`, "See scanferry plan.");
    const found = noDocumentsText(noDocuments.types);
    if (found !== undefined) yield warn(`${what}: ${found}`, leaveOutText(noDocuments.types));
    if (isOver) return;
    scanned.catch(() => {});
    yield ok(
      `${what} is large: looked at it for ${WALK_MS_MAX / 1_000} s; plan looks at all of it`,
    );
  } catch (error) {
    yield failOf(what, error);
  }
}

/** How it is watched: on a share perhaps in vain. */
function* mountFindings({ name, watch }: Mirror, mount: Mount | undefined): Generator<CheckResult> {
  const { mode, why } = watchMode(watch, mount);
  const on = mount === undefined ? "" : ` on ${mount.fsType},`;
  const what = `mirror ${name}:${on} watched by ${mode} (${why})`;
  if (mode !== "native" || (mount && !isNetwork(mount))) yield ok(what);
  else yield warn(what, "Set `watch: auto`: scanferry then scans the folder regularly.");
}

async function directoriesOf(journal: FileIndex | undefined, { id }: MirrorRow): Promise<number> {
  return (await journal?.directories(id))?.length ?? 0;
}

const PROTECTED = "/proc/sys/fs/protected_hardlinks";

/** `setting`: the kernel's file (proc(5), since Linux 3.6); another for tests. */
export function* examineHardLinks(setting = PROTECTED): Generator<CheckResult> {
  let value: string;
  try {
    value = readFileSync(setting, "utf8").trim();
  } catch {
    // No such setting on this system.
    return;
  }
  if (value !== "0") return;
  yield warn(
    "fs.protected_hardlinks is 0: a local user can link another user's file into a source, and scanferry archives it",
    "Set it to 1, the usual value: sysctl -w fs.protected_hardlinks=1, and in /etc/sysctl.d.",
  );
}

/** Others on the host watch directories too: beyond this share of the limit it gets tight. */
const WATCHES_SHARE = 0.8;

const LIMITS = "/proc/sys/fs/inotify";

/** `directories`: those of natively watched mirrors, as far as they were scanned. */
function* examineWatching(directories: number): Generator<CheckResult> {
  const refusal = whyNoWatch();
  if (refusal !== undefined) {
    const instances = limitOf("max_user_instances");
    const said = instances === undefined ? "" : `; ${instances} instances are allowed`;
    const fix =
      "Raise fs.inotify.max_user_instances and max_user_watches; until then, scanferry only rescans.";
    yield warn(`cannot watch any folder (${refusal}${said})`, fix);
    return;
  }
  const max = limitOf("max_user_watches");
  if (max === undefined || directories === 0) return;
  const known = `${numberText(directories)} ${directories === 1 ? "directory" : "directories"}`;
  const what = `${known} to watch, ${numberText(max)} watches allowed`;
  if (directories < max * WATCHES_SHARE) yield ok(what);
  else yield warn(what, `Raise fs.inotify.max_user_watches, e.g. to ${directories * 4}.`);
}

/** Tried on a directory that is certainly there; undefined when it can be watched. */
function whyNoWatch(): string | undefined {
  try {
    watch(tmpdir()).close();
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    return code === "EMFILE" || code === "ENOSPC" ? code : undefined;
  }
}

function limitOf(name: string): number | undefined {
  try {
    const limit = Number(readFileSync(`${LIMITS}/${name}`, "utf8"));
    return Number.isSafeInteger(limit) ? limit : undefined;
  } catch {
    // Not Linux, or not mounted: there is no such limit to report.
    return undefined;
  }
}
