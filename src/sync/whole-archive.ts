/**
 * What the archive holds, in whatever folder people have filed it: read by search, in pages, once, since after a lost
 * journal every document is asked for. Whether a search without a criterion finds everything is an open point of the
 * interface: what does not show the documents that folders list, or that the journal knows, is asked with a criterion
 * that all fulfil; then each name is, and what could not be asked is said.
 */
import type { Archive, SearchQuery } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import type { Candidate } from "../domain/reconcile.ts";
import {
  byName,
  documentsIn,
  isForeign,
  isForGood,
  type Listed,
  type CandidatesByName,
} from "./foreign-documents.ts";
import type { Clock } from "../std/clock.ts";
import type { LaterUploads } from "./later-uploads.ts";
import type { ReadingNote } from "./reading-note.ts";

/** How often a search is begun that fails while the archive answers otherwise. */
const TRIES = 3;

/** A search that fails for so long, while the archive answers otherwise, is never answered. */
const SEARCHED_MS = 10 * 60_000;

/** Ways to ask for everything, one after the other until one shows what is known to be there. */
const QUESTIONS: readonly SearchQuery[] = [{}, { filesizeStart: 0 }];

/** A document that a folder lists. */
export type Known = Pick<Candidate, "id" | "filename">;

/** How the archive is read. */
export type Reading = {
  /** No further back than to what the journal knows. */
  readonly later?: LaterUploads | undefined;
  /** Of a caller that asks again where this rejects: a search that fails is given up after ten minutes, and not at once. */
  readonly clock?: Clock | undefined;
  /** Says how far it is. */
  readonly note?: ReadingNote | undefined;
};

/** What is said where not all could be asked. */
export function unaskedText(why: string): string {
  return `documents that were filed in other folders of the archive may be sent again: not all could be asked, since ${why}`;
}

export class WholeArchive {
  readonly #archive: Pick<Archive, "documents" | "folder" | "search">;
  readonly #later: LaterUploads | undefined;
  readonly #clock: Clock | undefined;
  readonly #note: ReadingNote | undefined;
  #reading: Promise<CandidatesByName | undefined> | undefined;
  #unasked: string | null = null;
  #failingSince: number | undefined;

  constructor(
    archive: Pick<Archive, "documents" | "folder" | "search">,
    { later, clock, note }: Reading = {},
  ) {
    this.#archive = archive;
    this.#later = later;
    this.#clock = clock;
    this.#note = note;
  }

  /** Why not all could be asked, in words that follow "since"; null where all was, or nothing yet. */
  get unasked(): string | null {
    return this.#unasked;
  }

  /**
   * Documents of this name, in any folder. The first call reads them all; `known` are some that folders list, by which it
   * sees whether these are all. Where they cannot be read, as they are too many, each name is asked for. Rejects with
   * `ArchiveError` where the archive may answer later.
   */
  async named(
    sentName: string,
    known: readonly Known[],
    signal: AbortSignal,
  ): Promise<readonly Candidate[]> {
    this.#reading ??= this.#all(known, signal);
    const reading = this.#reading;
    reading.catch(() => {
      if (this.#reading === reading) this.forget();
    });
    const all = await reading;
    if (!all) return this.#byName(sentName, signal);
    return all.get(sentName.normalize("NFC")) ?? [];
  }

  /** All is read again. */
  forget(): void {
    this.#reading = undefined;
  }

  /** Undefined where each name is to be asked for. */
  async #all(known: readonly Known[], signal: AbortSignal): Promise<CandidatesByName | undefined> {
    const found = new Map<number, Listed>();
    for (const question of QUESTIONS) {
      const failure = await this.#ask(question, found, signal, this.#note);
      const isAll = this.#later
        ? [...found.values()].some((each) => !isForeign(each))
        : found.size > 0 && known.every(({ id }) => found.has(id));
      const isShort = !isAll && found.size + known.length > 0;
      this.#unasked =
        failure?.message ?? (isShort ? "its search leaves out what folders list" : null);
      if (isAll) break;
    }
    await this.#note?.end();
    await this.#later?.asked();
    const isWhole = this.#unasked === null || this.#later !== undefined;
    const [one] = known.length > 0 ? known : found.values();
    const isByName = !isWhole && one !== undefined && (await this.#findsByName(one, signal));
    this.#failingSince = undefined;
    return isByName ? undefined : byName(found.values());
  }

  /** Whether search shows by its name what is known to be there. */
  async #findsByName(one: Known, signal: AbortSignal): Promise<boolean> {
    const why = this.#unasked;
    const named = await this.#byName(one.filename, signal);
    const isFound = this.#unasked === null && named.some(({ id }) => id === one.id);
    if (!isFound) this.#unasked = why;
    return isFound;
  }

  async #byName(name: string, signal: AbortSignal): Promise<readonly Candidate[]> {
    const found = new Map<number, Listed>();
    const question = { docFilename: name, queryContent: false };
    const failure = await this.#ask(question, found, signal);
    if (!failure) this.#failingSince = undefined;
    this.#unasked = failure?.message ?? null;
    const isNamed = ({ filename }: Candidate) =>
      filename.normalize("NFC") === name.normalize("NFC");
    return [...found.values()].filter(isNamed);
  }

  /** Adds what this question finds; why not all of that, where it is no use to wait. */
  async #ask(
    question: SearchQuery,
    found: Map<number, Listed>,
    signal: AbortSignal,
    note?: ReadingNote,
  ): Promise<ArchiveError | null> {
    const archive = this.#archive;
    for (let tries = 1; ; tries++) {
      try {
        const all =
          (await this.#later?.newest(question, signal)) ??
          documentsIn(question, { archive, note }, signal);
        for await (const each of all) found.set(each.id, each);
        return null;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ArchiveError)) throw error;
        if (isForGood(error) || error.code === "REPLY_UNREADABLE") return error;
        if (error.kind !== "inDoubt") throw error;
        // It may be the archive that fails, or this question alone.
        await archive.folder(undefined, signal);
        if (tries < TRIES) continue;
        if (this.#mayAskAgain()) throw error;
        return error;
      }
    }
  }

  #mayAskAgain(): boolean {
    if (!this.#clock) return false;
    const now = this.#clock.monotonic();
    this.#failingSince ??= now;
    return now - this.#failingSince < SEARCHED_MS;
  }
}
