/** Has readers look closely at files, such as they may not survive among them. */
import type { Document } from "../domain/document.ts";
import { ChannelClosed } from "../reader/rpc-channel.ts";
import type { Inspection } from "../source/source.ts";
import { messageOf } from "../std/fault.ts";
import { joinRaw } from "../std/raw-path.ts";
import type { Clock } from "../std/clock.ts";
import type { LiveMirror, DecisionContext } from "./context.ts";

export class CloseLook {
  readonly #clock: DecisionContext["clock"];
  readonly #deadly = new WeakMap<LiveMirror["reader"], DeadlyFiles>();
  #stopping: AbortSignal = new AbortController().signal;

  constructor({ clock }: Pick<DecisionContext, "clock">) {
    this.#clock = clock;
  }

  /** Readers that end once `stopping` has aborted end of no file. */
  begin(stopping: AbortSignal): void {
    this.#stopping = stopping;
  }

  /** As many of the first ones as may be looked at together. */
  together(mirror: LiveMirror, due: readonly Document[]): readonly Document[] {
    return this.#deadlyOf(mirror).together(due);
  }

  /**
   * What they are, one for each. Rejects with `ChannelClosed` when the reader is gone.
   *
   * @param sentBytes of each: the size of what of it was sent before, if anything
   */
  async at(
    mirror: LiveMirror,
    documents: readonly Document[],
    options: Parameters<LiveMirror["reader"]["inspect"]>[2],
    sentBytes: readonly (number | undefined)[] = [],
  ): Promise<Inspection[]> {
    const { row, reader } = mirror;
    const deadly = this.#deadlyOf(mirror);
    const files = documents.map(({ dir, name, seen }, index) => ({
      path: joinRaw(dir, name),
      seen,
      sentBytes: sentBytes[index],
    }));
    try {
      const found = await deadly.inTurn(() => reader.inspect(row.id, files, options));
      // What waits for something next to it was not read.
      deadly.clear(documents.filter((_, index) => found[index]?.kind !== "waits"));
      return found;
    } catch (error) {
      const isItsEnd = error instanceof ChannelClosed && !this.#stopping.aborted;
      if (!isItsEnd || !deadly.isGuilty(documents)) throw error;
      const message = `twice in a row, anyone who read it came to its end: ${messageOf(error)}`;
      return [{ kind: "unreadable", problem: { code: "FILE_UNREADABLE", message } }];
    }
  }

  #deadlyOf({ reader }: LiveMirror): DeadlyFiles {
    const deadly = this.#deadly.get(reader) ?? new DeadlyFiles(this.#clock);
    this.#deadly.set(reader, deadly);
    return deadly;
  }
}

/** Rows may be gone before they are looked at again; suspicion must not slow a reader for good. */
const SUSPECTED_MS = 600_000;

/**
 * Files that a reader may not survive. It looks at many at a time, and when it dies or hangs all of them are
 * suspected; from then on they are looked at one after another, each alone. One that was in its hand both
 * times is not looked at any more for now, so that it does not keep all others of its file system from being
 * read. In memory alone: a restart of the daemon costs two more readers.
 */
class DeadlyFiles {
  readonly #clock: Pick<Clock, "monotonic">;
  /** The content that a row had, and since when it is suspected, by the row's id. */
  readonly #suspects = new Map<number, { readonly stamp: string; readonly since: number }>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** As many of the first ones as may be looked at together. */
  together(due: readonly Document[]): readonly Document[] {
    const at = due.findIndex((document) => this.#has(document));
    return at === -1 ? due : due.slice(0, Math.max(1, at));
  }

  /** Looks; while there are suspects nothing else is in the reader's hand meanwhile. */
  inTurn<T>(look: () => Promise<T>): Promise<T> {
    this.#forget();
    if (this.#suspects.size === 0) return look();
    const turn = this.#turn.then(look);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** A reader has looked at them, and lives. */
  clear(documents: readonly Document[]): void {
    for (const { id } of documents) this.#suspects.delete(id);
  }

  /** A reader ended with these in its hand. True: it was one alone, and not for the first time. */
  isGuilty(documents: readonly Document[]): boolean {
    const [only] = documents;
    if (only && documents.length === 1 && this.#has(only)) {
      // It is held now; the next look is as the first.
      this.#suspects.delete(only.id);
      return true;
    }
    const since = this.#clock.monotonic();
    for (const { id, seen } of documents) this.#suspects.set(id, { stamp: seen.stamp, since });
    return false;
  }

  #has({ id, seen }: Document): boolean {
    return this.#suspects.get(id)?.stamp === seen.stamp;
  }

  #forget(): void {
    const now = this.#clock.monotonic();
    for (const [id, { since }] of this.#suspects)
      if (now - since > SUSPECTED_MS) this.#suspects.delete(id);
  }
}
