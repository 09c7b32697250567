/**
 * A journal that was taken back to an earlier state (a snapshot of the machine, a restored disk or database) knows
 * nothing of what was sent since. The archive does: that came later than every document that the journal knows, in
 * the folder it was sent to, and in the archive. Anyone who else uploads looks the same, so that this names suspects, and
 * proves nothing.
 */
import type { Archive } from "../archive/archive.ts";
import { UNCLEAN_KEYS } from "../journal/cluster.ts";
import type { ArchiveState, ContentIndex, DocumentReader } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { lagOf } from "./archive-clocks.ts";
import { documentsIn, isForeign, type Listed, type Where } from "./foreign-documents.ts";
import type { ReadingNote } from "./reading-note.ts";

/** Documents a page of a folder. Those that come later are few, unless others fill it. */
const PAGE_SIZE = 200;

/** So many in a row that are too old: those that follow are older still. */
const OLDER_MIN = 50;

/** For so long suspects are looked for from the same moment on, whatever was sent since. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** From when on there are suspects in a folder, or in the archive, by the archive's clock, and when that was found out, by ours. */
type Kept = { readonly since: number; readonly at: number };

type Parts = {
  readonly archive: Archive;
  /** Speaks for the archive. */
  readonly journal: ArchiveState & ContentIndex & DocumentReader;
  readonly clock: Clock;
  /** How far the dates of documents may differ from one another, milliseconds. */
  readonly toleranceMs: number;
  /** False: nothing is remembered (`plan`). */
  readonly remembers: boolean;
  readonly note?: ReadingNote;
};

export class LaterUploads {
  readonly #parts: Parts;
  /** What was sent since says nothing of what the journal knew. */
  #startedAt: number;
  /** The archive may know more than the journal; undefined: nobody has asked. */
  #isBehind: boolean | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
    if (!parts.remembers) this.#isBehind = true;
  }

  /** The machine may have been taken back with its memory. */
  suspect(): void {
    this.#startedAt = this.#parts.clock.now();
    this.#isBehind = true;
  }

  /**
   * Whether the whole archive is to be asked, and not only the folder that is sent to: the last daemon did not end in
   * good order, a folder has suspects, or nothing that this journal knows, or there were suspects within a week.
   */
  async isBehind(): Promise<boolean> {
    const { journal, clock } = this.#parts;
    const kept = keptIn(await journal.keyValue(this.#keyOf({})), clock.now());
    const isUnclean = await this.#sinceUnclean();
    this.#isBehind ??= kept !== undefined || isUnclean;
    return this.#isBehind;
  }

  /**
   * Whether a daemon ended in disorder, and the whole archive was not asked since. What was sent by those that came
   * after it says no more of what the journal knew then than what this one sends.
   */
  async #sinceUnclean(): Promise<boolean> {
    const { journal, remembers } = this.#parts;
    const key = `${UNCLEAN_KEYS}${journal.archiveId}`;
    const unclean = await journal.keyValue(key);
    if (!unclean) return false;
    const at = Number(unclean);
    if (Number.isFinite(at)) this.#startedAt = Math.min(this.#startedAt, at);
    else if (remembers) await journal.setKeyValue(key, `${this.#startedAt}`);
    return true;
  }

  /** The whole archive was asked, as far as it answers: not again before another daemon ends in disorder. */
  async asked(): Promise<void> {
    const { journal, remembers } = this.#parts;
    const key = `${UNCLEAN_KEYS}${journal.archiveId}`;
    if (remembers && (await journal.keyValue(key))) await journal.setKeyValue(key, "");
  }

  /**
   * The documents there that came no sooner than the latest that the journal knows, among them those that no row
   * accounts for; all of them where it knows none. Reads no further than that. Remembers for a week from when on,
   * since what is sent from now on is later still. Rejects with `ArchiveError`.
   */
  async newest(where: Where, signal: AbortSignal): Promise<Listed[]> {
    const { archive, journal, clock, toleranceMs, remembers, note } = this.#parts;
    await this.#sinceUnclean();
    const key = this.#keyOf(where);
    const before = await journal.keyValue(key);
    const kept = keptIn(before, clock.now());
    const marginMs = Math.max(toleranceMs, await lagOf({ journal }));
    let latest = 0;
    const earliest = () => Math.min(latest, kept?.since ?? latest) - marginMs;
    const isFolder = "folderId" in where;
    const bounds = {
      note,
      earliest,
      olderMin: OLDER_MIN,
      ...(isFolder && { pageSize: PAGE_SIZE }),
    };
    const all: Listed[] = [];
    for await (const each of documentsIn(where, { archive, journal, ...bounds }, signal)) {
      all.push(each);
      if (!isForeign(each)) latest = Math.max(latest, this.#sentBy(each));
    }
    const late = all.filter(({ uploadedDate }) => uploadedDate >= earliest());
    const hasSuspects = late.some(isForeign);
    if (isFolder && (hasSuspects || latest === 0)) this.#isBehind = true;
    const now: Kept = kept ?? { since: latest, at: clock.now() };
    const after = hasSuspects ? JSON.stringify(now) : "";
    if (remembers && after !== (before ?? "")) await journal.setKeyValue(key, after);
    return late;
  }

  /**
   * When the journal says that it sent a document of its own, by the archive's clock: one that it sent before it was
   * taken back, and then again, was in doubt there and is found later than what was sent in between. 0 for one that was
   * sent since the start.
   */
  #sentBy({ uploadedDate, sentAt }: Listed): number {
    const startedAt = this.#startedAt + (this.#parts.archive.clockOffsetMs ?? 0);
    const by = sentAt ?? uploadedDate;
    return by >= startedAt ? 0 : Math.min(uploadedDate, by);
  }

  #keyOf(where: Where): string {
    return `later:${this.#parts.journal.archiveId}/${"folderId" in where ? where.folderId : "*"}`;
  }
}

/** Undefined where nothing was kept, or long ago. */
function keptIn(text: string | null, now: number): Kept | undefined {
  if (!text) return undefined;
  // Written by `newest` alone.
  const kept = JSON.parse(text) as Kept;
  return Math.abs(now - kept.at) < KEPT_MS ? kept : undefined;
}
