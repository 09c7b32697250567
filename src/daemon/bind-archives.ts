import { archivesOf, type Config } from "../config/config.ts";
import { isSolo } from "../journal/cluster.ts";
import type {
  Applied,
  ArchiveRow,
  Journal,
  MirrorRow,
  Registry,
  Sharing,
} from "../journal/journal.ts";
import { Fault } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { isAbortOf } from "../std/abort.ts";
import type { IdentityGuard } from "../sync/archive-identity.ts";
import type { ScanScheduler } from "../sync/scan-scheduler.ts";
import type { Sync } from "../sync/sync.ts";
import type { Heartbeats } from "./heartbeats.ts";

/** Writes down which archive is which, and which mirror is carried into which. */

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

/** The accounts of a daemon: one an archive, each with loops of its own that know no other. */

/** An archive, its mirrors, and the loops that carry them. */
export type LiveAccount = {
  /** Of this archive alone. */
  readonly config: Config;
  /** Speaks for this archive. */
  readonly journal: Journal;
  readonly sync: Sync;
  readonly identity: IdentityGuard;
  readonly hearts: Heartbeats;
  /** Whether a mirror, also one that is not configured any more, is carried into this archive. */
  readonly owns: (mirrorId: number) => boolean;
};

export class Accounts {
  readonly all: readonly LiveAccount[];

  constructor(all: readonly LiveAccount[]) {
    this.all = all;
  }

  get scanSchedulers(): ScanScheduler[] {
    return this.all.flatMap(({ sync }) => [...sync.scanSchedulers.values()]);
  }

  /** Documents that are claimed or being sent. */
  get underWay(): number {
    return this.all.reduce((sum, { sync }) => sum + sync.underWay, 0);
  }

  /** Says which loop is stuck; undefined while all are well. */
  stuck(): string | undefined {
    for (const { hearts, config } of this.all) {
      const stuck = hearts.stuck();
      if (stuck === undefined) continue;
      return this.all.length === 1 ? stuck : `archive ${config.archive.name}: ${stuck}`;
    }
    return undefined;
  }

  /** Nobody could do anything for a while: what stood still counts from now on. */
  rest(): void {
    for (const { hearts } of this.all) hearts.rest();
  }

  /** Tells each what was journaled of its own mirrors. */
  journaled(applied: readonly Applied[]): void {
    for (const { owns, hearts, sync } of this.all) {
      const own = applied.filter(({ document }) => document && owns(document.mirrorId));
      hearts.journaled(own);
      sync.journaled(own);
    }
  }

  /** Runs the loops of all; rejects with the first failure of any, which ends the others. */
  async run(stopping: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const signal = AbortSignal.any([stopping, failed.signal]);
    const outcomes = await Promise.allSettled(
      this.all.map(async ({ sync }) => {
        try {
          await sync.run(signal);
        } catch (error) {
          if (isAbortOf(signal, error)) return;
          failed.abort(error);
          throw error;
        }
      }),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  rescan(why: string): void {
    for (const { sync } of this.all) sync.rescan(why);
  }

  /** Takes up what was written to the journal next to the loops. */
  async reread(): Promise<void> {
    for (const { sync } of this.all) await sync.reread();
  }

  /** Ends sending: what is being sent is finished until `deadline` aborts. */
  async drain(deadline: AbortSignal): Promise<void> {
    await Promise.all(this.all.map(({ sync }) => sync.drain(deadline)));
  }
}
