import { type Document, mayBeArchived } from "../../domain/document.ts";
import type { Journal } from "../../journal/journal.ts";
import { dirOf, joinRaw, nameOf } from "../../std/raw-path.ts";
import type { LiveMirror } from "../../sync/context.ts";
import { type Here, isHere, lookAtPlaces, mayBeHere } from "../../sync/former-places.ts";
import { recall } from "../../sync/recall.ts";

/** Which files of a mirror need not be sent: what the journal says of their bytes. */
export class Archived {
  readonly #mirror: LiveMirror;
  readonly #journal: Journal | undefined;
  /** What was sent once is one file: of two of its content the second is another document. */
  readonly #followed = { rows: new Set<number>(), remembered: new Set<number>() };

  /** Without a journal nothing was sent. */
  constructor(mirror: LiveMirror, journal: Journal | undefined) {
    this.#mirror = mirror;
    this.#journal = journal;
  }

  /**
   * Touched, moved, back after long, or changed where changes are ignored: nothing would be sent.
   * `before` is the current row of the path.
   */
  async has(here: Here, before: Document | undefined, digest: string): Promise<boolean> {
    if (!this.#journal) return false;
    const { settings, row } = this.#mirror;
    const { path } = here;
    if (before && (mayBeArchived(before) || before.documentId !== null)) {
      if (before.digest === digest) return true;
      if (before.goneAt === null && settings.changed === "ignore") return true;
    }
    if (await this.#isMoved(this.#journal, here, before, digest)) return true;
    const place = { mirrorId: row.id, dir: dirOf(path), name: nameOf(path) };
    return (await recall(this.#journal, place, digest, this.#followed)) !== undefined;
  }

  /** It is the file of a document that was sent from where none is any more. */
  async #isMoved(
    journal: Journal,
    here: Here,
    before: Document | undefined,
    digest: string,
  ): Promise<boolean> {
    const { sizeBytes } = here.seen;
    const sent = await journal.sentWith(this.#mirror.row.id, digest, sizeBytes);
    const others = mayBeHere(sent, this.#mirror, here).filter(
      ({ id }) => id !== before?.id && !this.#followed.rows.has(id),
    );
    if (others.length === 0) return false;
    const places = others.map(({ dir, name }) => joinRaw(dir, name));
    const looks = await lookAtPlaces(this.#mirror, places, here.path);
    const original = others.find((other, index) => isHere(other, looks[index], here));
    if (original) this.#followed.rows.add(original.id);
    return original !== undefined;
  }
}
