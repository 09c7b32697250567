/**
 * Due times are wall-clock times, since they have to survive restarts. When the clock is set back,
 * what was to wait a minute would wait for as long as the clock was wrong: a scanner PC that boots
 * with a flat battery may believe in any year. So due times that no wait can explain are pulled in.
 */
import { type ClockGap, withGap, withoutFuture } from "../domain/clock-gaps.ts";
import { STATES } from "../domain/document.ts";
import type { ArchiveJournal, Change, DocumentWriter, Outbox } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import type { SyncContext } from "./context.ts";
import { HOLD } from "./waits.ts";

/** Rows of one commit. */
const CHUNK = 500;

/** The longest pause that an archive can ask for. */
const RETRY_AFTER_MS_MAX = 24 * 3_600_000;

/** A clock that falls behind this much was set back, not just corrected. */
const SET_BACK_MS = 30_000;

/** A clock that runs ahead this much was set forward, or the host slept. */
const SET_FORWARD_MS = 250;

type Context = Pick<
  SyncContext<ArchiveJournal & DocumentWriter & Outbox>,
  "journal" | "clock" | "config" | "mirrors" | "log"
>;

/** At the start: nothing is due later than the longest wait there is. */
export async function pullInUnexplained(context: Context): Promise<void> {
  const { config, mirrors, clock } = context;
  const longestMs = Math.max(
    RETRY_AFTER_MS_MAX,
    HOLD.maxMs,
    config.upload.retry.maxMs,
    config.conversion.poll.maxMs,
    ...[...mirrors.values()].flatMap(({ settings }) => [settings.settleMs, settings.incompleteMs]),
  );
  await pullIn(context, clock.now() + longestMs);
}

/** While running: notices a clock that is set back. Call it every now and then. */
export class ClockWatch {
  readonly #context: Context;
  #offset: number;

  constructor(context: Context) {
    this.#context = context;
    this.#offset = offsetOf(context);
  }

  /** True when the clock was set back since the last look; what waited is due now. */
  async look(): Promise<boolean> {
    const offset = offsetOf(this.#context);
    const backMs = this.#offset - offset;
    this.#offset = offset;
    if (backMs < SET_BACK_MS) return false;
    const { log, clock } = this.#context;
    log.warn({ seconds: Math.round(backMs / 1_000) }, "the clock was set back");
    await pullIn(this.#context, clock.now() + SET_BACK_MS);
    return true;
  }
}

/** Remembers how far the clock was set forward: times from before say nothing about how long ago. */
export class SetForward {
  readonly #clock: Clock;
  #offset: number;
  #gaps: readonly ClockGap[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = offsetOf({ clock });
  }

  /** What it skipped, as far as that was noticed; oldest first, and nothing of it ahead of now. */
  look(): readonly ClockGap[] {
    const now = this.#clock.now();
    const offset = offsetOf({ clock: this.#clock });
    const aheadMs = offset - this.#offset;
    this.#gaps = withoutFuture(this.#gaps, now);
    if (aheadMs >= SET_FORWARD_MS)
      this.#gaps = withGap(this.#gaps, { from: now - aheadMs, to: now });
    this.#offset = offset;
    return this.#gaps;
  }
}

/** Wall clock minus monotonic clock: constant unless the wall clock is set. */
function offsetOf({ clock }: { readonly clock: Clock }): number {
  return clock.now() - clock.monotonic();
}

/** Whatever is due later than `laterThan` is due now; a file that settles, after its quiet time. */
async function pullIn(
  { journal, clock, config, mirrors }: Context,
  laterThan: number,
): Promise<void> {
  const now = clock.now();
  const quietMs = (id: number) => mirrors.get(id)?.settings.settleMs ?? 0;
  const quietMsMax = Math.max(0, ...[...mirrors.keys()].map(quietMs));
  const why = "its time was set by a clock that ran ahead";
  for (const state of STATES) {
    for (;;) {
      const settles = state === "settling";
      const after = laterThan + (settles ? quietMsMax : 0);
      const query = { state, now: Number.MAX_SAFE_INTEGER, after, limit: CHUNK };
      const rows = await journal.due(query);
      await journal.apply(
        rows.map(({ id, mirrorId }): Change => {
          const dueAt = settles ? now + quietMs(mirrorId) : now;
          return { type: "note", id, at: now, why, set: { dueAt }, from: [state] };
        }),
      );
      if (rows.length < CHUNK) break;
    }
  }
  for (const id of mirrors.keys()) await journal.pullInOutboxEntries(id, laterThan, now);
  const gate = await journal.gate();
  if ((gate.nextProbeAt ?? 0) > now + config.quota.retry.maxMs) {
    await journal.setGate({ ...gate, nextProbeAt: now });
  }
}
