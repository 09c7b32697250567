/**
 * The first run over a mirror: its journal knows nothing, be it new or lost, and the archive may
 * hold the files already. What has the name of a document there that is nobody's waits until a
 * person has chosen; sent twice cannot be mended.
 */
import { allDocuments } from "../archive/paging.ts";
import type { Document, State, Trouble } from "../domain/document.ts";
import type { SyncContext } from "./context.ts";
import { ALL_DUTIES } from "./duties.ts";
import { goOn } from "./retry.ts";

const LOOK_MS = 1_000;
const PAGE_SIZE = 1_000;

/** States of rows that may still turn out to be in the archive, or on their way there. */
const OPEN_STATES: readonly State[] = ["settling", "pending", "uploading", "inDoubt"];

const OF_FORMER_MIRROR =
  ", sent for a mirror that is not configured any more: if this is that mirror, give it its name back";

/** Ids of a folder's documents, by name. */
type Names = ReadonlyMap<string, readonly number[]>;

export class FirstRun {
  readonly #context: SyncContext;
  /** Mirrors whose first run is not over. */
  readonly #mirrors: Set<number>;
  readonly #scanned: (mirrorId: number) => Promise<boolean>;
  readonly #folders = new Map<number, Promise<Names>>();

  private constructor(
    context: SyncContext,
    mirrors: Set<number>,
    scanned: (mirrorId: number) => Promise<boolean>,
  ) {
    this.#context = context;
    this.#mirrors = mirrors;
    this.#scanned = scanned;
  }

  /**
   * `scanned` tells whether a mirror was scanned to its end since the start. Where `firstRun: upload` was chosen, the first run is over and what
   * it held goes on.
   */
  static async open(
    context: SyncContext,
    scanned: (mirrorId: number) => Promise<boolean>,
  ): Promise<FirstRun> {
    const { journal, mirrors, clock } = context;
    const inFirstRun = new Set<number>();
    for (const id of await journal.firstRuns()) {
      const mirror = mirrors.get(id);
      if (mirror?.settings.firstRun === "hold") inFirstRun.add(id);
      if (mirror?.settings.firstRun === "upload") await journal.endFirstRun(id, clock.now());
    }
    const firstRun = new FirstRun(context, inFirstRun, scanned);
    const { duties = ALL_DUTIES } = context;
    for (const [id, { settings }] of mirrors) {
      if (settings.firstRun === "upload" && duties.heads(id)) await firstRun.#release(id);
    }
    return firstRun;
  }

  /** Another daemon may have ended the first run of a mirror that it leads. */
  async reread(): Promise<void> {
    if (this.#mirrors.size === 0) return;
    const open = new Set(await this.#context.journal.firstRuns());
    for (const id of this.#mirrors) if (!open.has(id)) this.#mirrors.delete(id);
    if (this.#mirrors.size === 0) this.#folders.clear();
  }

  /**
   * Why this document must not be sent into this folder: there is one of its name, and it belongs
   * to no row of a mirror that is configured: what another one sent may be this very file. Lists each folder once. Rejects with `ArchiveError` when that cannot be done.
   */
  async objection(
    document: Document,
    folderId: number,
    signal: AbortSignal,
  ): Promise<Trouble | undefined> {
    if (!this.#mirrors.has(document.mirrorId)) return undefined;
    const name = document.sentName ?? "";
    const ids = (await this.#namesIn(folderId, signal)).get(name.normalize("NFC")) ?? [];
    if (ids.length === 0) return undefined;
    const { journal, mirrors } = this.#context;
    const claimed = await journal.claimed(ids, [...mirrors.keys()]);
    const [stranger] = ids.filter((id) => !claimed.has(id));
    if (stranger === undefined) return undefined;
    const found = `the archive holds ${name} in that folder already (document ${stranger})`;
    const isFormer = (await journal.claimed([stranger])).has(stranger);
    const message = isFormer ? `${found}${OF_FORMER_MIRROR}` : found;
    return { code: "FIRST_RUN", message };
  }

  /** Looks until every first run is over. */
  async run(signal: AbortSignal): Promise<void> {
    while (this.#mirrors.size > 0) {
      await this.#context.clock.sleep(LOOK_MS, signal);
      await this.conclude();
    }
  }

  /**
   * Ends the first run of every mirror of which something is archived, and nothing is left to be
   * told apart.
   */
  async conclude(): Promise<void> {
    const { journal, clock, mirrors } = this.#context;
    for (const id of this.#mirrors) {
      const mirror = mirrors.get(id);
      if (!mirror || !(await this.#isOver(id))) continue;
      this.#mirrors.delete(id);
      await journal.endFirstRun(id, clock.now());
    }
    if (this.#mirrors.size === 0) this.#folders.clear();
  }

  async #isOver(mirrorId: number): Promise<boolean> {
    if (!(await this.#scanned(mirrorId))) return false;
    const { journal } = this.#context;
    const now = Number.MAX_SAFE_INTEGER;
    // Counting a large journal takes a moment; most looks end here.
    for (const state of ["settling", "pending"] as const) {
      if ((await journal.due({ state, mirrorId, now, limit: 1 })).length > 0) return false;
    }
    const counts = (await journal.counts()).filter((count) => count.mirrorId === mirrorId);
    if (counts.some(({ state }) => OPEN_STATES.includes(state))) return false;
    if ((await this.#held(mirrorId)).length > 0) return false;
    return counts.some(({ state }) => state === "uploaded" || state === "converted");
  }

  async #held(mirrorId: number): Promise<Document[]> {
    const rows = await this.#context.journal.heldWith(["FIRST_RUN"], Number.MAX_SAFE_INTEGER);
    return rows.filter((row) => row.mirrorId === mirrorId);
  }

  async #release(mirrorId: number): Promise<void> {
    const { journal, clock } = this.#context;
    const held = await this.#held(mirrorId);
    await journal.apply(held.map((row) => goOn(row, clock.now())));
  }

  #namesIn(folderId: number, signal: AbortSignal): Promise<Names> {
    const known = this.#folders.get(folderId);
    if (known) return known;
    const listing = this.#list(folderId, signal);
    this.#folders.set(folderId, listing);
    listing.catch(() => this.#folders.delete(folderId));
    return listing;
  }

  async #list(folderId: number, signal: AbortSignal): Promise<Names> {
    const names = new Map<string, number[]>();
    const query = { folderId, paginationSize: PAGE_SIZE };
    for await (const { id, filename } of allDocuments(this.#context.archive, query, signal)) {
      const name = filename.normalize("NFC");
      names.set(name, [...(names.get(name) ?? []), id]);
    }
    return names;
  }
}
