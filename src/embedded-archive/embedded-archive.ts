import type { FastifyInstance } from "fastify";
import type { Operation } from "../wire/shapes.ts";
import { type Context, makeFolder } from "./archive-context.ts";
import type { StoredDocument } from "./document-row.ts";
import { type FaultPlan, FaultSchedule } from "./faults.ts";
import type { FolderDescription } from "./folder-table.ts";
import { type EmbeddedArchiveOptions, settingsOf } from "./archive-options.ts";
import { closeParts, listen, type OpenedArchive, openParts } from "./archive-parts.ts";
import type { Traffic } from "./traffic.ts";
import { accountOf, setQuota } from "./admin.ts";
export type { StoredDocument } from "./document-row.ts";
export type { FaultAction, FaultOccasion, FaultPlan, FaultRule } from "./faults.ts";
export type { FolderDescription } from "./folder-table.ts";
export type { AccountOption, EmbeddedArchiveOptions, StoredUpload } from "./archive-options.ts";

/**
 * The interface document made executable: a durable archive in this process, on a port of its
 * own. A document whose upload was answered with OK outlives a crash and a power cut.
 */
export class EmbeddedArchive implements AsyncDisposable {
  /** `http://HOST:PORT`, without a slash at the end: the interface's {base_url}. */
  readonly url: string;
  /** The same for administration; undefined without it. */
  readonly adminUrl: string | undefined;
  readonly #context: Context;
  readonly #app: FastifyInstance;
  readonly #admin: FastifyInstance | undefined;
  readonly #traffic: Traffic;
  readonly #closing: AbortController;
  #closed: Promise<void> | undefined;

  private constructor(
    opened: OpenedArchive,
    { url, adminUrl }: Awaited<ReturnType<typeof listen>>,
  ) {
    this.url = url;
    this.adminUrl = adminUrl;
    this.#admin = opened.admin;
    this.#context = opened.context;
    this.#app = opened.app;
    this.#traffic = opened.traffic;
    this.#closing = opened.closing;
  }

  /**
   * Opens the data directory and listens. Rejects with a Fault: EMBEDDED_ARCHIVE_OPTIONS, _IN_USE
   * and _TOO_NEW for what it was given, _LISTEN for an address that cannot be listened on.
   */
  static async open(options: EmbeddedArchiveOptions): Promise<EmbeddedArchive> {
    const settings = settingsOf(options);
    const opened = await openParts(settings);
    const archive = new EmbeddedArchive(opened, await listen(opened, settings));
    opened.context.conversion.start();
    opened.context.expiry.start();
    return archive;
  }

  /** Makes the folder `/A/B` and all above it; returns its id, the old one where it exists. */
  createFolder(path: string, account?: string): number {
    return makeFolder(this.#context, accountOf(this.#context, account), path);
  }

  /** Sets what the folder `/A/B` says of its own, making it if missing. */
  describeFolder(path: string, description: FolderDescription, account?: string): void {
    this.#context.store.folders.describe(this.createFolder(path, account), description);
    this.#context.expiry.poke();
  }

  /**
   * Sets the page allowance; undefined: unlimited. What is used already stays used. It is kept: the
   * next run has it, too, whatever its options say.
   */
  setQuota(pages: number | undefined, account?: string): void {
    setQuota(this.#context, accountOf(this.#context, account).id, pages);
  }

  /** Off: uploads with an expiry date are refused, PLUGIN_REMINDER_NOT_INSTALLED (endpoint 7). */
  setReminderPlugin(on: boolean): void {
    this.#context.reminderPlugin = on;
  }

  /** Puts a plan of faults in force, its counts at zero; undefined: nothing goes wrong any more. */
  setFaults(plan: FaultPlan | undefined): void {
    this.#context.faults = new FaultSchedule(plan);
  }

  /** Every document that was uploaded to the account, oldest first; not those inside digidocs. */
  documents(account?: string): StoredDocument[] {
    return this.#context.store.audit(accountOf(this.#context, account).id);
  }

  /** Pages charged to the account: the true number of every converted document, and at least 1. */
  pagesUsed(account?: string): number {
    return this.#context.store.pagesUsed(accountOf(this.#context, account).id);
  }

  /** How many expiries have been noticed, and how many of them are still to be told. */
  notices(): { noticed: number; waiting: number } {
    return this.#context.store.notices.counts();
  }

  /** Resolves when no conversion is outstanding, nor a document that a fault stores late. */
  async idle(): Promise<void> {
    const { lateStores, conversion } = this.#context;
    while (lateStores.size > 0) await Promise.allSettled(lateStores);
    await conversion.idle();
  }

  /** How often each operation was asked for since the archive was opened, refusals included. */
  requests(): { operation: Operation; count: number }[] {
    return this.#traffic.counts();
  }

  /** Breaks off what is under way and closes; what was answered with OK is kept. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.#closing.abort(new Error("the embedded archive is closing"));
    await Promise.all([this.#app.close(), this.#admin?.close()]);
    await closeParts(this.#context, this.#traffic);
  }
}
