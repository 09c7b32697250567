/** Guards against sending what the archive may hold: a document that no row accounts for may be a file that is here. */
import type { Archive } from "../archive/archive.ts";
import type { Document, Problem } from "../domain/document.ts";
import { type Candidate, mayBeBytes } from "../domain/reconcile.ts";
import type { StoredSize } from "../domain/stored-size.ts";
import type { ContentIndex } from "../journal/journal.ts";
import { byName, documentsIn, type CandidatesByName, conflictsOf } from "./foreign-documents.ts";
import { type Reading, WholeArchive } from "./whole-archive.ts";

const OF_FORMER_MIRROR =
  ", sent for a mirror that is not configured any more: if this is that mirror, give it its name back";

const LATER =
  ", uploaded later than any that this journal knows there: the journal may have been taken back to an earlier state";

const ASKED = ", uploaded after it was asked for as a new document: it may be this very file";

/**
 * `later`: only what came that late is looked at, and in other folders only where the journal may be behind; without it
 * everything is, in every folder. `storedSize` is the archive's.
 */
type Scope = Reading & { readonly storedSize?: StoredSize | undefined };

/** A row that accounts for a document is taken to do so for this long; it may learn that it is another one. */
const ACCOUNTED_MS = 5_000;

/** What knows which documents are whose. */
type Knowing = Pick<ContentIndex, "claimed" | "conflicts">;

/** Why a file is not sent; a `conflict` in doubt may be what speaks against it, and has to be found first. */
export type Objection = Problem | { readonly conflict: Document };

/** A file that is about to be sent, and the archive folder that it goes to. */
export type Outgoing = {
  readonly sentName: string;
  readonly sizeBytes: number;
  readonly folderId: number;
  /** A user has it sent next to what was there before: epoch ms, by the archive's clock. */
  readonly since?: number | undefined;
};

export class SendGuard {
  readonly #archive: Archive;
  readonly #journal: Knowing | undefined;
  readonly #scope: Scope;
  readonly #whole: WholeArchive;
  readonly #folders = new Map<number, Promise<CandidatesByName>>();
  /** Documents that rows account for, and since when these were gathered. */
  readonly #accounted = new Set<number>();
  #accountedAt = 0;

  /** `journal` speaks for the archive; without one no document is accounted for. */
  constructor(archive: Archive, journal: Knowing | undefined, scope: Scope = {}) {
    this.#archive = archive;
    this.#journal = journal;
    this.#scope = scope;
    this.#whole = new WholeArchive(archive, scope);
  }

  /** Why not all of the archive could be searched for what is filed elsewhere; see `WholeArchive.unasked`. */
  get unasked(): string | null {
    return this.#whole.unasked;
  }

