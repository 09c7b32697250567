import type { Archive, DocumentsQuery, FoldersQuery } from "../../src/archive/archive.ts";
import { ArchiveError } from "../../src/archive/archive-error.ts";
import type { Clock } from "../../src/std/clock.ts";
import { InvariantError } from "../../src/std/invariant.ts";
import type { Document, DocumentDetail, FolderDetail } from "../../src/wire/shapes.ts";
import type { Dice } from "./dice.ts";
import type { Trace } from "./trace.ts";
import { CALM, type Weather } from "./weather.ts";

/** What a reader gives the archive. */
export type SimulatedUpload = {
  readonly folderId: number;
  readonly filename: string;
  readonly content: string;
  readonly sizeBytes: number;
};

/** A document of the archive's store. Times are by the monotonic clock. */
export type StoredDocument = SimulatedUpload & {
  readonly id: number;
  /** When it is in the store for all to see. */
  readonly committedAt: number;
  /** When its size is known, and when it is CONVERTED. */
  readonly sizedAt: number;
  readonly convertedAt: number;
  readonly removed: boolean;
};

const EPOCH = 1_700_000_000_000;

/** What never succeeds, whatever the weather. */
export const POISON = "poison";

/**
 * An archive in memory that loses replies, commits late, lists stale and in small pages, and
 * refuses, as its weather says. A request that reached it is done even if whoever sent it is not
 * there any more.
 */
export class SimulatedArchive implements Archive {
  weather: Weather = CALM;
  readonly stored: StoredDocument[] = [];
  readonly #clock: Clock;
  readonly #dice: Dice;
  readonly #trace: Trace;
  readonly #folders = new Map<number, FolderDetail & { path: string }>();
  /** Its clock minus the true time. */
  readonly #skewMs: number;
  readonly #tellsTime: boolean;
  readonly #pageSize: number;
  #clockOffsetMs: number | undefined;
  #nextId = 100;

  constructor(clock: Clock, dice: Dice, trace: Trace) {
    this.#clock = clock;
    this.#dice = dice;
    this.#trace = trace;
    this.#tellsTime = dice.chance(0.8);
    this.#skewMs = dice.int(-1, 1) * (this.#tellsTime ? 3_600_000 : 240_000);
    this.#pageSize = dice.pick([2, 3, 1_000]) ?? 3;
    this.#folders.set(1, { id: 1, name: "", createdDate: 0, root: true, path: "/" });
  }

  get clockOffsetMs(): number | undefined {
    return this.#clockOffsetMs;
  }

  /** Makes the folder of a path, and those above it. */
  addFolder(path: string): number {
    const known = this.folderAt(path);
    if (known !== undefined) return known;
    const slash = path.lastIndexOf("/");
    const parentId = this.addFolder(path.slice(0, slash) || "/");
    const id = this.#nextId++;
    const name = path.slice(slash + 1);
    this.#folders.set(id, { id, parentId, name, createdDate: 0, root: false, path });
    return id;
  }

