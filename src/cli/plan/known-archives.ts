import { archivesOf } from "../../config/archives.ts";
import type { Config } from "../../config/config.ts";
import { isSolo } from "../../journal/cluster.ts";
import type { Journal, MirrorRow } from "../../journal/journal.ts";

/** What the journal knows of a configured archive and its mirrors, which a run would bind it to. */
export type KnownArchive = {
  /** Speaks for the archive; undefined: nothing is known of it. */
  readonly journal: Journal | undefined;
  /** By the name that the mirror has now. */
  readonly mirrors: ReadonlyMap<string, MirrorRow>;
  /** Mirrors whose first run is over. */
  readonly pastFirstRun: ReadonlySet<number>;
};

const NOTHING: KnownArchive = { journal: undefined, mirrors: new Map(), pastFirstRun: new Set() };

/** Of each configured archive, by its name; a mirror is the one that a run would take it for. */
export async function knownArchives(
  config: Config,
  journal: Journal | undefined,
): Promise<Map<string, KnownArchive>> {
  const rows = (await journal?.archives()) ?? [];
  const all = (await journal?.mirrors()) ?? [];
  const known = new Map<string, KnownArchive>();
  for (const { name } of archivesOf(config)) {
    const row = rows.find((each) => each.name === name);
    if (!journal || !row) {
      known.set(name, NOTHING);
      continue;
    }
    const own = all.filter(({ archiveId }) => archiveId === row.id);
    const mirrors = mirrorsOf(config, name, own, isSolo(journal.cluster));
    const speaking = journal.of(row.id);
    const open = new Set(await speaking.firstRuns());
    const pastFirstRun = new Set(own.map(({ id }) => id).filter((id) => !open.has(id)));
    known.set(name, { journal: speaking, mirrors, pastFirstRun });
  }
  return known;
}

/** By name; else by the source, where no other daemon may have one of the same path. */
function mirrorsOf(
  { mirrors }: Config,
  archive: string,
  rows: readonly MirrorRow[],
  solo: boolean,
): Map<string, MirrorRow> {
  const known = new Map<string, MirrorRow>();
  for (const { name, source, ...mirror } of mirrors) {
    if (mirror.archive !== archive) continue;
    const row =
      rows.find((each) => each.name === name) ??
      (solo ? rows.findLast((each) => each.source === source) : undefined);
    if (row) known.set(name, row);
  }
  return known;
}
