import type {
  Archive,
  DigidocQuery,
  DocumentsQuery,
  FoldersQuery,
  SearchQuery,
} from "../../src/archive/archive.ts";
import { ArchiveError } from "../../src/archive/archive-error.ts";
import { InvariantError } from "../../src/std/fault.ts";
import type { ArchiveDocument, FolderDetail } from "../../src/wire/shapes.ts";
import type { ManualClock } from "../fakes/manual-clock.ts";
import type { Dice } from "./dice.ts";
import { hollowDocuments, hollowFolders, prooflessReply, refusalBefore } from "./lies.ts";
import { SimulatedFolders } from "./simulated-folders.ts";
import {
  contentsOf,
  detailOf,
  type SimulatedUpload,
  type StoredDocument,
} from "./stored-document.ts";
import type { Trace } from "./trace.ts";
import { CALM, type Weather } from "./weather.ts";

const EPOCH = 1_700_000_000_000;

/** So long before it begins to be sent, a document's folder may have been found. */
const PLACED_MS = 120_000;

/** Lists that may be read at a time, by pages. */
const LISTS_MAX = 50;

/** What never succeeds, whatever the weather. */
export const POISON = "poison";

/**
 * An archive in memory that loses replies, commits late, lists stale and in small pages, and
 * refuses, as its weather says. A request that reached it is done even if anyone who sent it is not
 * there any more.
 */
export class SimulatedArchive implements Archive {
  weather: Weather = CALM;
  readonly stored: StoredDocument[] = [];
  readonly #clock: ManualClock;
  readonly #dice: Dice;
  readonly #trace: Trace;
  readonly tree = new SimulatedFolders(
    () => this.#nextId++,
    () => this.#clock.monotonic(),
  );
  /** Replies tell its time. */
  readonly tellsTime: boolean;
  /** Ids that the daemon has journaled. */
  readonly #owned: () => readonly number[];
  /** Its clock minus the true time. */
  readonly #skewMs: number;
  pageSize: number;
  /** Its clock minus the monotonic one, as it was last told. */
  #offsetMs: number | undefined;
  /** Lists that are being read: how far, and by how many they were moved on meanwhile. */
  readonly #lists: { readonly folderId: number; next: number; shift: number }[] = [];
  #nextId = 100;

  constructor(clock: ManualClock, dice: Dice, trace: Trace, owned: () => readonly number[]) {
    this.#clock = clock;
    this.#dice = dice;
    this.#trace = trace;
    this.#owned = owned;
    this.tellsTime = dice.chance(0.8);
    this.#skewMs = dice.int(-1, 1) * (this.tellsTime ? 3_600_000 : 240_000);
    this.pageSize = dice.pick([2, 3, 1_000]) ?? 3;
  }

