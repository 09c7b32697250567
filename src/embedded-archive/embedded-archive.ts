import type { FastifyInstance } from "fastify";
import type { Operation } from "../wire/shapes.ts";
import { type Context, openContext } from "./archive-context.ts";
import type { StoredDocument } from "./document-row.ts";
import { type FaultPlan, FaultSchedule } from "./faults.ts";
import type { FolderDescription } from "./folder-table.ts";
import { type Address, type EmbeddedArchiveOptions, settingsOf } from "./archive-options.ts";
import { codeOf, Fault, messageOf } from "../std/fault.ts";
import { accountOf, adminOf, describeFolder } from "./admin.ts";
import { serverOf } from "./server.ts";
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
  readonly #opened: AsyncDisposableStack;
  #closed: Promise<void> | undefined;

  private constructor(
    context: Context,
    opened: AsyncDisposableStack,
    url: string,
    adminUrl: string | undefined,
  ) {
    this.#context = context;
    this.#opened = opened;
    this.url = url;
    this.adminUrl = adminUrl;
  }

  /**
   * Opens the data directory and listens. Rejects with a Fault: EMBEDDED_ARCHIVE_OPTIONS, _IN_USE
   * and _TOO_NEW for what it was given, _LISTEN for an address that cannot be listened on.
   */
  static async open(options: EmbeddedArchiveOptions): Promise<EmbeddedArchive> {
    const settings = settingsOf(options);
    await using opened = new AsyncDisposableStack();
    const closing = new AbortController();
    const context = await openContext(settings, opened, closing.signal);
    const url = await listenOn(await serverOf(context), settings.listen, opened);
    const { admin } = settings;
    const adminUrl = admin && (await listenOn(adminOf(context, admin.host), admin, opened));
    opened.defer(() => closing.abort(new Error("the embedded archive is closing")));
    for (const loop of context.loops) loop.start();
    return new EmbeddedArchive(context, opened.move(), url, adminUrl);
  }

  /** Makes the folder `/A/B` and all above it if missing, and sets what it says of its own; returns its id. */
  createFolder(path: string, description: FolderDescription = {}, account?: string): number {
    return describeFolder(this.#context, account, path, description);
  }

  /**
   * Sets the page allowance; undefined: unlimited. What is used already stays used. It is kept: the
   * next run has it, too, whatever its options say.
   */
  setQuota(pages: number | undefined, account?: string): void {
    this.#context.store.setQuota(accountOf(this.#context, account).id, pages);
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
    return [...this.#context.store.audit(accountOf(this.#context, account).id)];
  }

  /** Pages charged to the account: the true number of every converted document, and at least 1. */
  pagesUsed(account?: string): number {
    return this.#context.store.pagesUsed(accountOf(this.#context, account).id);
  }

  /** How many expiries have been noticed, and how many of them are still to be told. */
  notices(): { noticed: number; waiting: number } {
    return this.#context.store.notices.counts();
  }

  /** Resolves when what was asked for is done, also what a fault stores late, and no conversion is outstanding. */
  async idle(): Promise<void> {
    const { traffic, conversion } = this.#context;
    await Promise.allSettled(traffic.active);
    await conversion.idle();
  }

  /** How often each operation was asked for since the archive was opened, refusals included. */
  requests(): Readonly<Record<Operation, number>> {
    return { ...this.#context.traffic.counts };
  }

  /** Breaks off what is under way and closes; what was answered with OK is kept. */
  close(): Promise<void> {
    this.#closed ??= this.#opened.disposeAsync();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function listenOn(
  app: FastifyInstance,
  { host, port }: Address,
  opened: AsyncDisposableStack,
): Promise<string> {
  opened.defer(() => app.close());
  try {
    await app.listen({ host, port });
    const address = app.server.address();
    const bound = typeof address === "object" && address !== null ? address.port : port;
    return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
  } catch (error) {
    throw new Fault(
      "EMBEDDED_ARCHIVE_LISTEN",
      `${host}:${port} cannot be listened on: ${codeOf(error) ?? messageOf(error)}`,
      "Choose an address of this machine and a free port; port 0 takes any.",
      { cause: error },
    );
  }
}
