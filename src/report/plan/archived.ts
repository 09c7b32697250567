import { type Document, mayBeArchived } from "../../domain/document.ts";
import { isRecreated } from "../../domain/stamp.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Whole } from "../../sync/already-sent.ts";
import { dirOf, joinRaw, nameOf } from "../../std/raw-path.ts";
import type { LiveMirror } from "../../sync/context.ts";
import { type Here, isHere, lookAtPlaces, mayBeHere } from "../../sync/former-places.ts";
import { recall } from "../../sync/recall.ts";
import type { OtherMirrors } from "./other-mirrors.ts";

/** Which files of a mirror need not be sent: what the journal says of their bytes. */
export class ArchivedFiles {
  readonly #mirror: LiveMirror;
  readonly #journal: Journal | undefined;
  readonly #others: OtherMirrors;
  /** What was sent once is one file: of two of its content the second is another document. */
  readonly #followed = { rows: new Set<number>(), tombstones: new Set<number>() };

  /** Without a journal nothing was sent for the mirror. */
  constructor({
    mirror,
    journal,
    others,
  }: {
    readonly mirror: LiveMirror;
    readonly journal: Journal | undefined;
    readonly others: OtherMirrors;
  }) {
    this.#mirror = mirror;
    this.#journal = journal;
    this.#others = others;
  }

  /**
   * Touched, moved, back after long, or changed where changes are ignored: nothing would be sent.
   * `before` is the current row of the path.
   */
  async has(here: Here, before: Document | undefined, whole: Whole, at: number): Promise<boolean> {
    const elsewhere = { mirror: this.#mirror, here, whole, at };
    return (
      (await this.#hasHere(here, before, whole)) ||
      (await this.#others.has(elsewhere, this.#followed.rows))
    );
  }

  async #hasHere(here: Here, before: Document | undefined, whole: Whole): Promise<boolean> {
    if (!this.#journal) return false;
    const { settings, row } = this.#mirror;
    const { path } = here;
    const { digest, bornAt } = whole;
    if (before && (mayBeArchived(before) || before.documentId !== null)) {
      if (before.digest === digest) return true;
      const isIgnoring = settings.changed === "ignore";
      if (isIgnoring && before.ignoredDigest === digest) return true;
      const isNew =
        before.goneAt !== null || isRecreated(before.seen.stamp, here.seen.stamp, bornAt);
      if (isIgnoring && !isNew) return true;
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
    const { row, settings } = this.#mirror;
    const sent = await journal.sentWith(row.id, digest, sizeBytes);
    const ignored = settings.changed === "ignore" ? await journal.ignoredWith(row.id, digest) : [];
    const known = [...sent, ...ignored.filter(mayBeArchived)];
    const others = mayBeHere(known, this.#mirror, here).filter(
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