  get clockOffsetMs(): number | undefined {
    if (this.#offsetMs === undefined) return undefined;
    return this.#offsetMs + this.#clock.monotonic() - this.#clock.now();
  }

  /** Someone removes documents in the archive. */
  remove(isMeant: (document: StoredDocument) => boolean): void {
    for (const [at, document] of this.stored.entries()) {
      if (isMeant(document) && !document.removed)
        this.stored[at] = { ...document, removed: true, removedAt: this.#clock.monotonic() };
    }
  }

  /** Someone files a document elsewhere, or gives it another name. */
  file(id: number, set: Partial<Pick<StoredDocument, "folderId" | "filename">>): void {
    const at = this.stored.findIndex((each) => each.id === id && !each.removed);
    const document = this.stored[at];
    if (document) this.stored[at] = { ...document, ...set, filed: true };
  }

  /** Someone removes a folder with all that is in it, or will be. */
  removeFolder(id: number): void {
    const gone = new Set(this.tree.remove(id));
    this.remove(({ folderId }) => gone.has(folderId));
  }

  /** Puts a document in, ours or someone else's, in a while; returns its id. */
  add(
    upload: SimulatedUpload,
    { foreign, lateMs = 0 }: { foreign: boolean; lateMs?: number },
  ): number {
    return this.#commit(upload, lateMs, foreign);
  }

  /** One upload, whose end is sent if it may be; resolves and rejects as `Archive.upload` does. */
  async store(
    upload: SimulatedUpload,
    signal: AbortSignal,
    mayEnd: () => Promise<boolean> = async () => true,
  ): Promise<{ id: number; uploadedDate: number }> {
    const { weather } = this;
    const dice = this.#dice;
    const begunAt = this.#clock.monotonic();
    const commit = (lateMs: number) => this.#commit(upload, lateMs, false, begunAt);
    if (weather.outage || dice.chance(weather.unreachable)) throw unreachable();
    const cut = Promise.withResolvers<"cut">();
    signal.addEventListener("abort", () => cut.resolve("cut"), { once: true });
    const sleeping = this.#clock.pass(dice.int(1, 3) ** 6);
    const ended = await Promise.race([sleeping.then(() => "whole" as const), cut.promise]);
    if (ended === "cut") {
      if (dice.chance(0.5)) commit(dice.int(0, weather.lateMs));
      throw lost("SEND_ABORTED", "cut while it was sent");
    }
    if (!(await mayEnd())) throw new ArchiveError("notSent", "LEASE_OVER", "torn without an end");
    this.#assertTaken(upload);
    const fate = dice.random();
    if (fate < weather.lostUnstored) {
      this.#trace.add("archive", `lost, not stored: ${upload.filename} ${upload.content}`);
      throw lost("CONNECTION_LOST", "the connection broke");
    }
    if (fate < weather.lostUnstored + weather.lostStored) {
      commit(dice.chance(0.5) ? 0 : dice.int(0, weather.lateMs));
      throw lost("CONNECTION_LOST", "the reply was lost");
    }
    if (dice.chance(weather.strange)) {
      if (dice.chance(0.7)) commit(dice.chance(0.5) ? 0 : dice.int(0, weather.lateMs));
      throw prooflessReply(dice);
    }
    const id = commit(0);
    const uploadedDate = this.#now();
    // Replies overtake one another.
    await this.#clock.pass(dice.chance(0.2) ? dice.int(0, 20_000) : 0);
    if (dice.chance(weather.swapped)) throw lost("REPLY_MISMATCHED", "another document's reply");
    const other = dice.chance(weather.idTwice) ? dice.pick(this.#owned()) : undefined;
    return { id: other ?? id, uploadedDate };
  }

  async documents(
    { folderId = 1, paginationIndex = 0, sortDesc }: DocumentsQuery,
    signal: AbortSignal,
  ) {
    await this.#answer(signal);
    this.#assertFolder(folderId);
    if (this.#dice.chance(this.weather.hollow)) return hollowDocuments(this.#dice, paginationIndex);
    const asOf = this.#asOf();
    const sign = sortDesc ? -1 : 1;
    const all = this.stored
      .filter((each) => each.folderId === folderId && !each.removed && each.committedAt <= asOf)
      .sort((a, b) => sign * (a.committedAt - b.committedAt || a.id - b.id))
      .map((each) => detailOf(each, asOf, EPOCH + this.#skewMs));
    const shift = this.#shiftOf(folderId, paginationIndex);
    const { items, ...page } = this.#page(all, paginationIndex, shift);
    return { ...page, documents: items };
  }

  async document(id: number, signal: AbortSignal): Promise<ArchiveDocument> {
    await this.#answer(signal);
    const asOf = this.#asOf();
    return detailOf(this.#assertThere(id, asOf, "DOC_NOT_EXIST"), asOf, EPOCH + this.#skewMs);
  }

  async folders({ folderId = 1, paginationIndex = 0 }: FoldersQuery, signal: AbortSignal) {
    await this.#answer(signal);
    this.#assertFolder(folderId);
    if (this.#dice.chance(this.weather.hollow)) return hollowFolders(this.#dice, paginationIndex);
    const { items, ...page } = this.#page(this.tree.childrenOf(folderId), paginationIndex);
    return { ...page, folders: items };
  }

  async folder(id: number | undefined, signal: AbortSignal) {
    await this.#answer(signal);
    return this.#assertFolder(id ?? 1);
  }

  async digidoc({ digidocId, paginationIndex = 0 }: DigidocQuery, signal: AbortSignal) {
    await this.#answer(signal);
    const now = this.#clock.monotonic();
    const document = this.#assertThere(digidocId, now, "INVALID_DIGIDOC_ID");
    if (document.convertedAt > now) throw refused("INVALID_DIGIDOC_ID");
    const { items, ...page } = this.#page(contentsOf(document), paginationIndex);
    return { ...page, documents: items };
  }

  /** By name or for all, by the time of upload: nobody asks otherwise. */
  async search({ docFilename, paginationIndex = 0, sortDesc }: SearchQuery, signal: AbortSignal) {
    await this.#answer(signal);
    const asOf = this.#asOf();
    const sign = sortDesc ? -1 : 1;
    const all = this.stored
      .filter(
        (each) =>
          (docFilename ?? each.filename) === each.filename &&
          !each.removed &&
          each.committedAt <= asOf,
      )
      .sort((a, b) => sign * (a.committedAt - b.committedAt || a.id - b.id))
      .map((each) => detailOf(each, asOf, EPOCH + this.#skewMs));
    const { items, ...page } = this.#page(all, paginationIndex);
    return { ...page, documents: items, folders: [] };
  }

  async upload(): Promise<never> {
    throw new InvariantError("only readers upload");
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Every question: takes its time, and may fail before it is answered. */
  async #answer(signal: AbortSignal): Promise<void> {
    const { weather } = this;
    if (signal.aborted) {
      throw new ArchiveError("notSent", "SEND_ABORTED", "aborted", { cause: signal.reason });
    }
    if (weather.outage || this.#dice.chance(weather.unreachable)) throw unreachable();
    try {
      await this.#clock.sleep(this.#dice.int(0, 2) ** 7, signal);
    } catch {
      throw new ArchiveError("inDoubt", "SEND_ABORTED", "aborted", { cause: signal.reason });
    }
    if (this.#dice.chance(weather.unanswered)) throw lost("ARCHIVE_TIMEOUT", "no answer in time");
    if (this.tellsTime) {
      const told = Math.floor(this.#now() / 1_000) * 1_000;
      this.#offsetMs = told - this.#clock.monotonic();
    }
    if (weather.refusesCredentials) throw unauthorized();
  }

  #assertTaken({ folderId, content }: SimulatedUpload): void {
    const { weather } = this;
    if (weather.refusesCredentials) throw unauthorized();
    if (weather.quota) throw refused("QUOTA_LIMIT");
    if (this.#dice.chance(weather.busy)) {
      throw new ArchiveError("refused", "ARCHIVE_BUSY", "slow down", { retryAfterMs: 2_000 });
    }
    if (this.#dice.chance(weather.forbidden)) throw refusalBefore(this.#dice);
    if (content.startsWith(POISON)) throw refused("FILE_SIZE_TOO_BIG");
    this.#assertFolder(folderId);
  }

  #commit(
    upload: SimulatedUpload,
    lateMs: number,
    foreign: boolean,
    begunAt = this.#clock.monotonic(),
  ): number {
    const id = this.#nextId++;
    const committedAt = this.#clock.monotonic() + lateMs;
    const sizedAt = committedAt + this.#dice.int(0, this.weather.conversionMs);
    const convertedAt = sizedAt + this.#dice.int(0, this.weather.conversionMs);
    const { folderId, filename } = upload;
    this.stored.push({
      ...upload,
      id,
      sent: { folderId, filename },
      folderPaths: this.tree.pathsSince(folderId, begunAt - PLACED_MS),
      storedAt: this.#clock.monotonic(),
      committedAt,
      sizedAt,
      convertedAt,
      removed: false,
      removedAt: null,
      shortened: !foreign && this.#dice.chance(this.weather.shortened),
      foreign,
    });
    this.#trace.add(
      "archive",
      `stores ${foreign ? "someone's " : ""}${upload.filename} ${upload.content} as ${id}, late ${lateMs}`,
    );
    return id;
  }

  #now(): number {
    return EPOCH + this.#clock.monotonic() + this.#skewMs;
  }

  /** The moment an answer is true for: lists and look-ups may be stale. */
  #asOf(): number {
    const { stale, staleMs } = this.weather;
    return this.#clock.monotonic() - (this.#dice.chance(stale) ? this.#dice.int(0, staleMs) : 0);
  }

  /**
   * What has come since the first page was read moves the rest on, so that what was on one page is on the
   * next, too. It never moves back, or a document would be on none.
   */
  #shiftOf(folderId: number, index: number): number {
    if (index === 0) {
      this.#lists.push({ folderId, next: 1, shift: 0 });
      if (this.#lists.length > LISTS_MAX) this.#lists.shift();
      return 0;
    }
    const come = this.#dice.chance(this.weather.doubled) ? 1 : 0;
    // Several may be read at a time, and nobody says which: the one that was moved on most is right for all.
    const read = this.#lists.filter((list) => list.folderId === folderId && list.next === index);
    const shift = Math.max(0, ...read.map((list) => list.shift)) + come;
    for (const list of read) list.shift = shift;
    const [first] = read;
    if (first) first.next += 1;
    return shift;
  }

  /** `shift`: how many come before them that are in no page of this list. */
  #page<Item>(all: readonly Item[], index: number, shift = 0) {
    const paginationSize = this.pageSize;
    const from = index * paginationSize - shift;
    return {
      paginationSize,
      paginationPages: Math.ceil((all.length + shift) / paginationSize),
      items: all.slice(from, from + paginationSize),
    };
  }

  #assertThere(id: number, asOf: number, code: string): StoredDocument {
    const document = this.stored.find((each) => each.id === id && !each.removed);
    if (!document || document.committedAt > asOf) throw refused(code);
    return document;
  }

  #assertFolder(id: number): FolderDetail {
    const folder = this.tree.get(id);
    if (!folder) throw refused("FOLDER_NOT_EXISTS");
    return folder;
  }
}

function refused(code: string): ArchiveError {
  return new ArchiveError("refused", code, `refused: ${code}`);
}

function unauthorized(): ArchiveError {
  const details = { httpStatus: 401, credentials: true };
  return new ArchiveError("refused", "BAD_KEY", "refused: BAD_KEY", details);
}

function unreachable(): ArchiveError {
  return new ArchiveError("notSent", "ARCHIVE_UNREACHABLE", "connection refused");
}

function lost(code: string, message: string): ArchiveError {
  return new ArchiveError("inDoubt", code, message);
}
