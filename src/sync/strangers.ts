/** Documents that the archive holds and no row accounts for: any of them may be a file that is there. */
import type { Archive } from "../archive/archive.ts";
import { allDocuments } from "../archive/paging.ts";
import type { Trouble } from "../domain/document.ts";
import type { Journal } from "../journal/journal.ts";

/** Documents a page; the interface allows 10,000. */
const PAGE_SIZE = 1_000;

const OF_FORMER_MIRROR =
  ", sent for a mirror that is not configured any more: if this is that mirror, give it its name back";

/** Ids of a folder's documents, by name. */
type Names = ReadonlyMap<string, readonly number[]>;

export class Strangers {
  readonly #archive: Archive;
  readonly #journal: Pick<Journal, "claimed"> | undefined;
  readonly #folders = new Map<number, Promise<Names>>();

  /** `journal` speaks for the archive; without one no document is accounted for. */
  constructor(archive: Archive, journal: Pick<Journal, "claimed"> | undefined) {
    this.#archive = archive;
    this.#journal = journal;
  }

  /**
   * Why nothing of this name may be sent into this folder without a person's word: there is one of
   * it, and it belongs to no row of these mirrors, the configured ones; what another one sent may be
   * this very file. Lists each folder once. Rejects with `ArchiveError` when that cannot be done.
   */
  async objection(
    name: string,
    folderId: number,
    mirrorIds: readonly number[],
    signal: AbortSignal,
  ): Promise<Trouble | undefined> {
    const ids = (await this.#namesIn(folderId, signal)).get(name.normalize("NFC")) ?? [];
    if (ids.length === 0) return undefined;
    const claimed = await this.#claimed(ids, mirrorIds);
    const [stranger] = ids.filter((id) => !claimed.has(id));
    if (stranger === undefined) return undefined;
    const found = `the archive holds ${name} in that folder already (document ${stranger})`;
    const isFormer = (await this.#claimed([stranger])).has(stranger);
    const message = isFormer ? `${found}${OF_FORMER_MIRROR}` : found;
    return { code: "FIRST_RUN", message };
  }

  /** An `objection` to something in this folder will be asked for: it is listed beside others. */
  foresee(folderId: number, signal: AbortSignal): void {
    this.#namesIn(folderId, signal).catch(() => {});
  }

  /** Folders are listed anew. */
  forget(): void {
    this.#folders.clear();
  }

  async #claimed(ids: readonly number[], mirrorIds?: readonly number[]): Promise<Set<number>> {
    return (await this.#journal?.claimed(ids, mirrorIds)) ?? new Set();
  }

  #namesIn(folderId: number, signal: AbortSignal): Promise<Names> {
    const known = this.#folders.get(folderId);
    if (known) return known;
    const listing = this.#list(folderId, signal);
    this.#folders.set(folderId, listing);
    listing.catch(() => this.#folders.delete(folderId));
    return listing;
  }

  async #list(folderId: number, signal: AbortSignal): Promise<Names> {
    const names = new Map<string, number[]>();
    const query = { folderId, paginationSize: PAGE_SIZE };
    for await (const { id, filename } of allDocuments(this.#archive, query, signal)) {
      const name = filename.normalize("NFC");
      names.set(name, [...(names.get(name) ?? []), id]);
    }
    return names;
  }
}
