/**
 * The folder that receipts are written to. A file is there whole or not at all: it is written next to
 * its place, synced, and renamed. Writing one again replaces it by the same.
 */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../std/durable.ts";
import { codeOf, Fault } from "../std/fault.ts";
import { makeDirectoryAsync } from "../std/make-directory.ts";
import { type Receipt, receiptJson } from "./receipt.ts";
import { receiptHtml } from "./receipt-html.ts";

/** `json` for machines, `html` to print. */
export type ReceiptFormat = "json" | "html";

/** Readable by the daemon's user and group: names of users' files are in it. */
const MODE = 0o640;

const TEXTS: Readonly<Record<ReceiptFormat, (receipt: Receipt) => string>> = {
  json: receiptJson,
  html: receiptHtml,
};

/**
 * What is being written to each folder. Receipts wait for one another, also those of a daemon that has started over: a
 * folder that hangs then holds one thread of the pool and not, in the end, all of them.
 */
const turns = new Map<string, Promise<unknown>>();

export class ReceiptFolder {
  readonly #dir: string;
  readonly #formats: readonly ReceiptFormat[];

  /** `dir` is absolute; it is made with the first receipt. */
  constructor({
    dir,
    formats,
  }: { readonly dir: string; readonly formats: readonly ReceiptFormat[] }) {
    this.#dir = dir;
    this.#formats = formats;
  }

  /**
   * Writes the files of a receipt; resolves with their paths once they are on the disk. Rejects with
   * RECEIPT_UNWRITABLE, or as `signal` aborts before it is begun.
   */
  write(receipt: Receipt, signal: AbortSignal): Promise<string[]> {
    const before = turns.get(this.#dir) ?? Promise.resolve();
    const writing = before.then(() => {
      signal.throwIfAborted();
      return this.#write(receipt);
    });
    turns.set(
      this.#dir,
      writing.catch(() => {}),
    );
    return writing;
  }

  async #write(receipt: Receipt): Promise<string[]> {
    const paths: string[] = [];
    try {
      await makeDirectoryAsync(this.#dir);
      for (const format of this.#formats) {
        const path = join(this.#dir, `${receiptName(receipt)}.${format}`);
        await replaceFile(path, TEXTS[format](receipt), MODE);
        paths.push(path);
      }
      await sync(this.#dir);
      return paths;
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      throw new Fault(
        "RECEIPT_UNWRITABLE",
        `the receipt of batch ${receipt.batch} cannot be written to ${this.#dir} (${code})`,
        "Give the daemon's user the right to that folder, or free space; it is tried again.",
        { cause: error },
      );
    }
  }
}

/** The file's name without its ending: sorted by name, receipts are sorted by time. */
export function receiptName({ openedAt, mirror, batch }: Receipt): string {
  const at = new Date(openedAt).toISOString().slice(0, 19).replaceAll(/[-:]/g, "");
  const plain = mirror.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^\.+/, "");
  return `${at}Z-${plain.slice(0, 40)}-${batch.replaceAll(/[^\w-]/g, "-")}`;
}

async function sync(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}
