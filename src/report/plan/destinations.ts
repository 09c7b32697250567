import type { Archive } from "../../archive/archive.ts";
import type { Problem } from "../../domain/document.ts";
import type { StoredSize } from "../../domain/stored-size.ts";
import type { Clock } from "../../std/clock.ts";
import { Fault } from "../../std/fault.ts";
import type { LiveMirror } from "../../sync/context.ts";
import { Folders } from "../../sync/folders.ts";
import { Placement } from "../../sync/placement.ts";
import { LaterUploads } from "../../sync/later-uploads.ts";
import { type Outgoing, SendGuard } from "../../sync/send-guard.ts";
import type { Config } from "../../config/config.ts";
import { archivesOf } from "../../config/archives.ts";
import { isSolo } from "../../journal/cluster.ts";
import type { Journal, MirrorRow } from "../../journal/journal.ts";

/** A folder to create, and how many documents would wait for it. */
export type FolderToCreate = { readonly path: string; readonly documents: number };

/** The folder that a document would go to: its id and its path; null: not known. */
export type Destination = { readonly folderId: number | null; readonly folder: string | null };

/** `toleranceMs`: how far the archive's dates may differ from one another; `storedSize` is the configuration's. */
type Trusted = {
  readonly clock: Clock;
  readonly toleranceMs: number;
  readonly storedSize: StoredSize | undefined;
};

/**
 * Where documents would go, and what stands there already. Asks the archive for folders, and for their
 * documents where that is asked for; once it cannot be asked, it is not asked again, and stays unknown.
 */
export class Destinations {
  readonly #folders: Folders | undefined;
  readonly #placement: Placement | undefined;
  /** What stands there on a first run, and on any other. */
  readonly #first: SendGuard | undefined;
  readonly #later: SendGuard | undefined;
  readonly #mirrorIds: readonly number[];
  readonly #missing = new Map<string, number>();
  #outage: Fault | undefined;

  constructor(
    archive: Archive | Fault,
    known: KnownArchive | undefined,
    { clock, toleranceMs, storedSize }: Trusted,
  ) {
    this.#mirrorIds = [...(known?.mirrors.values() ?? [])].map(({ id }) => id);
    if (archive instanceof Fault) {
      this.#outage = archive;
      return;
    }
    this.#folders = new Folders(archive);
    this.#placement = new Placement(this.#folders);
    const journal = known?.journal;
    this.#first = new SendGuard(archive, journal, { storedSize });
    if (!journal) return;
    const later = new LaterUploads({ archive, journal, clock, toleranceMs, remembers: false });
    this.#later = new SendGuard(archive, journal, { later, storedSize });
  }

  /** Why the archive could not be asked. */
  get outage(): Fault | undefined {
    return this.#outage;
  }

  /** Why not all of the archive could be searched for what is filed elsewhere; see `WholeArchive.unasked`. */
  get unasked(): string | null {
    return this.#first?.unasked ?? this.#later?.unasked ?? null;
  }

  /** Folders to create, those above others first. */
  get missing(): FolderToCreate[] {
    return [...this.#missing]
      .map(([path, documents]) => ({ path, documents }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** The folder a document would go to, or why it would be held. */
  async of(
    targetPath: string,
    mirror: LiveMirror,
    signal: AbortSignal,
  ): Promise<Destination | { problem: Problem }> {
    if (this.#outage || !this.#placement) return { folderId: null, folder: null };
    try {
      const place = await this.#placement.of(targetPath, mirror, signal);
      if ("problem" in place && place.problem.code === "FOLDER_MISSING") {
        await this.#order(targetPath, signal);
      }
      if ("problem" in place) return place;
      return { ...place, folder: await this.#pathOf(place.folderId, targetPath, mirror, signal) };
    } catch (error) {
      this.#meet(error, signal);
      return { folderId: null, folder: null };
    }
  }

  /** Why a first run, or any other, would hold this; see `SendGuard.objection`. */
  async objection(
    outgoing: Outgoing,
    isFirstRun: boolean,
    signal: AbortSignal,
  ): Promise<Problem | undefined> {
    if (this.#outage) return undefined;
    const guard = isFirstRun ? this.#first : this.#later;
    try {
      const objection = await guard?.objection(outgoing, this.#mirrorIds, signal);
      return objection && "conflict" in objection ? undefined : objection;
    } catch (error) {
      this.#meet(error, signal);
      return undefined;
    }
  }

  #meet(error: unknown, signal: AbortSignal): void {
    signal.throwIfAborted();
    if (!(error instanceof Fault)) throw error;
    this.#outage = error;
  }

  /** The document's own folder, or the one that stands for it while that is missing. */
  async #pathOf(
    folderId: number,
    targetPath: string,
    { settings: { missingFolder } }: LiveMirror,
    signal: AbortSignal,
  ): Promise<string | null> {
    const ways = [targetPath];
    if (missingFolder.kind === "fallback") ways.push(missingFolder.path);
    for (let at = targetPath.lastIndexOf("/"); at >= 0; at = targetPath.lastIndexOf("/", at - 1)) {
      ways.push(targetPath.slice(0, at) || "/");
      if (at === 0) break;
    }
    for (const way of ways) {
      const found = await this.#folders?.resolve(way, signal);
      if (found?.kind === "found" && found.folderId === folderId) return way;
    }
    return null;
  }

  /** Notes the folder, and every one above it that is missing too. */
  async #order(targetPath: string, signal: AbortSignal): Promise<void> {
    this.#missing.set(targetPath, (this.#missing.get(targetPath) ?? 0) + 1);
    for (let at = targetPath.lastIndexOf("/"); at > 0; at = targetPath.lastIndexOf("/", at - 1)) {
      const above = targetPath.slice(0, at);
      if (this.#missing.has(above)) return;
      const found = await this.#folders?.resolve(above, signal);
      if (found?.kind !== "unusable" || found.problem.code !== "FOLDER_MISSING") return;
      // A folder that is named by its id cannot be made.
      if (found.nearestId === null) return;
      this.#missing.set(above, 0);
    }
  }
}

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