  /**
   * Why nothing of this name may be sent into this folder without a person's word: there is one of
   * it, and it belongs to no row of these mirrors, the configured ones; what another one sent may be
   * this very file. Or there is one of its size, which nobody accounts for, in another folder. Lists each folder once.
   * Rejects with `ArchiveError` when that cannot be done.
   *
   * With `later`, what has another size is no objection, unless the archive changes documents: it has another content, or
   * another instance sent it.
   */
  async objection(
    outgoing: Outgoing,
    mirrorIds: readonly number[],
    signal: AbortSignal,
  ): Promise<Objection | undefined> {
    return (
      (await this.#here(outgoing, mirrorIds, signal)) ?? (await this.#elsewhere(outgoing, signal))
    );
  }

  async #here(
    { sentName, sizeBytes, folderId, since }: Outgoing,
    mirrorIds: readonly number[],
    signal: AbortSignal,
  ): Promise<Problem | undefined> {
    const named = (await this.#namesIn(folderId, signal)).get(sentName.normalize("NFC")) ?? [];
    const { later, storedSize } = this.#scope;
    const candidates =
      later || since !== undefined
        ? named.filter((each) => mayBeBytes(each, sizeBytes, storedSize) && isSince(each, since))
        : named;
    const foreign = await this.#foreign(candidates, later ? undefined : mirrorIds);
    if (!foreign) return undefined;
    const found = `the archive holds ${sentName} in that folder already (document ${foreign.id})`;
    if (later) return { code: "FIRST_RUN", message: `${found}${LATER}` };
    if (since !== undefined) return { code: "FIRST_RUN", message: `${found}${ASKED}` };
    const isFormer = !(await this.#foreign([foreign]));
    return { code: "FIRST_RUN", message: isFormer ? `${found}${OF_FORMER_MIRROR}` : found };
  }

  /** People may have filed it elsewhere since it was sent. */
  async #elsewhere(
    { sentName, sizeBytes, folderId, since }: Outgoing,
    signal: AbortSignal,
  ): Promise<Objection | undefined> {
    const { later, storedSize } = this.#scope;
    if (later && !(await later.isBehind())) return undefined;
    const listed = [...(await this.#namesIn(folderId, signal)).values()].flat();
    const known = new Set(listed.map(({ id }) => id));
    const named = await this.#whole.named(sentName, listed, signal);
    const candidates = named.filter(
      (each) =>
        // Read at another time: what it shows here, and the folder's own list does not, was filed elsewhere.
        !known.has(each.id) && mayBeBytes(each, sizeBytes, storedSize) && isSince(each, since),
    );
    const foreign = await this.#foreign(this.#unaccounted(candidates));
    if (!foreign) {
      for (const { id } of candidates) this.#accounted.add(id);
      return undefined;
    }
    const [conflict] = await conflictsOf(this.#journal, { sentName }, [foreign]);
    if (conflict) return { conflict };
    const where = `document ${foreign.id} in folder ${foreign.folderId}`;
    const message = `the archive holds ${sentName} of its size in another folder (${where})`;
    return { code: "FIRST_RUN", message: later ? `${message}${LATER}` : message };
  }

  /** An `objection` to something in this folder will be asked for: it is listed next to others. */
  foresee(folderId: number, signal: AbortSignal): void {
    this.#namesIn(folderId, signal).catch(() => {});
  }

  /** The archive is asked again. */
  forget(): void {
    this.#folders.clear();
    this.#whole.forget();
    this.#scope.later?.suspect();
  }

  /** Those of which it was not just seen that rows account for them: where each folder has a 1.pdf, there are thousands. */
  #unaccounted(candidates: readonly Candidate[]): readonly Candidate[] {
    const now = this.#scope.clock?.monotonic() ?? 0;
    if (now - this.#accountedAt >= ACCOUNTED_MS) {
      this.#accounted.clear();
      this.#accountedAt = now;
    }
    return candidates.filter(({ id }) => !this.#accounted.has(id));
  }

  /** The first of these that no row accounts for, or none of these mirrors. */
  async #foreign(
    candidates: readonly Candidate[],
    mirrorIds?: readonly number[],
  ): Promise<Candidate | undefined> {
    const ids = candidates.map(({ id }) => id);
    const claimed = ids.length === 0 ? undefined : await this.#journal?.claimed(ids, mirrorIds);
    return candidates.find(({ id }) => claimed?.has(id) !== true);
  }

  #namesIn(folderId: number, signal: AbortSignal): Promise<CandidatesByName> {
    const known = this.#folders.get(folderId);
    if (known) return known;
    const listing = this.#list(folderId, signal);
    this.#folders.set(folderId, listing);
    listing.catch(() => this.#folders.delete(folderId));
    return listing;
  }

  async #list(folderId: number, signal: AbortSignal): Promise<CandidatesByName> {
    const archive = this.#archive;
    const documents =
      (await this.#scope.later?.newest({ folderId }, signal)) ??
      documentsIn({ folderId }, { archive }, signal);
    return byName(documents);
  }
}

function isSince({ uploadedDate }: Candidate, since = 0): boolean {
  return uploadedDate >= since;
}
