/**
 * What time it is by the archive's clock. An expiry date cannot be taken back, and it is the archive that
 * acts upon it; a host whose clock has no battery may be years off.
 */
import { ArchiveError } from "../archive/archive-error.ts";
import type { Problem } from "../domain/document.ts";
import type { DecisionContext } from "./context.ts";
import { AGAIN_MS } from "./waits.ts";

type Context = Pick<DecisionContext, "archive" | "clock">;

/** Of clocks further apart one is wrong, and nobody knows which. */
const APART_MS_MAX = 86_400_000;

/** Epoch milliseconds by the archive's clock, as far as it is known. */
export function archiveNow({ archive, clock }: Context): number {
  return clock.now() + (archive.clockOffsetMs ?? 0);
}

/** Whether dates may be estimated. The archive is asked where it has not answered since the start. */
export class ArchiveTime {
  readonly #context: Context;
  /** What it said when it could not be asked, and until when that is taken as its answer (monotonic). */
  #failed: { readonly problem: Problem; readonly until: number } | undefined;
  /** It answered without outbox entry its time. */
  #isUndelivered = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Why no date may be estimated now; undefined: `archiveNow` is right, or the archive tells no time at all. */
  async problem(stopping: AbortSignal): Promise<Problem | undefined> {
    const { archive, clock } = this.#context;
    if (archive.clockOffsetMs === undefined && !this.#isUndelivered) {
      const failed = await this.#ask(stopping);
      if (failed) return failed;
    }
    const offsetMs = archive.clockOffsetMs ?? 0;
    if (Math.abs(offsetMs) <= APART_MS_MAX) return undefined;
    const here = dayOf(clock.now());
    const there = dayOf(clock.now() + offsetMs);
    const message = `by this host's clock it is ${here}, by the archive's ${there}: no expiry date is estimated`;
    return { code: "CLOCKS_DIFFER", message };
  }

  async #ask(stopping: AbortSignal): Promise<Problem | undefined> {
    const { archive, clock } = this.#context;
    if (this.#failed && clock.monotonic() < this.#failed.until) return this.#failed.problem;
    try {
      await archive.folder(undefined, stopping);
      this.#failed = undefined;
      this.#isUndelivered = archive.clockOffsetMs === undefined;
      return undefined;
    } catch (error) {
      stopping.throwIfAborted();
      if (!(error instanceof ArchiveError)) throw error;
      // An archive that says no has told its time, too.
      if (archive.clockOffsetMs !== undefined) return undefined;
      const message = `the archive, by whose clock its expiry date is estimated, cannot be asked: ${error.message}`;
      const problem = { code: "CLOCKS_DIFFER", message } as const;
      this.#failed = { problem, until: clock.monotonic() + AGAIN_MS };
      return problem;
    }
  }
}

function dayOf(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? "beyond all dates"
    : date.toISOString().slice(0, 16).replace("T", " ");
}
