import type { Archive } from "../../archive/archive.ts";
import { ArchiveError } from "../../archive/archive-error.ts";
import { Fault } from "../../std/fault.ts";
import type { LiveMirror } from "../../sync/context.ts";
import { Folders, Placement } from "../../sync/folders.ts";
import type { FirstRun } from "../../sync/first-run.ts";
import { wrappedArchive } from "../../sync/wrapped-archive.ts";
import type { Config } from "../../config/config.ts";
import { archivesOf } from "../../config/config.ts";
import type { Journal, MirrorRow } from "../../journal/journal.ts";
import { configuredRows } from "../problems.ts";

/** A folder to create, and how many documents would wait for it. */
export type FolderToCreate = { readonly path: string; readonly documents: number };

/** Nothing is asked of it. */
const NO_ARCHIVE = { clockOffsetMs: undefined } as unknown as Archive;

/**
 * Where documents would go. Asks the archive for folders, and for what stands there already; once it cannot be asked,
 * it is not asked again, and stays unknown.
 */
export class Destinations {
  /** As it is to be asked here; rejects at once after it could not be. */
  readonly archive: Archive;
  readonly placement: Placement;
  /** Set once it is known what the archive's mirrors are. */
  firstRun: FirstRun | undefined;
  readonly #folders: Folders;
  readonly #missing = new Map<string, number>();
  #outage: ArchiveError | undefined;

  /** With a `Fault` there is none to ask. */
  constructor(archive: Archive | Fault) {
    this.archive = wrappedArchive(archive instanceof Fault ? NO_ARCHIVE : archive, (ask) =>
      this.#outage ? Promise.reject(this.#outage) : ask(),
    );
    if (archive instanceof Fault) {
      const { code, message, hint } = archive;
      this.#outage = new ArchiveError("notSent", code, message, { hint });
    }
    this.#folders = new Folders(this.archive);
    this.placement = new Placement(this.#folders);
  }

  /** The archive could not be asked about a document: it is not asked again. */
  met(error: ArchiveError): void {
    this.#outage ??= error;
  }

  /** Why the archive could not be asked. */
  get outage(): Fault | undefined {
    return this.#outage;
  }

  /** Why not all of the archive could be searched for what is filed elsewhere; see `WholeArchive.unasked`. */
  get unasked(): string | null {
    return this.firstRun?.unasked ?? null;
  }

  /** Folders to create, those above others first. */
  get missing(): FolderToCreate[] {
    return [...this.#missing]
      .map(([path, documents]) => ({ path, documents }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** The document's own folder, or the one that stands for it while that is missing. */
  async pathOf(
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
      const found = await this.#folders.resolve(way, signal);
      if (found?.kind === "found" && found.folderId === folderId) return way;
    }
    return null;
  }

  /** Notes the folder, and every one above it that is missing too. */
  async order(targetPath: string, signal: AbortSignal): Promise<void> {
    this.#missing.set(targetPath, (this.#missing.get(targetPath) ?? 0) + 1);
    for (let at = targetPath.lastIndexOf("/"); at > 0; at = targetPath.lastIndexOf("/", at - 1)) {
      const above = targetPath.slice(0, at);
      if (this.#missing.has(above)) return;
      const found = await this.#folders.resolve(above, signal);
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
  const all = journal ? await configuredRows(journal, config.mirrors) : [];
  const known = new Map<string, KnownArchive>();
  for (const { name } of archivesOf(config)) {
    const row = rows.find((each) => each.name === name);
    if (!journal || !row) {
      known.set(name, NOTHING);
      continue;
    }
    const own = all.filter(({ archiveId }) => archiveId === row.id);
    const mirrors = new Map(own.map((each) => [each.name, each]));
    const speaking = journal.of(row.id);
    const open = new Set(await speaking.firstRuns());
    const pastFirstRun = new Set(own.map(({ id }) => id).filter((id) => !open.has(id)));
    known.set(name, { journal: speaking, mirrors, pastFirstRun });
  }
  return known;
}
