/** Writes down which archive is which, and which mirror is carried into which. */
import { archivesOf } from "../config/config.ts";
import type { Config } from "../config/config.ts";
import { isSolo } from "../journal/cluster.ts";
import type { ArchiveRow, Journal, MirrorRow, Registry, Sharing } from "../journal/journal.ts";
import { Fault } from "../std/fault.ts";
import type { Log } from "../std/log.ts";

/**
 * The rows of the configured archives, by name; every mirror is bound to its own. Nothing may be
 * sent before. Rejects with `ARCHIVES_EXCHANGED`, `ARCHIVE_CHANGED` or `MIRRORS_EXCHANGED`: the
 * journal speaks of another archive, or mirror, than the configuration.
 */
export async function bindArchives(
  config: Config,
  journal: Journal,
  log: Log,
): Promise<Map<string, ArchiveRow>> {
  const known = await journal.archives();
  const archives = archivesOf(config);
  assertNotExchanged(config, known);
  const rows = new Map<string, ArchiveRow>();
  for (const { name, url } of archives) {
    const row = known.find((each) => each.name === name && each.url === url);
    rows.set(name, row ?? (await journal.archive(name, url)));
  }
  await keepRenamed(config, journal, rows, log);
  for (const { name, source, archive } of config.mirrors) {
    const row = rows.get(archive);
    if (row) await journal.of(row.id).mirror(name, source);
  }
  return rows;
}

/** Throws `ARCHIVES_EXCHANGED`. */
export function assertNotExchanged(config: Config, known: readonly ArchiveRow[]): void {
  const archives = archivesOf(config);
  const before = new Map(known.map(({ name, url }) => [name, url]));
  for (const { name, url } of archives) {
    const was = before.get(name) ?? null;
    if (was === null || was === url) continue;
    const other = archives.find((each) => each.url === was && before.get(each.name) === url);
    if (other) throw exchanged(name, other.name);
  }
}

async function keepRenamed(
  config: Config,
  journal: Registry & Sharing,
  archives: ReadonlyMap<string, ArchiveRow>,
  log: Log,
): Promise<void> {
  if (!isSolo(journal.cluster)) return;
  const known = await journal.mirrors();
  for (const { id, name, was } of renamedMirrors(config, known, archives)) {
    log.warn({ mirror: name, was }, "the mirror was renamed; its source is the same");
    await journal.renameMirror(id, name);
  }
}

/**
 * A mirror of a new name whose source the journal knows is the one that had it: as another it would know
 * of nothing that was sent, and send it all again. Not where several daemons share the journal: that one may
 * be another host's, with files of its own in the same place. Throws `MIRRORS_EXCHANGED`.
 */
export function renamedMirrors(
  { mirrors }: Config,
  rows: readonly MirrorRow[],
  archives: ReadonlyMap<string, Pick<ArchiveRow, "id">>,
): { readonly id: number; readonly name: string; readonly was: string }[] {
  let known = rows;
  const done: { id: number; name: string; was: string }[] = [];
  for (;;) {
    const had = (name: string, source: string | undefined) =>
      known.some((row) => row.name === name && row.source === source);
    const elsewhere = mirrors.flatMap(({ name, source, archive }) => {
      const archiveId = archives.get(archive)?.id;
      const row = known.findLast((each) => each.source === source && each.archiveId === archiveId);
      return row && !had(name, source) ? [{ name, row }] : [];
    });
    const renamed = elsewhere.find(({ name }) => !known.some((row) => row.name === name));
    if (!renamed) {
      const isNow = (other: string) => mirrors.find(({ name }) => name === other)?.source;
      const other = elsewhere.find(({ name, row }) => had(name, isNow(row.name)));
      if (other) throw mirrorsExchanged(other.name, other.row.name);
      return done;
    }
    const { name, row } = renamed;
    done.push({ id: row.id, name, was: row.name });
    known = known.map((each) => (each.id === row.id ? { ...each, name } : each));
  }
}

function mirrorsExchanged(name: string, other: string): Fault {
  return new Fault(
    "MIRRORS_EXCHANGED",
    `the mirrors ${name} and ${other} have exchanged their sources`,
    "Exchange their names or sources back: what was sent for one would be sent again for the other.",
  );
}

function exchanged(name: string, other: string): Fault {
  return new Fault(
    "ARCHIVES_EXCHANGED",
    `the archives ${name} and ${other} have exchanged their addresses`,
    "Exchange them back: what was sent to one would be looked for in the other.",
  );
}
