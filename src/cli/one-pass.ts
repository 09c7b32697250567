import type { Daemon } from "../daemon/daemon.ts";
import type { KeptJournal } from "../daemon/kept-journal.ts";
import type { Quiescence } from "../daemon/quiescent.ts";
import type { StatusReport } from "../sync/status.ts";
import { Interrupted } from "./exit.ts";

/**
 * Runs the daemon until nothing is left that goes on by itself, and lets it end. Rejects with the
 * daemon's own failure, with what keeps the pass from ever being over, or with `Interrupted`.
 */
export async function onePass(
  daemon: Daemon,
  wanted: Quiescence,
  stopping: AbortSignal,
): Promise<StatusReport> {
  return passOf(daemon, wanted, stopping, new Promise<never>(() => {}));
}

/**
 * The same by as many daemons as it takes: where one of several on a journal gains a duty in the
 * middle, its loops begin anew, in another daemon with the same journal. Resolves with the last one,
 * which is still open; the caller closes it.
 */
export async function passTogether(
  open: (keptJournal: KeptJournal | undefined) => Promise<Daemon>,
  wanted: Quiescence,
  stopping: AbortSignal,
): Promise<{ readonly daemon: Daemon; readonly report: StatusReport }> {
  let kept: KeptJournal | undefined;
  for (;;) {
    await using opened = new AsyncDisposableStack();
    const daemon = opened.use(await open(kept));
    const report = await passOf(daemon, wanted, stopping, gained(daemon));
    if (report) {
      opened.move();
      return { daemon, report };
    }
    // Where it hands nothing over it leaves, and the next one joins as another member.
    kept = daemon.handOver();
  }
}

/** A daemon that is lost ends by itself. */
async function gained({ startOver }: Daemon): Promise<undefined> {
  if ((await startOver) === "lost") return new Promise(() => {});
  return undefined;
}

/** Resolves as `gaining` does where that comes first. */
async function passOf<Gained>(
  daemon: Daemon,
  wanted: Quiescence,
  stopping: AbortSignal,
  gaining: Promise<Gained>,
): Promise<StatusReport | Gained> {
  const over = new AbortController();
  const signal = AbortSignal.any([stopping, over.signal]);
  const running = daemon.run(signal);
  const ended = running.then((): never => {
    throw new Interrupted("stopped before everything was done; what is left goes on the next time");
  });
  const quiet = daemon.quiescent(wanted, signal);
  quiet.catch(() => {});
  ended.catch(() => {});
  try {
    // Stopping ends both; that it was stopped is what counts then.
    return await Promise.race([
      quiet.catch((error) => (stopping.aborted ? ended : Promise.reject(error))),
      ended,
      gaining,
    ]);
  } finally {
    over.abort(new Error("the pass is over"));
    await running;
  }
}
