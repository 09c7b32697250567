/** All that notification has to know after a restart, as which is in the journal under one name. */
import type { Journal } from "../journal/journal.ts";
import type { Message } from "./message.ts";
import { type Memory, NOTHING_TOLD } from "./alert.ts";

/** Stands in the journal as JSON: anyone who changes the shape counts up `SHAPE`. Times are epoch ms. */
export type Kept = {
  readonly memory: Memory;
  /** What waits to go out, by channel, oldest first. */
  readonly queues: Readonly<Record<string, readonly Message[]>>;
  /** Batches that are closed and told about; null: nobody asked for that yet. */
  readonly batches: readonly string[] | null;
  /** When the last digest was made. */
  readonly digestAt: number | null;
};

const KEY = "told";

/** Raised when what is kept changes its shape: what cannot be read is begun again. */
const SHAPE = 1;

const NOTHING: Kept = { memory: NOTHING_TOLD, queues: {}, batches: null, digestAt: null };

export class Keeping {
  readonly #journal: Pick<Journal, "keyValue" | "setKeyValue">;
  #kept: Kept;
  #written: string;

  private constructor(journal: Pick<Journal, "keyValue" | "setKeyValue">, written: string) {
    this.#journal = journal;
    this.#written = written;
    this.#kept = keptIn(written);
  }

  /** What was kept in another shape counts as nothing: all that is wrong is sent again. */
  static async open(journal: Pick<Journal, "keyValue" | "setKeyValue">): Promise<Keeping> {
    return new Keeping(journal, (await journal.keyValue(KEY)) ?? "");
  }

  /** As it was changed last, be that durable yet or not. */
  get now(): Kept {
    return this.#kept;
  }

  /** Resolves once it is durable; what does not differ is not written. */
  async change(fields: Partial<Kept>): Promise<void> {
    this.#kept = { ...this.#kept, ...fields };
    const text = JSON.stringify({ shape: SHAPE, ...this.#kept });
    if (text === this.#written) return;
    this.#written = text;
    await this.#journal.setKeyValue(KEY, text);
  }
}

function keptIn(text: string): Kept {
  if (text === "") return NOTHING;
  // Written by `change` alone, in the journal of this very program.
  const { shape, ...kept } = JSON.parse(text) as { shape: number } & Kept;
  return shape === SHAPE ? kept : NOTHING;
}
