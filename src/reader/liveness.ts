/** Keeping an eye on a process: whether it answers, answers late, or will not answer any more. */
import type { Wakeup } from "../std/wakeup.ts";
import type { Clock } from "../std/clock.ts";

/**
 * How often a process is asked while a caller waits for it and while none does, how late an answer makes
 * it silent, and how late ends the wait.
 */
export type LivenessLimits = {
  readonly everyMs: number;
  readonly idleMs: number;
  readonly silentMs: number;
  readonly patienceMs: number;
};

/**
 * Silence is noticed soon, because what waits for it is dear; patience is long, because a share that
 * is only slow must not have its uploads torn. Each question wakes two processes, for years.
 */
export const LIVENESS_LIMITS: LivenessLimits = {
  everyMs: 500,
  idleMs: 2_000,
  silentMs: 500,
  patienceMs: 30_000,
};

/** How long a process may take until it runs at all; less than a second is usual. */
export const START_MS = 300_000;

/** The process that is watched. */
export type WatchedProcess = {
  isUp(): boolean;
  /** A caller waits for what it does. */
  isAwaited(): boolean;
  /** Rung when a caller begins to. */
  readonly called: Wakeup;
  /** Resolves when it answers; rejects when it never will. */
  ask(): Promise<void>;
  /** It has fallen silent, or speaks again. */
  markUnresponsive(silent: boolean): void;
};

/**
 * Resolves once the process has ended, or was silent for longer than anyone can wait. Rejects with
 * what `ask` rejects with, or the signal's reason.
 */
export async function watchLiveness(
  watched: WatchedProcess,
  { everyMs, idleMs, silentMs, patienceMs }: LivenessLimits,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (watched.isUp()) {
    if (!watched.isAwaited()) {
      // The last question rang, too.
      watched.called.still();
      await watched.called.wait(idleMs - everyMs, clock, signal);
    }
    await clock.sleep(everyMs, signal);
    const answer = watched.ask();
    if (await comes(answer, silentMs, clock)) continue;
    watched.markUnresponsive(true);
    if (!(await comes(answer, patienceMs - silentMs, clock))) return;
    watched.markUnresponsive(false);
  }
}

/**
 * Resolves with a process's first answer, which it gives before it touches a share. On a machine that is
 * busy enough the start alone takes longer than a share may, and one killed for it would never get there.
 * Rejects when the answer does not come, or with what it rejects with.
 */
export async function begun(answer: Promise<void>, clock: Clock): Promise<void> {
  if (await comes(answer, START_MS, clock)) return;
  throw new Error(`it did not start within ${START_MS / 1_000} s`);
}

/** Whether the answer comes within `ms`; rejects with what it rejects with. */
export async function comes(answer: Promise<void>, ms: number, clock: Clock): Promise<boolean> {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then(() => false);
  late.catch(() => {}); // it ends so when the answer was first
  try {
    return await Promise.race([answer.then(() => true), late]);
  } finally {
    over.abort(OVER);
  }
}

/** Made once: an error with its stack is dear to make twice a second. */
const OVER = new Error("the question is answered");
