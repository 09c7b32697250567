/** Has readers look closely at files, such as they may not survive among them. */
import type { Document } from "../domain/document.ts";
import { ChannelClosed } from "../reader/rpc-channel.ts";
import type { Inspection } from "../source/source.ts";
import { messageOf } from "../std/fault.ts";
import { joinRaw } from "../std/raw-path.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import { DeadlyFiles } from "./deadly-files.ts";

export class CloseLook {
  readonly #clock: SyncContext["clock"];
  readonly #deadly = new WeakMap<LiveMirror["reader"], DeadlyFiles>();
  #stopping: AbortSignal = new AbortController().signal;

  constructor({ clock }: Pick<SyncContext, "clock">) {
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
