import type { Mirror } from "../../config/config.ts";
import type { Document } from "../../domain/document.ts";
import type { Journal } from "../../journal/journal.ts";
import { codeOf } from "../../std/fault.ts";
import { joinRaw } from "../../std/raw-path.ts";
import { type Here, isHere, lookAtPlaces } from "../../sync/former-places.ts";
import { type Lookable, sentByOthers, type WholeFile } from "../../sync/other-mirrors.ts";
import { StatReader, type StatReaderOptions } from "../stat-reader.ts";
import type { KnownArchive } from "./destinations.ts";

/** The archive's other mirrors, which a file may have been moved from. Their sources are looked at only for that. */
export class OtherMirrors implements AsyncDisposable {
  readonly #journal: Journal | undefined;
  readonly #mirrors: ReadonlyMap<number, Mirror>;
  readonly #options: StatReaderOptions;
  readonly #statReaders = new Map<number, Promise<StatReader | undefined>>();

  constructor(
    mirrors: readonly Mirror[],
    known: KnownArchive | undefined,
    options: StatReaderOptions,
  ) {
    this.#journal = known?.journal;
    this.#options = options;
    this.#mirrors = new Map(
      mirrors.flatMap((mirror) => {
        const row = known?.mirrors.get(mirror.name);
        return row ? [[row.id, mirror] as const] : [];
      }),
    );
  }

  /** Whether it is the file of a row of another mirror that is none of `followed`, to which it is added then. */
  async has(
    found: Omit<WholeFile, "settingsOf" | "others">,
    followed: Set<number>,
  ): Promise<boolean> {
    if (!this.#journal) return false;
    const settingsOf = (id: number) => this.#mirrors.get(id);
    const others = () => this.#others(found.mirror.row.id);
    for (const row of await sentByOthers(this.#journal, { ...found, settingsOf, others })) {
      if (followed.has(row.id) || !(await this.#isMoved(row, found.here))) continue;
      followed.add(row.id);
      return true;
    }
    return false;
  }

  async #isMoved(row: Document, here: Here): Promise<boolean> {
    const settings = this.#mirrors.get(row.mirrorId);
    if (!settings) return true;
    const statReader = await this.#statReader(row.mirrorId, settings);
    // A source that is away tells nothing; a run waits for it.
    if (!statReader?.status.online) return true;
    const other = { reader: statReader.reader, row: { id: row.mirrorId } };
    const [place] = await lookAtPlaces(other, [joinRaw(row.dir, row.name)], here.path);
    return isHere(row, place, here);
  }

  async #others(ownId: number): Promise<Lookable[]> {
    const opened = [...this.#mirrors].map(async ([id, settings]) => {
      const statReader = id === ownId ? undefined : await this.#statReader(id, settings);
      return statReader?.status.online ? [{ reader: statReader.reader, row: { id } }] : [];
    });
    return (await Promise.all(opened)).flat();
  }

  #statReader(id: number, settings: Mirror): Promise<StatReader | undefined> {
    const known = this.#statReaders.get(id);
    if (known) return known;
    const opened = StatReader.open(settings, { id, device: null }, this.#options).catch((error) => {
      if (codeOf(error) === "SOURCE_OFFLINE") return undefined;
      throw error;
    });
    this.#statReaders.set(id, opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const statReader of this.#statReaders.values()) await (await statReader)?.reader.close();
  }
}
