import type { Mirror } from "../../config/config.ts";
import type { Document } from "../../domain/document.ts";
import type { Journal } from "../../journal/journal.ts";
import { codeOf } from "../../std/fault.ts";
import { joinRaw } from "../../std/raw-path.ts";
import { type Here, isHere, lookAtPlaces } from "../../sync/former-places.ts";
import { type Found, type Lookable, sentByOthers } from "../../sync/other-mirrors.ts";
import { Looker, type LookerOptions } from "../looker.ts";
import type { KnownArchive } from "./known-archives.ts";

/** The archive's other mirrors, which a file may have been moved from. Their sources are looked at only for that. */
export class OtherMirrors implements AsyncDisposable {
  readonly #journal: Journal | undefined;
  readonly #mirrors: ReadonlyMap<number, Mirror>;
  readonly #options: LookerOptions;
  readonly #lookers = new Map<number, Promise<Looker | undefined>>();

  constructor(mirrors: readonly Mirror[], known: KnownArchive | undefined, options: LookerOptions) {
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
  async has(found: Omit<Found, "settingsOf" | "others">, followed: Set<number>): Promise<boolean> {
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
    const looker = await this.#looker(row.mirrorId, settings);
    // A source that is away tells nothing; a run waits for it.
    if (!looker?.status.online) return true;
    const other = { reader: looker.reader, row: { id: row.mirrorId } };
    const [place] = await lookAtPlaces(other, [joinRaw(row.dir, row.name)], here.path);
    return isHere(row, place, here);
  }

  async #others(ownId: number): Promise<Lookable[]> {
    const opened = [...this.#mirrors].map(async ([id, settings]) => {
      const looker = id === ownId ? undefined : await this.#looker(id, settings);
      return looker?.status.online ? [{ reader: looker.reader, row: { id } }] : [];
    });
    return (await Promise.all(opened)).flat();
  }

  #looker(id: number, settings: Mirror): Promise<Looker | undefined> {
    const known = this.#lookers.get(id);
    if (known) return known;
    const opened = Looker.open(settings, { id, device: null }, this.#options).catch((error) => {
      if (codeOf(error) === "SOURCE_OFFLINE") return undefined;
      throw error;
    });
    this.#lookers.set(id, opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const looker of this.#lookers.values()) await (await looker)?.reader.close();
  }
}
