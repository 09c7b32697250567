/**
 * Held documents continue automatically: those that wait for time when it is over, those that wait for
 * an archive folder when it is there.
 */
import { ArchiveError } from "../archive/archive-error.ts";
import { backoffMs } from "../domain/backoff.ts";
import type { Document, Problem } from "../domain/document.ts";
import { FOLDER_CODES, RULE_CODES } from "../domain/code-sets.ts";
import type { DocumentWriter, WaitingFolder, WorkQueue } from "../journal/journal.ts";
import type { SyncContext } from "./context.ts";
import type { Folders, Placement } from "./folders.ts";
import { loop } from "./loop.ts";
import { AGAIN_MS, FOLDERS } from "./waits.ts";
import { goOn } from "./retry.ts";

/** Rows of one commit. */
const CHUNK = 500;

/** Codes of our own look at the tree; the others are the archive's answers to an upload. */
const BY_LOOK: readonly string[] = ["FOLDER_MISSING", "FOLDER_TWINS", "FOLDER_CASE"];

export class Held {
  readonly #context: SyncContext<DocumentWriter & WorkQueue>;
  readonly #folders: Folders;
  readonly #placement: Placement;
  /** By the monotonic clock; 0: as soon as a document waits. */
  #nextLookAt = 0;
  #looks = 0;

  constructor(
    context: SyncContext<DocumentWriter & WorkQueue>,
    folders: Folders,
    placement: Placement,
  ) {
    this.#context = context;
    this.#folders = folders;
    this.#placement = placement;
  }

  async run(stopping: AbortSignal): Promise<never> {
    const { wakeups } = this.#context;
    // The rules may be other ones since the last run.
    await this.release(RULE_CODES);
    return loop(wakeups.held, this.#context, stopping, () => this.#step(stopping));
  }

  /** Missing folders are looked for at once; at every rescan and whenever a person asks. */
  recheck(): void {
    this.#nextLookAt = 0;
    this.#looks = 0;
    this.#context.wakeups.held.notify();
  }

  /** What the documents held with these codes waited for is there; with `place`, for one folder. */
  async release(
    codes: readonly string[],
    place?: { mirrorId: number; targetPath: string },
  ): Promise<void> {
    const { journal, clock } = this.#context;
    for (;;) {
      const rows = await journal.heldWith(codes, CHUNK, place);
      await journal.apply(rows.map((row) => goOn(row, clock.now())));
      if (rows.length < CHUNK) return;
    }
  }

  async #step(signal: AbortSignal): Promise<number> {
    const { journal, clock, random, mirrors } = this.#context;
    const waited = await this.#waited(clock.now());
    if (waited.length > 0) await journal.apply(waited.map((row) => goOn(row, clock.now())));
    if (waited.length >= CHUNK) return 0;
    if (clock.monotonic() >= this.#nextLookAt) {
      // Of another archive's mirrors, and of former ones, nothing is sent from here.
      const waiting = (await journal.waitingFolders()).filter(({ mirrorId }) =>
        mirrors.has(mirrorId),
      );
      this.#looks += 1;
      this.#nextLookAt = clock.monotonic() + backoffMs(FOLDERS, this.#looks, random);
      if (waiting.length === 0) this.#lookNoMore();
      else await this.#look(waiting, signal);
    }
    const [next] = await journal.due({ state: "held", now: Number.MAX_SAFE_INTEGER, limit: 1 });
    const nextMs = (next?.dueAt ?? Infinity) - clock.now();
    return Math.min(
      this.#nextLookAt === 0 ? Infinity : this.#nextLookAt - clock.monotonic(),
      // Moved or deleted by another loop, when that comes to it.
      next?.after === "due" ? Math.max(nextMs, AGAIN_MS) : nextMs,
    );
  }

  /**
   * Those whose time has come. What is to be moved or deleted is due for that, and waits for nothing else: while its
   * source is away, all others may lie behind it.
   */
  async #waited(now: number): Promise<Document[]> {
    for (let limit = CHUNK; ; limit *= 4) {
      const due = await this.#context.journal.due({ state: "held", now, limit });
      const waited = due.filter(({ after }) => after !== "due");
      if (waited.length > 0 || due.length < limit) return waited;
    }
  }

  /** The folder is unusable for another reason by now. */
  async #tell(
    problem: Problem,
    code: string,
    place: { mirrorId: number; targetPath: string },
  ): Promise<void> {
    const { journal, clock } = this.#context;
    for (;;) {
      const rows = await journal.heldWith([code], CHUNK, place);
      const event = { type: "heldBack", at: clock.now(), dueAt: null, problem } as const;
      await journal.apply(rows.map(({ id }) => ({ type: "event", id, event, from: ["held"] })));
      if (rows.length < CHUNK) return;
    }
  }

  /** Nobody waits: the first to do so rings the wake-up, and is looked after at once. */
  #lookNoMore(): void {
    this.#looks = 0;
    this.#nextLookAt = 0;
  }

  /** Looks for every folder that documents wait for; one look a folder, however many wait. */
  async #look(waiting: readonly WaitingFolder[], signal: AbortSignal): Promise<void> {
    const { mirrors } = this.#context;
    this.#folders.forget();
    try {
      for (const { mirrorId, targetPath, code } of waiting) {
        const mirror = mirrors.get(mirrorId);
        if (!mirror) continue;
        const place = await this.#placement.of(targetPath, mirror, signal);
        if (!("folderId" in place)) {
          if (place.problem.code !== code)
            await this.#tell(place.problem, code, { mirrorId, targetPath });
          continue;
        }
        await this.release(FOLDER_CODES, { mirrorId, targetPath });
        // A person is making folders. One that was there all along must not be tried ever sooner.
        if (BY_LOOK.includes(code)) this.#looks = 0;
      }
    } catch (error) {
      signal.throwIfAborted();
      // The archive cannot be asked; it is asked again soon.
      if (!(error instanceof ArchiveError)) throw error;
    }
  }
}
