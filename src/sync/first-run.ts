/**
 * The first run over a mirror: its journal knows nothing, be it new or lost, and the archive may
 * hold the files already. What has the name of a document there that is nobody's waits until a
 * person has chosen; sent twice cannot be mended.
 */
import type { Document, State, Trouble } from "../domain/document.ts";
import type { SyncContext } from "./context.ts";
import { Bell } from "../std/bell.ts";
import { ALL_DUTIES } from "./duties.ts";
import { NAP_MS_MAX } from "./loop.ts";
import { goOn } from "./retry.ts";
import { Strangers } from "./strangers.ts";

/** What is written in such a time is looked at together. */
const GATHER_MS = 1_000;

/** States of rows that may still turn out to be in the archive, or on their way there. */
const OPEN_STATES: readonly State[] = ["settling", "pending", "uploading", "inDoubt"];

export class FirstRun {
  readonly #context: SyncContext;
  /** Mirrors whose first run is not over. */
  readonly #mirrors: Set<number>;
  readonly #scanned: (mirrorId: number) => Promise<boolean>;
  readonly #strangers: Strangers;
  readonly #bell = new Bell();

  private constructor(
    context: SyncContext,
    mirrors: Set<number>,
    scanned: (mirrorId: number) => Promise<boolean>,
  ) {
    this.#context = context;
    this.#strangers = new Strangers(context.archive, context.journal);
    this.#mirrors = mirrors;
    this.#scanned = scanned;
  }

  /**
   * `scanned` tells whether a mirror was scanned to its end since the start. Where `firstRun: upload`
   * was chosen, the first run is over and what it held goes on.
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
    if (this.#mirrors.size === 0) this.#strangers.forget();
  }

  /** The archive may hold the mirror's files already. */
  isOpen(mirrorId: number): boolean {
    return this.#mirrors.has(mirrorId);
  }

  /** Why this document must not be sent into this folder; see `Strangers.objection`. */
  async objection(
    document: Document,
    folderId: number,
    signal: AbortSignal,
  ): Promise<Trouble | undefined> {
    if (!this.isOpen(document.mirrorId)) return undefined;
    const mirrorIds = [...this.#context.mirrors.keys()];
    return this.#strangers.objection(document.sentName ?? "", folderId, mirrorIds, signal);
  }

  /** An `objection` to a document of this mirror, in this folder, will be asked for. */
  foresee(folderId: number, signal: AbortSignal): void {
    this.#strangers.foresee(folderId, signal);
  }

  /** Something has changed: a first run may be over. */
  ring(): void {
    this.#bell.ring();
  }

  /** Looks until every first run is over. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    while (this.#mirrors.size > 0) {
      await this.#bell.wait(NAP_MS_MAX, clock, signal);
      await clock.sleep(GATHER_MS, signal);
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
    if (this.#mirrors.size === 0) this.#strangers.forget();
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
}