  folderAt(path: string): number | undefined {
    return [...this.#folders.values()].find((folder) => folder.path === path)?.id;
  }

  /** Somebody removes a document in the archive. */
  remove(id: number): void {
    const at = this.stored.findIndex((document) => document.id === id);
    const document = this.stored[at];
    if (document) this.stored[at] = { ...document, removed: true };
  }

  /** One upload; resolves and rejects as `Archive.upload` does. */
  async store(upload: SimulatedUpload, signal: AbortSignal): Promise<{ id: number }> {
    const { weather } = this;
    const dice = this.#dice;
    if (this.weather.outage || dice.chance(weather.unreachable)) throw unreachable();
    const cut = Promise.withResolvers<"cut">();
    signal.addEventListener("abort", () => cut.resolve("cut"), { once: true });
    const sleeping = this.#clock.sleep(dice.int(1, 3) ** 6, new AbortController().signal);
    const ended = await Promise.race([sleeping.then(() => "whole" as const), cut.promise]);
    if (ended === "cut") {
      if (dice.chance(0.5)) this.#commit(upload, dice.int(0, weather.lateMs));
      throw lost("SEND_ABORTED", "cut while it was sent");
    }
    this.#assertTaken(upload);
    const fate = dice.random();
    if (fate < weather.lostUnstored) {
      this.#trace.add("archive", `lost, not stored: ${upload.filename} ${upload.content}`);
      throw lost("CONNECTION_LOST", "the connection broke");
    }
    if (fate < weather.lostUnstored + weather.lostStored) {
      this.#commit(upload, dice.chance(0.5) ? 0 : dice.int(0, weather.lateMs));
      throw lost("CONNECTION_LOST", "the reply was lost");
    }
    return { id: this.#commit(upload, 0) };
  }

  async documents(
    { folderId = 1, paginationIndex = 0, sortDesc }: DocumentsQuery,
    signal: AbortSignal,
  ) {
    await this.#answer(signal);
    this.#assertFolder(folderId);
    const asOf = this.#asOf();
    const sign = sortDesc ? -1 : 1;
    const all = this.stored
      .filter((each) => each.folderId === folderId && !each.removed && each.committedAt <= asOf)
      .sort((a, b) => sign * (a.committedAt - b.committedAt || a.id - b.id))
      .map((each) => this.#detail(each, asOf));
    const doubled = all.flatMap((item) =>
      this.#dice.chance(this.weather.doubled) ? [item, item] : [item],
    );
    const { items, ...page } = this.#page(doubled, paginationIndex);
    return { ...page, documents: items };
  }

  async document(id: number, signal: AbortSignal): Promise<Document> {
    await this.#answer(signal);
    const asOf = this.#asOf();
    const document = this.stored.find((each) => each.id === id && !each.removed);
    if (!document || document.committedAt > asOf) throw refused("DOC_NOT_EXIST");
    return this.#detail(document, asOf);
  }

  async folders({ folderId = 1, paginationIndex = 0 }: FoldersQuery, signal: AbortSignal) {
    await this.#answer(signal);
    this.#assertFolder(folderId);
    const all = [...this.#folders.values()].filter((each) => each.parentId === folderId);
    const { items, ...page } = this.#page(all, paginationIndex);
    return { ...page, folders: items };
  }

  async folder(id: number | undefined, signal: AbortSignal) {
    await this.#answer(signal);
    return this.#assertFolder(id ?? 1);
  }

  async digidoc(): Promise<never> {
    throw new InvariantError("nothing here is a digidoc");
  }

  async search(): Promise<never> {
    throw new InvariantError("nothing here searches");
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
    if (this.#tellsTime) {
      const told = Math.floor(this.#now() / 1_000) * 1_000;
      this.#clockOffsetMs = told - this.#clock.now();
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
    if (this.#dice.chance(weather.strange)) throw refused("STRANGE_MOOD");
    if (content.startsWith(POISON)) throw refused("FILE_SIZE_TOO_BIG");
    this.#assertFolder(folderId);
  }

  #commit(upload: SimulatedUpload, lateMs: number): number {
    const id = this.#nextId++;
    const committedAt = this.#clock.monotonic() + lateMs;
    const sizedAt = committedAt + this.#dice.int(0, this.weather.conversionMs);
    const convertedAt = sizedAt + this.#dice.int(0, this.weather.conversionMs);
    this.stored.push({ ...upload, id, committedAt, sizedAt, convertedAt, removed: false });
    this.#trace.add(
      "archive",
      `stores ${upload.filename} ${upload.content} as ${id}, late ${lateMs}`,
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

  #detail(document: StoredDocument, asOf: number): DocumentDetail {
    const { id, folderId, filename, committedAt, sizedAt, convertedAt, sizeBytes } = document;
    const uploadedDate = EPOCH + committedAt + this.#skewMs;
    const converted = convertedAt <= asOf;
    const documentName = filename.replace(/\.[^.]*$/, "");
    return {
      id,
      folderId,
      digidoc: false,
      documentName,
      filename,
      uploadedDate,
      createdDate: uploadedDate,
      pages: converted ? 1 : 0,
      filesize: sizedAt <= asOf ? sizeBytes : 0,
      status: converted ? "CONVERTED" : "UPLOADED",
    };
  }

  #page<Item>(all: readonly Item[], index: number) {
    const paginationSize = this.#pageSize;
    const from = index * paginationSize;
    return {
      paginationSize,
      paginationPages: Math.ceil(all.length / paginationSize),
      items: all.slice(from, from + paginationSize),
    };
  }

  #assertFolder(id: number): FolderDetail {
    const folder = this.#folders.get(id);
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
